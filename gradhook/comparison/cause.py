"""Name the cause of an undecided element, in one place for the report and for ``explain``."""

from __future__ import annotations

from gradhook.comparison.judge import DISAGREE, Judgement
from gradhook.comparison.probe import DerivativeComparison, Downcast, Probe
from gradhook.model.results import Mode

_BLURRED = ("GRD405", "GRD407", "GRD409")
"""What less than float64 inside may look like: noise, a staircase, differences that do not settle."""
_NONE: Downcast = ("", "", 0)


def why(
    comparison: DerivativeComparison, mode: Mode, judged: Judgement, place: tuple[int, int], probe: Probe
) -> tuple[str, Downcast]:
    """The code of an undecided element's cause (else empty), and the narrowing equation, if any.

    Reduced precision is a cause only where an equation on the element's own way makes it.
    """
    code = str(judged.code[place])
    if code not in _BLURRED or judged.witness[place] == DISAGREE:
        return code, _NONE
    row, column = place
    narrow = probe.downcasts(comparison.path, comparison.input_labels[row], comparison.column_labels(mode)[column])
    return ("GRD406", narrow[0]) if narrow else (code, _NONE)
