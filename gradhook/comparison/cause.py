"""Name the cause of an undecided element, in one place for the report and for ``explain``."""

from __future__ import annotations

from gradhook.comparison.judge import DISAGREE, Judgement
from gradhook.comparison.probe import Narrowing, Probe, Study
from gradhook.model.results import Mode

_BLURRED = ("GRD405", "GRD407", "GRD409")
"""What less than float64 inside may look like: noise, a staircase, differences that do not settle."""
_NONE: Narrowing = ("", "", 0)


def why(study: Study, mode: Mode, judged: Judgement, place: tuple[int, int], probe: Probe) -> tuple[str, Narrowing]:
    """The code of an element's cause (empty where it is decided), and the equation that narrows on its way, if any.

    Reduced precision is a cause only where an equation on the element's own way makes it.
    """
    code = str(judged.code[place])
    if code not in _BLURRED or judged.witness[place] == DISAGREE:
        return code, _NONE
    row, column = place
    narrow = probe.narrowings(study.path, study.input_labels[row], study.column_labels(mode)[column])
    return ("GRD406", narrow[0]) if narrow else (code, _NONE)
