"""What is a surrogate left of, on and right of each boundary, as rows of a table?

The rows come from the note of GRD207: ``left | on | right of each boundary: x = 0.5: value 0 | 0 | 1, derivative
1 | 1 | 1, closed``, several with ``; `` between. What does not look like that is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradhook.model import TargetReport
from gradhook.reporters.markdown import TEXT, code, row, table_head

_CODE = "GRD207"
_TITLE = "left | on | right of each boundary: "
_THREE = r"([^|,\s]+) \| ([^|,\s]+) \| ([^|,\s]+)"
_ROW = re.compile(rf"(.+): value {_THREE}, derivative {_THREE}(?:, (\w+))?")
_SIDES = ("left", "on", "right")
HEAD = table_head(("surrogate", "at", *(f"value {s}" for s in _SIDES), *(f"derivative {s}" for s in _SIDES), "bound"))
_WIDTH = 9


def boundaries(report: TargetReport) -> str:
    """The rows of all cases of a target; nothing for a target that was not asked."""
    return "".join(_rows(report))


def _rows(report: TargetReport) -> Iterator[str]:
    for outcome in report.outcomes:
        if outcome.code == _CODE and outcome.note:
            case = f"<br>case {code(outcome.case)}" if outcome.case else ""
            for line in outcome.note.removeprefix(_TITLE).split("; "):
                yield _row(f"{code(report.target.name)}{case}", line)


def _row(name: str, line: str) -> str:
    if not (found := _ROW.fullmatch(line)):
        return row((name, code(line, TEXT), *[""] * (_WIDTH - 2)))
    return row((name, *(code(part or "") for part in found.groups())))
