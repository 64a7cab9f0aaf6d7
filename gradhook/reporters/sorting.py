"""Sort targets by verdict and by their distance from the claim."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gradhook.model.results import Finding, TargetReport
from gradhook.reporters.formatting import WORSE_FIRST, decisive_findings


def tolerance_multiple(finding: Finding) -> float:
    """The distance between claim and measurement in tolerances; infinity where it cannot be computed."""
    if finding.claimed is None or finding.measured is None:
        return math.inf
    distance = abs(finding.claimed - finding.measured)
    if not math.isfinite(distance):
        return math.inf
    return distance / finding.tolerance if finding.tolerance else math.inf


def worst_first(targets: Iterable[TargetReport]) -> list[TargetReport]:
    """By verdict, then by the worst finding, then by place."""
    return sorted(targets, key=_rank)


def _rank(report: TargetReport) -> tuple[int, float, str, int]:
    worst = max((tolerance_multiple(finding) for finding in decisive_findings(report)), default=0.0)
    return WORSE_FIRST.index(report.verdict), -worst, report.target.path, report.target.line
