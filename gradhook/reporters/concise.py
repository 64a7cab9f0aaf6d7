"""The format ``concise``: one line for each finding, ``path:line: CODE verdict target message``.

``[cached]`` stands at the end where the target is unchanged since it was examined.
"""

from __future__ import annotations

from gradhook.model.report import Notice, Report
from gradhook.model.results import Finding, TargetReport, Verdict
from gradhook.reporters.blocks import name_of, together
from gradhook.reporters.formatting import advice, clean, decisive_findings, location_text, one_line


def render(report: Report, *, only_failures: bool = False) -> str:
    """The findings in the order of the run, then the notices; an empty text when there are none."""
    found = [(finding, target) for target in together(report.targets) for finding in _all(target)]
    lines = [_finding(f, t) for f, t in found if not only_failures or f.verdict in (Verdict.FAIL, Verdict.ERROR)]
    lines += [_notice(notice) for notice in report.notices if not only_failures]
    return "".join(f"{line}\n" for line in lines)


def _all(target: TargetReport) -> tuple[Finding, ...]:
    return (*decisive_findings(target), *advice(target))


def _finding(finding: Finding, report: TargetReport) -> str:
    kept = ["[cached]"] if report.cached else []
    words = (
        finding.code or "-",
        finding.verdict.value,
        clean(name_of(report.target)),
        one_line(finding.message),
        *kept,
    )
    return f"{location_text(finding, report.target)}: {' '.join(words)}"


def _notice(notice: Notice) -> str:
    return f"{clean(notice.path)}:{notice.line}: {notice.code} notice {one_line(notice.message)}"
