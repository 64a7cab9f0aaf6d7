"""The values of a surrogate left of, on and right of each boundary, as rows of a table.

The rows come from the note of GRD207: ``left | on | right of each boundary: x = 0.5: value 0 | 0 | 1, derivative
1 | 1 | 1, closed``, several with ``; `` between. What does not look like that is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradhook.model.results import Outcome, TargetReport
from gradhook.reporters.markdown import TEXT, code, row, table_head

_CODE = "GRD207"
_TITLE = "left | on | right of each boundary: "
_THREE = r"([^|,\s]+) \| ([^|,\s]+) \| ([^|,\s]+)"
_ROW = re.compile(rf"(.+): value {_THREE}, derivative {_THREE}(?:, (\w+))?")
_SIDES = ("left", "on", "right")
NAMES = ("at", *(f"value {s}" for s in _SIDES), *(f"derivative {s}" for s in _SIDES), "bound")
HEAD = table_head(("surrogate", *NAMES))


def boundary_rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    """The cells of ``NAMES`` for each boundary of one case."""
    if outcome.code == _CODE and outcome.note:
        for line in outcome.note.removeprefix(_TITLE).split("; "):
            found = _ROW.fullmatch(line)
            yield tuple(part or "" for part in found.groups()) if found else (line, *[""] * (len(NAMES) - 1))


def boundary_markdown(report: TargetReport) -> str:
    """The rows of all cases of a target; empty for a target without GRD207."""
    return "".join(_rows(report))


def _rows(report: TargetReport) -> Iterator[str]:
    for outcome in report.outcomes:
        case = f"<br>case {code(outcome.case)}" if outcome.case else ""
        for cells in boundary_rows(outcome):
            yield row((f"{code(report.target.name)}{case}", *(code(cell, TEXT) for cell in cells)))
