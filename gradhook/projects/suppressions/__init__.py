"""Apply ignore comments, per-file ignores and settings to reports; report unused ignores.

Reports of workers hold every answer, so that the cache does not depend on suppressions; they are applied only here.
What is ignored is counted, with its source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradhook.config import Config
from gradhook.model.report import Ignored, Notice
from gradhook.model.results import UNCLAIMED, TargetReport
from gradhook.projects.suppressions.apply import filter_report
from gradhook.projects.suppressions.sources import Suppressions, is_selected
from gradhook.projects.suppressions.unused import mistaken, unused
from gradhook.scan import Scan


@dataclass(frozen=True)
class FilteredReport:
    """The reports and notices that remain of a project, and what was ignored."""

    targets: tuple[TargetReport, ...]
    notices: tuple[Notice, ...]
    ignored: tuple[Ignored, ...]


def apply_suppressions(config: Config, scan: Scan, reports: Sequence[TargetReport], *, whole: bool) -> FilteredReport:
    """The reports and notices of a project without what comments, annotations and settings ignore.

    ``whole``: every file of the project was scanned and every target in it checked; only then is it known that a
    comment on a line of its own has nothing to silence.
    """
    suppressions = Suppressions.of(config, scan)
    answers = [filter_report(report, suppressions) for report in reports]
    early_notices, ignored = _notices(scan, suppressions)
    left = unused(scan, reports, suppressions, whole=whole)
    further, more = _split_notices(left, suppressions)
    gone = [item for _, several in answers for item in several]
    return FilteredReport(tuple(report for report, _ in answers), (*early_notices, *further), (*gone, *ignored, *more))


def early_notices(config: Config, scan: Scan) -> tuple[Notice, ...]:
    """The notices that can be given before anything is checked."""
    return _notices(scan, Suppressions.of(config, scan))[0]


def _notices(scan: Scan, suppressions: Suppressions) -> tuple[tuple[Notice, ...], tuple[Ignored, ...]]:
    return _split_notices([*scan.notices, *mistaken(scan, suppressions.root)], suppressions)


def _split_notices(
    notices: Sequence[Notice], suppressions: Suppressions
) -> tuple[tuple[Notice, ...], tuple[Ignored, ...]]:
    """The notices that remain, and those that are ignored; codes not selected are in neither."""
    settings = suppressions.config.settings
    kept: list[Notice] = []
    ignored: list[Ignored] = []
    for notice in notices:
        by = suppressions.source_of(notice.code, [(notice.path, line) for line in {notice.line, *notice.lines}])
        unwanted = settings.unclaimed == "ignore" and notice.code == UNCLAIMED
        if unwanted or not is_selected(notice.code, settings.select):
            continue
        if by:
            ignored.append(Ignored(notice.code, by, notice.path, notice.line, notice.message, root=notice.root))
        else:
            kept.append(notice)
    return tuple(kept), tuple(ignored)
