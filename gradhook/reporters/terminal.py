"""How does a report look to a person? Grouped by file, worst first; every failure explains itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from gradhook.model.plots import Curve
from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, Resolved, TargetReport, Verdict, worst
from gradhook.reporters import baseline_changes
from gradhook.reporters.blocks import NAMED, together
from gradhook.reporters.convergence_chart import ladder
from gradhook.reporters.durations import slowest
from gradhook.reporters.environment import environment_parts
from gradhook.reporters.formatting import (
    WORSE_FIRST,
    answers,
    asked,
    bias,
    both_modes,
    clean,
    ignored,
    is_left_out,
    place,
    resolution,
    skipped,
    spot,
    summary,
)
from gradhook.reporters.markdown import cut
from gradhook.reporters.terminal_advice import advised, changed, noticed
from gradhook.reporters.terminal_layout import MARGIN, STYLE, View, below, dotted, row, unbroken, wrapped

_LONGEST_NAME = 28
_ROOM_FOR_TEXT = 44  # where a column of names would leave less than this, text goes below the name
_MOST_FINDINGS = 5
_MOST_OUTPUT = 20


def render(
    report: Report,
    *,
    width: int = 100,
    color: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    durations: int = 0,
    only_failures: bool = False,
    blocks: bool = True,
    sources: Mapping[tuple[str, int], str] = MappingProxyType({}),
) -> str:
    """The whole screen.

    Args:
        report: what was found.
        width: characters a line; only words longer than the room that is left go beyond it.
        color: paint verdicts with ANSI escapes.
        verbose: also show every case, skipped questions, notes of passes, times, every finding, how the differences
            behind it went (where the report has that), and all printed output.
        quiet: leave out what passed, and the environment.
        durations: also show so many of the slowest targets.
        only_failures: leave out everything that neither failed nor could not be run; the last line still counts it.
        blocks: draw with characters that ASCII does not have.
        sources: ``13 | def huber(x):``, by path and line, which is shown where a finding stands there.
    """
    view = View(width, color, verbose, quiet, only_failures, blocks, sources)
    told = together(report.targets, None if verbose else NAMED)
    parts = [_file(path, targets, view) for path, targets in _by_file(told, view)]
    parts += [lines] if not only_failures and (lines := advised(report.targets, view)) else []
    parts += [noticed(notices, view)] if (notices := baseline_changes.others(report)) and not only_failures else []
    parts += [changed(report, view)] if report.against else []
    parts += [lines] if (lines := list(slowest(report, durations))) else []
    parts += [lines] if (lines := _left(report, view)) else []
    last = [view.paint(summary(report), STYLE[report.verdict] if report.targets else "1")]
    last += wrapped(ignored(report), max(width, 20))
    if not quiet and (line := dotted(environment_parts(report))):
        last += wrapped(line, max(width, 20))
    return "\n\n".join("\n".join(block) for block in [*parts, last]) + "\n"


def _by_file(targets: Iterable[TargetReport], view: View) -> list[tuple[str, list[TargetReport]]]:
    files: dict[str, list[TargetReport]] = {}
    for target in sorted(targets, key=_rank):
        if not _hidden(target, view):
            files.setdefault(target.target.path, []).append(target)
    return list(files.items())


def _left(report: Report, view: View) -> list[str]:
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
    return [part for line in lines for part in wrapped(line, max(view.width, 20))] + names


def _all(report: Report) -> int:
    return len(report.targets) + len(report.unanswered)


def _hidden(report: TargetReport, view: View) -> bool:
    if view.only_failures:
        return report.verdict not in (Verdict.ERROR, Verdict.FAIL)
    return (view.quiet and report.verdict is Verdict.PASS) or (is_left_out(report) and not view.verbose)


def _rank(report: TargetReport) -> tuple[int, str, int]:
    """Worst first; a file comes where its worst target does."""
    return WORSE_FIRST.index(report.verdict), report.target.path, report.target.line


def _file(path: str, targets: list[TargetReport], view: View) -> list[str]:
    lengths = [len(clean(t.target.qualname)) for t in targets]
    indent = MARGIN + max((length for length in lengths if length <= _LONGEST_NAME), default=-2) + 2
    view = replace(view, indent=indent if view.width - indent >= _ROOM_FOR_TEXT else MARGIN)
    return [view.paint(clean(path), "1"), *(line for target in targets for line in _target(target, view))]


def _target(report: TargetReport, view: View) -> Iterator[str]:
    name = clean(report.target.qualname)
    if report.verdict is Verdict.PASS:
        yield from row(Verdict.PASS, name, dotted(_facts(report, view)), view)
    findings = both_modes(answers(report))
    said: set[str] = set()
    shown = findings if view.verbose else findings[:_MOST_FINDINGS]
    for nth, finding in enumerate(shown):
        again = nth > 0 or report.verdict is Verdict.PASS
        yield from _finding(finding, report, "" if again else name, said, view)
    if len(shown) < len(findings):
        yield from below(f"and {len(findings) - len(shown)} more findings; -v shows all", view)
    if report.verdict is not Verdict.PASS and (known := bias(report)):
        yield from below(f"surrogate · {known}", view)
    if view.verbose:
        yield from _asides(report, view)
        yield from _worst_resolved(report, view)
    if report.verdict is not Verdict.PASS:
        yield from _printed(report.output, view)


def _finding(finding: Finding, report: TargetReport, name: str, said: set[str], view: View) -> Iterator[str]:
    """A finding, its place and its remedies; a remedy that has been ``said`` is not repeated."""
    yield from row(finding.verdict, name, f"{finding.code} {finding.message}".strip(), view)
    details = [place(finding, report.target)]
    details += [f"case {finding.case}"] if finding.case else []
    details += ["cached"] if report.cached and report.verdict is not Verdict.PASS and name else []
    if finding.resolution is not None and "would have seen" not in finding.message:
        details.append(resolution(finding.resolution))
    yield from below(dotted(details), view)
    quoted = [line for line in _quoted(finding, report, view) if line not in said]
    said.update(quoted)
    yield from quoted
    if view.verbose and finding.curve:
        yield from _drawn(finding.curve, view)
    for label, remedy in (("help", finding.help), ("again", finding.reproduce)):
        if remedy and remedy not in said:
            said.add(remedy)
            yield from below(f"{label}: {remedy}", view) if label == "help" else unbroken(f"{label}: {remedy}", view)


def _quoted(finding: Finding, report: TargetReport, view: View) -> Iterator[str]:
    """The line of the source, cut rather than wrapped."""
    path, line = spot(finding, report.target)
    if text := view.sources.get((path, line or 0)):
        yield " " * view.indent + cut(clean(text.expandtabs(4)), max(view.width - view.indent, 20))


def _drawn(curve: Curve, view: View) -> Iterator[str]:
    room = max(view.width - view.indent, 20)
    caption, *lines = ladder(curve, room, blocks=view.blocks) or [""]
    yield from below(caption, view)
    yield from (" " * view.indent + line for line in lines)


def _worst_resolved(report: TargetReport, view: View) -> Iterator[str]:
    """Of a pass: how the differences went that were the least sharp."""
    curves = [(o.resolution or 0.0, o.curve) for o in report.outcomes if o.curve]
    if report.verdict is Verdict.PASS and curves:
        yield from _drawn(max(curves, key=lambda pair: pair[0])[1], view)


def _facts(report: TargetReport, view: View) -> Iterator[str]:
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


def _asides(report: TargetReport, view: View) -> Iterator[str]:
    """Cases, then skipped questions and notes of passes, each once however many cases it concerns."""
    yield from (line for text in _cases(report) for line in below(text, view))
    why: dict[str, dict[str, None]] = {}
    for outcome in skipped(report):
        why.setdefault(outcome.note or "does not apply", {})[outcome.code] = None
    for note, codes in why.items():
        yield from below(f"{', '.join(codes)} skipped: {note}", view)
    yield from (line for text in _leaves(report) for line in below(text, view))
    passed = ((o.code, o.note) for o in report.outcomes if o.verdict is Verdict.PASS and o.note)
    for code, note in dict.fromkeys(passed):
        yield from below(f"{code} passed: {note}", view)


def _leaves(report: TargetReport) -> Iterator[str]:
    """How finely each input leaf was resolved, and by what, where leaves differ or not differences alone did it."""
    found: dict[str, list[Resolved]] = {}
    for leaf in (leaf for outcome in report.outcomes for leaf in outcome.leaves):
        found.setdefault(leaf.leaf, []).append(leaf)
    if all(leaf.witness == "differences" for leaves in found.values() for leaf in leaves) and len(found) < 2:
        return
    for name, leaves in found.items():
        witnesses = ", ".join(dict.fromkeys(w for leaf in leaves for w in leaf.witness.split(", ")))
        yield f"{name}: {resolution(max(leaf.resolution for leaf in leaves))}, by {witnesses}"


def _cases(report: TargetReport) -> Iterator[str]:
    """What became of each case, where there are several."""
    cases = list(dict.fromkeys(outcome.case for outcome in report.outcomes if outcome.case))
    for case in cases if len(cases) > 1 else ():
        mine = [outcome for outcome in report.outcomes if outcome.case == case]
        seen = [o.resolution for o in mine if o.resolution is not None and o.verdict is Verdict.PASS]
        facts = [resolution(max(seen))] if seen else []
        yield dotted([f"case {case}", worst([o.verdict for o in mine]).value, *facts])


def _printed(output: str, view: View) -> Iterator[str]:
    """The end of what the user's code printed."""
    lines = [clean(line.expandtabs(4)) for line in output.splitlines()]
    kept = lines if view.verbose else lines[-_MOST_OUTPUT:]
    if len(kept) < len(lines):
        yield " " * view.indent + f"| … {len(lines) - len(kept)} lines before; -v shows all"
    yield from (" " * view.indent + f"| {line}" for line in kept)
