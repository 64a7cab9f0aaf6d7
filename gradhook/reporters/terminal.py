"""How does a report look to a person? Grouped by file, worst first; every failure explains itself."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gradhook.model import ClaimKind, Finding, Notice, Report, TargetReport, Verdict
from gradhook.reporters import changes
from gradhook.reporters.durations import slowest
from gradhook.reporters.environment import environment_parts
from gradhook.reporters.wording import (
    WORSE_FIRST,
    answers,
    asked,
    bias,
    both_modes,
    clean,
    flat,
    ignored,
    is_left_out,
    place,
    resolution,
    skipped,
    summary,
)

_WORD = {
    Verdict.ERROR: "ERROR",
    Verdict.FAIL: "FAIL",
    Verdict.UNDECIDED: "????",
    Verdict.PASS: "pass",
    Verdict.SKIP: "skip",
}
_STYLE = {
    Verdict.ERROR: "1;31",
    Verdict.FAIL: "1;31",
    Verdict.UNDECIDED: "1;33",
    Verdict.PASS: "32",
    Verdict.SKIP: "2",
}
_UNBROKEN = "\x00"
_MARGIN = 8  # two spaces, the longest verdict, one space
_LONGEST_NAME = 28
_ROOM_FOR_TEXT = 44  # where a column of names would leave less than this, text goes below the name
_MOST_FINDINGS = 5
_MOST_OUTPUT = 20
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class _View:
    width: int
    color: bool
    verbose: bool
    quiet: bool
    indent: int = _MARGIN

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color else text


def render(
    report: Report,
    *,
    width: int = 100,
    color: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    durations: int = 0,
) -> str:
    """The whole screen.

    Args:
        report: what was found.
        width: characters a line; only words longer than the room that is left go beyond it.
        color: paint verdicts with ANSI escapes.
        verbose: also show skipped questions, notes of passes, times, every finding and all printed output.
        quiet: leave out what passed, and the environment.
        durations: also show so many of the slowest targets.
    """
    view = _View(width, color, verbose, quiet)
    blocks = [_file(path, targets, view) for path, targets in _by_file(report.targets, view)]
    blocks += [_notices(notices, view)] if (notices := changes.others(report)) else []
    blocks += [_changes(report, view)] if report.against else []
    blocks += [lines] if (lines := list(slowest(report, durations))) else []
    blocks += [lines] if (lines := _left(report, view)) else []
    last = [view.paint(summary(report), "1")]
    last += _wrapped(ignored(report), max(width, 20))
    if not quiet and (line := _dotted(environment_parts(report))):
        last += _wrapped(line, max(width, 20))
    return "\n\n".join("\n".join(block) for block in [*blocks, last]) + "\n"


def _by_file(targets: Iterable[TargetReport], view: _View) -> list[tuple[str, list[TargetReport]]]:
    files: dict[str, list[TargetReport]] = {}
    for target in sorted(targets, key=_rank):
        if not (view.quiet and target.verdict is Verdict.PASS) and (view.verbose or not is_left_out(target)):
            files.setdefault(target.target.path, []).append(target)
    return list(files.items())


def _left(report: Report, view: _View) -> list[str]:
    """What nobody looked at, and how to hear more of it."""
    lines = []
    reasons = Counter(target.findings[0].message for target in report.targets if is_left_out(target))
    for reason, count in reasons.items():
        hint = "" if view.verbose else "; -v names them"
        what, them = ("target", "it") if count == 1 else ("targets", "them")
        lines.append(f"{count} {what} {reason}: nothing is known about {them}{hint}")
    if report.interrupted:
        lines.append(f"interrupted: {len(report.unanswered)} of {_all(report)} targets have no answer")
    names = [f"  {clean(name)}" for name in report.unanswered if view.verbose]
    return [part for line in lines for part in _wrapped(line, max(view.width, 20))] + names


def _all(report: Report) -> int:
    return len(report.targets) + len(report.unanswered)


def _rank(report: TargetReport) -> tuple[int, str, int]:
    """Worst first; a file comes where its worst target does."""
    return WORSE_FIRST.index(report.verdict), report.target.path, report.target.line


def _file(path: str, targets: list[TargetReport], view: _View) -> list[str]:
    lengths = [len(clean(t.target.qualname)) for t in targets]
    indent = _MARGIN + max((length for length in lengths if length <= _LONGEST_NAME), default=-2) + 2
    view = _View(
        view.width, view.color, view.verbose, view.quiet, indent if view.width - indent >= _ROOM_FOR_TEXT else 8
    )
    return [view.paint(clean(path), "1"), *(line for target in targets for line in _target(target, view))]


def _target(report: TargetReport, view: _View) -> Iterator[str]:
    name = clean(report.target.qualname)
    if report.verdict is Verdict.PASS:
        yield from _row(Verdict.PASS, name, _dotted(_facts(report, view)), view)
    findings = both_modes(answers(report))
    said: set[str] = set()
    shown = findings if view.verbose else findings[:_MOST_FINDINGS]
    for nth, finding in enumerate(shown):
        again = nth > 0 or report.verdict is Verdict.PASS
        yield from _finding(finding, report, "" if again else name, said, view)
    if len(shown) < len(findings):
        yield from _below(f"and {len(findings) - len(shown)} more findings; -v shows all", view)
    if report.verdict is not Verdict.PASS and (known := bias(report)):
        yield from _below(f"surrogate · {known}", view)
    if view.verbose:
        yield from _asides(report, view)
    if report.verdict is not Verdict.PASS:
        yield from _printed(report.output, view)


def _finding(finding: Finding, report: TargetReport, name: str, said: set[str], view: _View) -> Iterator[str]:
    """A finding, its place and its remedies; a remedy that has been ``said`` is not repeated."""
    yield from _row(finding.verdict, name, f"{finding.code} {finding.message}".strip(), view)
    details = [place(finding, report.target)]
    details += [f"case {finding.case}"] if finding.case else []
    if finding.resolution is not None and "would have seen" not in finding.message:
        details.append(resolution(finding.resolution))
    yield from _below(_dotted(details), view)
    for label, remedy in (("help", finding.help), ("again", finding.reproduce)):
        if remedy and remedy not in said:
            yield from _below(f"{label}: {remedy}", view)
            said.add(remedy)


def _facts(report: TargetReport, view: _View) -> Iterator[str]:
    """What a pass rests on."""
    yield "surrogate, as declared" if report.target.claim is ClaimKind.SURROGATE else asked(report)
    yield from filter(None, [bias(report)])
    cases = {outcome.case for outcome in report.outcomes} - {None}
    if len(cases) > 1:
        yield f"{len(cases)} cases"
    if report.resolution is not None:
        yield resolution(report.resolution)
    if report.cached:
        yield "cached"
    if view.verbose and not report.cached:
        yield f"compiled in {report.seconds.compile:.2f} s, ran in {report.seconds.run:.2f} s"


def _asides(report: TargetReport, view: _View) -> Iterator[str]:
    """Skipped questions and notes of passes, each once however many cases it concerns."""
    for code, note in dict.fromkeys((o.code, o.note) for o in skipped(report)):
        yield from _below(f"{code} skipped: {note or 'does not apply'}", view)
    passed = ((o.code, o.note) for o in report.outcomes if o.verdict is Verdict.PASS and o.note)
    for code, note in dict.fromkeys(passed):
        yield from _below(f"{code} passed: {note}", view)


def _printed(output: str, view: _View) -> Iterator[str]:
    """The end of what the user's code printed."""
    lines = [clean(line.expandtabs(4)) for line in output.splitlines()]
    kept = lines if view.verbose else lines[-_MOST_OUTPUT:]
    if len(kept) < len(lines):
        yield " " * view.indent + f"| … {len(lines) - len(kept)} lines before; -v shows all"
    yield from (" " * view.indent + f"| {line}" for line in kept)


