"""Claims and settings that are weaker than at another revision, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator

from gradhook.model.report import Change, Notice, Report
from gradhook.reporters.formatting import clean, one_line

CODE = "GRD505"
HEAD = ("kind", "what", "option", "before", "now", "place")
_NOTHING = "nothing"
_LONGEST = 60
_ORDER = ("removed", "weakened", "changed")


def rows(report: Report) -> Iterator[tuple[str, ...]]:
    """One row for each change in the columns of ``HEAD``, the gravest first; long texts are cut."""
    for change in sorted(report.against or (), key=lambda c: _ORDER.index(c.kind) if c.kind in _ORDER else 9):
        yield tuple(map(_short, _cells(change)))


def revision(report: Report) -> str:
    """What was compared with."""
    setting = report.settings.get("against")
    return clean(str(setting.get("value"))) if isinstance(setting, dict) else "another revision"


def other_notices(report: Report) -> tuple[Notice, ...]:
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
    text = one_line(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
