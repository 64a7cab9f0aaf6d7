"""Which answers does somebody not want to hear, who says so, and which of these wishes come to nothing?

Reports of workers hold every answer, so that a cache need not know of wishes; this is the one place that heeds them.
Nothing here makes a target green in silence: what is ignored is counted with whoever ignores it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradhook.config import Config
from gradhook.model.report import Ignored, Notice
from gradhook.model.results import UNCLAIMED, TargetReport
from gradhook.projects.suppressions.apply import without
from gradhook.projects.suppressions.sources import Wishes, is_selected
from gradhook.projects.suppressions.unused import mistaken, unused
from gradhook.scan import Scan


@dataclass(frozen=True)
class Heard:
    """What is left to say of a project, and what was left out because somebody asked for it."""

    targets: tuple[TargetReport, ...]
    notices: tuple[Notice, ...]
    ignored: tuple[Ignored, ...]


def hear(config: Config, scan: Scan, reports: Sequence[TargetReport], *, whole: bool) -> Heard:
    """The reports and notices of a project as its comments, annotations and settings want them.

    ``whole``: every file of the project was scanned and every target in it checked; only then is it known that a
    comment on a line of its own has nothing to silence.
    """
    wishes = Wishes.of(config, scan)
    answers = [without(report, wishes) for report in reports]
    standing, ignored = _notices(scan, wishes)
    left = unused(scan, reports, wishes, whole=whole)
    further, more = _asked(left, wishes)
    gone = [item for _, several in answers for item in several]
    return Heard(tuple(report for report, _ in answers), (*standing, *further), (*gone, *ignored, *more))


def standing(config: Config, scan: Scan) -> tuple[Notice, ...]:
    """The notices that can be given before anything is checked."""
    return _notices(scan, Wishes.of(config, scan))[0]


def _notices(scan: Scan, wishes: Wishes) -> tuple[tuple[Notice, ...], tuple[Ignored, ...]]:
    return _asked([*scan.notices, *mistaken(scan, wishes.root)], wishes)


def _asked(notices: Sequence[Notice], wishes: Wishes) -> tuple[tuple[Notice, ...], tuple[Ignored, ...]]:
    """Notices that are wanted, and those that are ignored; what nobody selected is neither."""
    settings = wishes.config.settings
    kept: list[Notice] = []
    ignored: list[Ignored] = []
    for notice in notices:
        by = wishes.by(notice.code, [(notice.path, line) for line in {notice.line, *notice.lines}])
        unwanted = settings.unclaimed == "ignore" and notice.code == UNCLAIMED
        if unwanted or not is_selected(notice.code, settings.select):
            continue
        if by:
            ignored.append(Ignored(notice.code, by, notice.path, notice.line, notice.message, root=notice.root))
        else:
            kept.append(notice)
    return tuple(kept), tuple(ignored)
