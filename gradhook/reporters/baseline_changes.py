"""Which claims and settings ask less than at another revision, as rows of a table?"""

from __future__ import annotations

from collections.abc import Iterator

from gradhook.model.report import Change, Notice, Report
from gradhook.reporters.formatting import clean, flat

CODE = "GRD505"
HEAD = ("kind", "what", "option", "before", "now", "place")
_NOTHING = "nothing"
_LONGEST = 60
_ORDER = ("removed", "loosened", "changed")


def rows(report: Report) -> Iterator[tuple[str, ...]]:
    """One row for each change, the gravest first, in the columns of ``HEAD``; texts on one line, long ones cut."""
    for change in sorted(report.against or (), key=lambda c: _ORDER.index(c.kind) if c.kind in _ORDER else 9):
        yield tuple(map(_short, _cells(change)))


def revision(report: Report) -> str:
    """What was compared with."""
    said = report.settings.get("against")
    return clean(str(said.get("value"))) if isinstance(said, dict) else "another revision"


def others(report: Report) -> tuple[Notice, ...]:
    """The notices that are no row of this table."""
    return tuple(n for n in report.notices if n.code != CODE or not report.against)


def _cells(change: Change) -> tuple[str, ...]:
    return (
        change.kind,
        change.subject,
        change.what,
        change.before or _NOTHING,
        change.after or _NOTHING,
        f"{change.path}:{change.line}",
    )


def _short(text: str) -> str:
    text = flat(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