def _row(verdict: Verdict, name: str, text: str, view: _View) -> Iterator[str]:
    """Verdict, name and the beginning of the text on one line where they fit."""
    lead = f"  {_WORD[verdict]:<5} {name}"
    painted = lead.replace(_WORD[verdict], view.paint(_WORD[verdict], _STYLE[verdict]), 1)
    lines = list(_below(text, view))
    if lines and len(lead) < view.indent:
        lines[0] = painted + lines[0][len(lead) :]
        yield from lines
    else:
        yield from [painted.rstrip(), *lines]


def _below(text: str, view: _View) -> Iterator[str]:
    """The text, wrapped, in the column of texts."""
    text = text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + " …"
    yield from (" " * view.indent + line for line in _wrapped(text, max(view.width - view.indent, 20)))


def _wrapped(text: str, room: int) -> list[str]:
    safe = _UNBROKEN.join(flat(part) for part in text.split(_UNBROKEN))
    lines = textwrap.wrap(safe, room, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_UNBROKEN, " ") for line in lines]


def _dotted(parts: Iterable[str]) -> str:
    """Short facts on one line, which is wrapped between them and not within."""
    return " · ".join(flat(part).replace(" ", _UNBROKEN) for part in parts)


def _notices(notices: Iterable[Notice], view: _View) -> list[str]:
    lines = [view.paint("notices", "1")]
    for notice in notices:
        first, *rest = _below(f"{notice.path}:{notice.line}: {notice.code} {notice.message}", view)
        lines += ["  " + first.lstrip(), *rest]
    return lines


def _changes(report: Report, view: _View) -> list[str]:
    """A table with aligned columns, and without a line of its own for the names of the columns."""
    table = [
        (kind, what, option, f"{before} -> {now}", place)
        for kind, what, option, before, now, place in changes.rows(report)
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return [view.paint(f"asks less than {changes.revision(report)}", "1"), *(f"  {line}" for line in lines)]
