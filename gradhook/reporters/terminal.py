"""The report on a terminal: grouped by file, worst first; every failure explains itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, LeafResolution, TargetReport, Verdict, worst
from gradhook.model.trace import Curve
from gradhook.reporters import shared_rows
from gradhook.reporters.blocks import NAMED, together
from gradhook.reporters.convergence_chart import chart_lines
from gradhook.reporters.display_options import DEFAULT_DISPLAY, MARGIN, DisplayOptions
from gradhook.reporters.formatting import (
    WORSE_FIRST,
    bias_note,
    checked_derivatives,
    clean,
    decisive_findings,
    ignored_summary,
    is_left_out,
    location,
    location_text,
    merge_modes,
    resolution_text,
    skipped_outcomes,
    summary,
)
from gradhook.reporters.markdown import truncate
from gradhook.reporters.shared_rows import environment_parts
from gradhook.reporters.terminal_layout import (
    STYLE,
    advice_lines,
    change_lines,
    indented,
    join_facts,
    notice_lines,
    row,
    unwrapped,
    wrap,
)


def slowest(report: Report, count: int) -> Iterator[str]:
    """A heading and a line for each of the slowest ``count`` targets that were examined in this run."""
    timed = [target for target in report.targets if not target.cached and target.seconds.total > 0]
    chosen = sorted(timed, key=lambda target: (-target.seconds.total, target.target.name))[:count]
    if not chosen:
        return
    yield f"slowest {len(chosen)} of {len(timed)} by seconds: wall, compile, run, and programs compiled"
    for target in chosen:
        spent = target.seconds
        numbers = f"{target.seconds.total:>9.2f} {spent.compile:>8.2f} {spent.run:>8.2f} {spent.compilations:>5}"
        yield f"{numbers}  {clean(target.target.name)}"


_LONGEST_NAME = 28
_ROOM_FOR_TEXT = 44  # where a column of names would leave less than this, text goes below the name
_MOST_FINDINGS = 5
_MOST_OUTPUT = 20


def render(report: Report, options: DisplayOptions = DEFAULT_DISPLAY) -> str:
    """The whole screen: files with their targets, advice, notices, changes, durations, and a summary."""
    targets = together(report.targets, None if options.verbose else NAMED)
    parts = [_file(path, group, options) for path, group in _by_file(targets, options)]
    if not options.only_failures:
        parts.append(advice_lines(report.targets, options))
        if notices := shared_rows.other_notices(report):
            parts.append(notice_lines(notices, options))
    if report.against:
        parts.append(change_lines(report, options))
    parts += [list(slowest(report, options.durations)), _unchecked(report, options), _ending(report, options)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _ending(report: Report, options: DisplayOptions) -> list[str]:
    """The summary, what was ignored, and the environment."""
    room = max(options.width, 20)
    lines = [options.paint(summary(report), STYLE[report.verdict] if report.targets else "1")]
    lines += wrap(ignored_summary(report), room)
    if not options.quiet and (environment := join_facts(environment_parts(report))):
        lines += wrap(environment, room)
    return lines


def _by_file(targets: Iterable[TargetReport], options: DisplayOptions) -> list[tuple[str, list[TargetReport]]]:
    files: dict[str, list[TargetReport]] = {}
    for target in sorted(targets, key=_rank):
        if not _hidden(target, options):
            files.setdefault(target.target.path, []).append(target)
    return list(files.items())


def _unchecked(report: Report, options: DisplayOptions) -> list[str]:
    """Targets that were not examined, and how to list them."""
    lines = []
    reasons = Counter(target.findings[0].message for target in report.targets if is_left_out(target))
    for reason, count in reasons.items():
        hint = "" if options.verbose else "; -v names them"
        what, them = ("target", "it") if count == 1 else ("targets", "them")
        lines.append(f"{count} {what} {reason}: nothing is known about {them}{hint}")
    if report.interrupted:
        lines.append(f"interrupted: {len(report.unanswered)} of {_all(report)} targets have no answer")
    names = [f"  {clean(name)}" for name in report.unanswered if options.verbose]
    return [part for line in lines for part in wrap(line, max(options.width, 20))] + names


def _all(report: Report) -> int:
    return len(report.targets) + len(report.unanswered)


def _hidden(report: TargetReport, options: DisplayOptions) -> bool:
    if options.only_failures:
        return report.verdict not in (Verdict.ERROR, Verdict.FAIL)
    return (options.quiet and report.verdict is Verdict.PASS) or (is_left_out(report) and not options.verbose)


def _rank(report: TargetReport) -> tuple[int, str, int]:
    """Worst first; a file comes where its worst target does."""
    return WORSE_FIRST.index(report.verdict), report.target.path, report.target.line


def _file(path: str, targets: list[TargetReport], options: DisplayOptions) -> list[str]:
    lengths = [len(clean(t.target.qualname)) for t in targets]
    indent = MARGIN + max((length for length in lengths if length <= _LONGEST_NAME), default=-2) + 2
    options = replace(options, indent=indent if options.width - indent >= _ROOM_FOR_TEXT else MARGIN)
    return [options.paint(clean(path), "1"), *(line for target in targets for line in _target(target, options))]


def _target(report: TargetReport, options: DisplayOptions) -> Iterator[str]:
    name = clean(report.target.qualname)
    if report.verdict is Verdict.PASS:
        yield from row(Verdict.PASS, name, join_facts(_facts(report, options)), options)
    findings = merge_modes(decisive_findings(report))
    earlier: set[str] = set()
    shown = findings if options.verbose else findings[:_MOST_FINDINGS]
    for nth, finding in enumerate(shown):
        again = nth > 0 or report.verdict is Verdict.PASS
        yield from _finding(finding, report, "" if again else name, earlier, options)
    if len(shown) < len(findings):
        yield from indented(f"and {len(findings) - len(shown)} more findings; -v shows all", options)
    if report.verdict is not Verdict.PASS and (known := bias_note(report)):
        yield from indented(f"surrogate · {known}", options)
    if options.verbose:
        yield from _details(report, options)
        yield from _worst_resolved(report, options)
    if report.verdict is not Verdict.PASS:
        yield from _printed(report.output, options)


def _finding(
    finding: Finding, report: TargetReport, name: str, earlier: set[str], options: DisplayOptions
) -> Iterator[str]:
    """A finding, its place and its remedies; one of the ``earlier`` remedies is not repeated."""
    yield from row(finding.verdict, name, f"{finding.code} {finding.message}".strip(), options)
    details = [location_text(finding, report.target)]
    details += [f"case {finding.case}"] if finding.case else []
    details += ["cached"] if report.cached and report.verdict is not Verdict.PASS and name else []
    if finding.resolution is not None:
        details.append(resolution_text(finding.resolution))
    yield from indented(join_facts(details), options)
    quoted = [line for line in _quoted(finding, report, options) if line not in earlier]
    earlier.update(quoted)
    yield from quoted
    if options.verbose and finding.curve:
        yield from _chart(finding.curve, options)
    for label, remedy in (("help", finding.help), ("rerun", finding.reproduce)):
        if remedy and remedy not in earlier:
            earlier.add(remedy)
            yield from (
                indented(f"{label}: {remedy}", options) if label == "help" else unwrapped(f"{label}: {remedy}", options)
            )


def _quoted(finding: Finding, report: TargetReport, options: DisplayOptions) -> Iterator[str]:
    """The line of the source, cut rather than wrapped."""
    path, line = location(finding, report.target)
    if text := options.sources.get((path, line or 0)):
        yield " " * options.indent + truncate(clean(text.expandtabs(4)), max(options.width - options.indent, 20))


def _chart(curve: Curve, options: DisplayOptions) -> Iterator[str]:
    room = max(options.width - options.indent, 20)
    caption, *lines = chart_lines(curve, room, blocks=options.blocks) or [""]
    yield from indented(caption, options)
    yield from (" " * options.indent + line for line in lines)


def _worst_resolved(report: TargetReport, options: DisplayOptions) -> Iterator[str]:
    """Of a pass: how the differences went that were the least sharp."""
    curves = [(o.resolution or 0.0, o.curve) for o in report.outcomes if o.curve]
    if report.verdict is Verdict.PASS and curves:
        yield from _chart(max(curves, key=lambda pair: pair[0])[1], options)


def _facts(report: TargetReport, options: DisplayOptions) -> Iterator[str]:
    """What a pass rests on."""
    yield "surrogate, as declared" if report.target.claim is ClaimKind.SURROGATE else checked_derivatives(report)
    yield from filter(None, [bias_note(report)])
    cases = {outcome.case for outcome in report.outcomes} - {None}
    if len(cases) > 1:
        yield f"{len(cases)} cases"
    if report.resolution is not None:
        yield resolution_text(report.resolution)
    if report.cached:
        yield "cached"
    if options.verbose and not report.cached:
        yield f"compiled in {report.seconds.compile:.2f} s, ran in {report.seconds.run:.2f} s"


def _details(report: TargetReport, options: DisplayOptions) -> Iterator[str]:
    """Cases, then skipped questions and notes of passes, each once however many cases it concerns."""
    yield from (line for text in _cases(report) for line in indented(text, options))
    why: dict[str, dict[str, None]] = {}
    for outcome in skipped_outcomes(report):
        why.setdefault(outcome.note or "does not apply", {})[outcome.code] = None
    for note, codes in why.items():
        yield from indented(f"{', '.join(codes)} skipped: {note}", options)
    yield from (line for text in _leaf_resolutions(report) for line in indented(text, options))
    passed = ((o.code, o.note) for o in report.outcomes if o.verdict is Verdict.PASS and o.note)
    for code, note in dict.fromkeys(passed):
        yield from indented(f"{code} passed: {note}", options)


def _leaf_resolutions(report: TargetReport) -> Iterator[str]:
    """The resolution of each input leaf and its witness, where leaves or witnesses differ."""
    found: dict[str, list[LeafResolution]] = {}
    for leaf in (leaf for outcome in report.outcomes for leaf in outcome.leaves):
        found.setdefault(leaf.leaf, []).append(leaf)
    if all(leaf.witness == "differences" for leaves in found.values() for leaf in leaves) and len(found) < 2:
        return
    for name, leaves in found.items():
        witnesses = ", ".join(dict.fromkeys(w for leaf in leaves for w in leaf.witness.split(", ")))
        yield f"{name}: {resolution_text(max(leaf.resolution for leaf in leaves))}, by {witnesses}"


def _cases(report: TargetReport) -> Iterator[str]:
    """What became of each case, where there are several."""
    cases = list(dict.fromkeys(outcome.case for outcome in report.outcomes if outcome.case))
    for case in cases if len(cases) > 1 else ():
        mine = [outcome for outcome in report.outcomes if outcome.case == case]
        seen = [o.resolution for o in mine if o.resolution is not None and o.verdict is Verdict.PASS]
        facts = [resolution_text(max(seen))] if seen else []
        yield join_facts([f"case {case}", worst([o.verdict for o in mine]).value, *facts])


def _printed(output: str, options: DisplayOptions) -> Iterator[str]:
    """The end of what the user's code printed."""
    lines = [clean(line.expandtabs(4)) for line in output.splitlines()]
    kept = lines if options.verbose else lines[-_MOST_OUTPUT:]
    if len(kept) < len(lines):
        yield " " * options.indent + f"| … {len(lines) - len(kept)} lines before; -v shows all"
    yield from (" " * options.indent + f"| {line}" for line in kept)
