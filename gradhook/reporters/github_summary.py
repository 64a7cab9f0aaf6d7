"""The summary page of a GitHub job: Markdown, the verdict first, always small enough to be shown.

GitHub drops a summary of more than a mebibyte as a whole, so rows are left out from the end, where the best answers
are, and counted; heading and environment stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gradhook.model.digits import bar, needed, number
from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, TargetReport, Verdict
from gradhook.reporters import shared_rows
from gradhook.reporters.blocks import name_of, together
from gradhook.reporters.formatting import (
    advice,
    bias_note,
    checked_derivatives,
    decisive_findings,
    ignored_summary,
    location_text,
    one_line,
    resolution_text,
    summary,
    worst_first,
)
from gradhook.reporters.markdown import TEXT, block, code, row, table_head, truncate
from gradhook.reporters.shared_rows import HEAD, boundary_markdown, environment_table

LIMIT = 1_048_576 - 1
_MOST_FINDINGS = 5
_FAILED = ("target", "question", "mode", "claimed", "measured", "tolerance", "resolution", "what is wrong")
_ADVISED = ("target", "question", "beyond the claim")
_OTHER = ("target", "question", "why")


@dataclass(frozen=True)
class _Section:
    title: str
    head: str
    rows: Sequence[str]
    """A row for each target: they are shown or left out as a whole."""
    folded: bool = False

    @property
    def frame(self) -> tuple[str, str]:
        """What stands before and after the rows."""
        if not self.folded:
            return f"\n### {self.title}\n\n{self.head}", ""
        return f"\n<details><summary>{self.title}</summary>\n\n{self.head}", "\n</details>\n"


def render(report: Report, *, limit: int = LIMIT) -> str:
    """The page in at most ``limit`` bytes; below some 50,000 only heading and environment are left."""
    head = f"## gradhook: {report.verdict if report.targets else 'nothing checked'}\n\n{summary(report)}\n"
    head += f"\n{code(ignored, TEXT)}\n" if (ignored := ignored_summary(report)) else ""
    foot, sections = _environment(report), _sections(report)
    room = limit - _size(head + foot) - _size(_left_out((section.title, 10**9) for section in sections))
    return head + _fit(sections, room) + foot


def failure_page(message: str) -> str:
    """The page of a run that did not come to a report."""
    lines = [truncate(line, TEXT) for line in message.splitlines()[:60]]
    return f"## gradhook: could not run\n\n{block(lines)}"


def _sections(report: Report) -> list[_Section]:
    targets = worst_first(together(report.targets))
    of = {verdict: [t for t in targets if t.verdict is verdict] for verdict in Verdict}
    others = shared_rows.other_notices(report)
    found = [
        _Section("Failed", table_head(_FAILED), [_failed(t) for t in of[Verdict.FAIL]]),
        _Section("Could not be run", table_head(_OTHER), [_other(t) for t in of[Verdict.ERROR]]),
        _Section("Undecided", table_head(_OTHER), [_other(t) for t in of[Verdict.UNDECIDED]]),
        _Section("Advice", table_head(_ADVISED), list(filter(None, map(_advised, targets)))),
        _Section(f"Weaker than {code(shared_rows.revision(report))}", table_head(shared_rows.COLUMNS), [
            row(map(code, cells)) for cells in shared_rows.rows(report)
        ]),
        _Section("Notices", table_head(("place", "code", "message")), [
            row((code(f"{n.path}:{n.line}"), code(n.code), code(one_line(n.message), TEXT))) for n in others
        ]),
        _Section("Surrogates as declared", table_head(_PASSED), [_passed(t) for t in _surrogates(of)], folded=True),
        _Section("Boundaries of surrogates", HEAD, list(filter(None, map(boundary_markdown, targets))), folded=True),
        _Section("Passed", table_head(_PASSED), [_passed(t) for t in _exact(of)], folded=True),
        _Section("Skipped", table_head(_OTHER), [_other(t) for t in of[Verdict.SKIP]], folded=True),
    ]  # fmt: skip
    return [section for section in found if section.rows]


def _fit(sections: Iterable[_Section], room: int) -> str:
    """As many rows as fit, and a line that counts the others; after the first cut only counts come."""
    text, left, is_full = "", [], False
    for section in sections:
        before, after = section.frame
        free = room - _size(before) - _size(after)
        kept = 0 if is_full else _how_many(section.rows, free)
        if kept:
            part = before + "".join(section.rows[:kept]) + after
            text += part
            room -= _size(part)
        if kept < len(section.rows):
            is_full = True
            left.append((section.title, len(section.rows) - kept))
    return text + (_left_out(left) if left else "")


def _how_many(rows: Sequence[str], room: int) -> int:
    for count, text in enumerate(rows):
        room -= _size(text)
        if room < 0:
            return count
    return len(rows)


def _left_out(left: Iterable[tuple[str, int]]) -> str:
    """``Not shown, because a summary may not be larger: 3,000 of Failed, 12 of Passed.``"""
    parts = ", ".join(f"{count:,} of “{title}”" for title, count in left)
    return f"\n**Not shown, because a summary may not be larger: {parts}.** The JSON report has them all.\n"


def _failed(report: TargetReport) -> str:
    """The findings of a target, a line each, the command that repeats them with the first."""
    findings = decisive_findings(report)
    lines = []
    for nth, finding in enumerate(findings[:_MOST_FINDINGS]):
        cells = (
            _target(report, finding), _code_and_case(finding), finding.mode or "", _claimed(finding),
            _measured(finding), _tolerance(finding), _resolution(finding.resolution),
            _message(finding, first=nth == 0),
        )  # fmt: skip
        lines.append(row(cells))
    if len(findings) > _MOST_FINDINGS:
        more = _more(len(findings) - _MOST_FINDINGS)
        lines.append(row((_target(report, findings[0]), more, *[""] * (len(_FAILED) - 2))))
    return "".join(lines)


def _other(report: TargetReport) -> str:
    """One line for a target, about its first finding."""
    findings = decisive_findings(report)
    more = f"<br>{_more(len(findings) - 1)}" if len(findings) > 1 else ""
    return row((_target(report, findings[0]), _code_and_case(findings[0]), _message(findings[0], first=True) + more))


def _advised(report: TargetReport) -> str:
    """A line for each piece of advice about a target."""
    return "".join(row((_target(report, f), code(f.code), _message(f, first=False))) for f in advice(report))


_PASSED = ("target", "what holds", "cases", "resolution", "seconds")


def _passed(report: TargetReport) -> str:
    is_surrogate = report.target.claim is ClaimKind.SURROGATE
    what = (
        "<br>".join(filter(None, ["surrogate, as declared", bias_note(report)]))
        if is_surrogate
        else checked_derivatives(report)
    )
    cases = len({outcome.case for outcome in report.outcomes} - {None})
    seconds = "cached" if report.cached else f"{report.seconds.total:.2f}"
    name = f"{code(report.target.name)}<br>{code(f'{report.target.path}:{report.target.line}')}"
    return row((name, what, str(cases or ""), _resolution(report.resolution), seconds))


def _surrogates(of: dict[Verdict, list[TargetReport]]) -> Iterator[TargetReport]:
    return (t for t in of[Verdict.PASS] if t.target.claim is ClaimKind.SURROGATE)


def _exact(of: dict[Verdict, list[TargetReport]]) -> Iterator[TargetReport]:
    return (t for t in of[Verdict.PASS] if t.target.claim is not ClaimKind.SURROGATE)


def _target(report: TargetReport, finding: Finding) -> str:
    surrogate = ["surrogate", bias_note(report)] if report.target.claim is ClaimKind.SURROGATE else []
    remarks = ", ".join(filter(None, [*surrogate, "cached" if report.cached else ""]))
    kind = f" ({remarks})" if remarks else ""
    return f"{code(name_of(report.target))}{kind}<br>{code(location_text(finding, report.target))}"


def _code_and_case(finding: Finding) -> str:
    return "<br>".join(filter(None, (code(finding.code), finding.case and f"case {code(finding.case)}")))


def _message(finding: Finding, *, first: bool) -> str:
    parts = [code(one_line(finding.message), TEXT)]
    parts += [f"help: {code(one_line(finding.help), TEXT)}"] if finding.help else []
    parts += [f"rerun: {code(finding.reproduce, TEXT)}"] if first and finding.reproduce else []
    return "<br>".join(parts)


def _more(count: int) -> str:
    return f"and {count} more finding{'s' * (count != 1)}"


def _claimed(finding: Finding) -> str:
    return "" if finding.claimed is None else number(finding.claimed, _digits(finding))


def _measured(finding: Finding) -> str:
    error = "" if finding.error is None else f" ± {bar(finding.error)}"
    return "" if finding.measured is None else f"{number(finding.measured, _digits(finding))}{error}"


def _tolerance(finding: Finding) -> str:
    return "" if finding.tolerance is None else f"{finding.tolerance:.2g}"


def _digits(finding: Finding) -> int:
    """As many as it takes for both numbers to differ."""
    return needed(*(value for value in (finding.claimed, finding.measured) if value is not None))


def _resolution(value: float | None) -> str:
    return "" if value is None else resolution_text(value)


def _environment(report: Report) -> str:
    rows = [row((name, code(value))) for name, value in environment_table(report)]
    if not rows:
        return ""
    return f"\n<details><summary>Environment</summary>\n\n{table_head(('', ''))}{''.join(rows)}\n</details>\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
