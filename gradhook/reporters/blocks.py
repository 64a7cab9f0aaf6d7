"""Show what stopped many targets alike once: a module that cannot be imported is one cause and one block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradhook.model.results import Target, TargetReport, Verdict

NAMED = 4
"""So many of the targets of a block are named."""

_Cause = tuple[str, str, str | None, int | None]


def together(reports: Iterable[TargetReport], named: int | None = NAMED) -> list[TargetReport]:
    """The reports, with those of one cause as one: it stands where the first did and is called ``14 targets …``.

    It names so many of its targets (None: all) and repeats the printed output of the first.
    """
    reports = list(reports)
    causes: dict[_Cause, list[TargetReport]] = {}
    for report in reports:
        if cause := _cause(report):
            causes.setdefault(cause, []).append(report)
    firsts = {id(group[0]): group for group in causes.values()}
    alone = (report for report in reports if _cause(report) is None or id(report) in firsts)
    return [_block(firsts[id(report)], named) if id(report) in firsts else report for report in alone]


def name_of(target: Target) -> str:
    """The name of a target, or of a block of several."""
    return target.name if target.module else target.qualname


def _cause(report: TargetReport) -> _Cause | None:
    """What stopped a target before any question about it was asked; None where something was answered."""
    if report.verdict is not Verdict.ERROR or len(report.findings) != 1 or report.outcomes:
        return None
    (finding,) = report.findings
    if finding.case is not None or finding.path is None:
        return None
    return finding.code, finding.message, finding.path, finding.line


def _block(group: list[TargetReport], named: int | None) -> TargetReport:
    first = group[0]
    if len(group) == 1:
        return first
    (finding,) = first.findings
    target = replace(first.target, module="", qualname=f"{len(group)} targets not checked")
    message = f"{finding.message} ({_names([report.target for report in group], named)})"
    return replace(first, target=target, findings=(replace(finding, message=message),))


def _names(targets: list[Target], named: int | None) -> str:
    """``sim:euler, sim:leapfrog and 12 more``."""
    names = [target.name for target in targets]
    left = 0 if named is None else max(len(names) - named, 0)
    return ", ".join(names[: len(names) - left]) + (f" and {left} more" if left else "")
