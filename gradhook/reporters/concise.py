"""How does a report look with one line for each finding, ``path:line: CODE verdict target message``?"""

from __future__ import annotations

from gradhook.model import Finding, Notice, Report, TargetReport
from gradhook.reporters.wording import answers, clean, flat, place


def render(report: Report) -> str:
    """The findings in the order of the run, then the notices; an empty text when there are none."""
    lines = [_finding(finding, target) for target in report.targets for finding in answers(target)]
    lines += [_notice(notice) for notice in report.notices]
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding, report: TargetReport) -> str:
    words = (finding.code or "-", finding.verdict.value, clean(report.target.name), flat(finding.message))
    return f"{place(finding, report.target)}: {' '.join(words)}"


def _notice(notice: Notice) -> str:
    return f"{clean(notice.path)}:{notice.line}: {notice.code} notice {flat(notice.message)}"
