"""Which of very many inputs is it that a wrong derivative belongs to?

Half of the inputs move at a time, along the same direction, by the same programs: the half that disagrees is halved
again, until one input is left, the disagreement is spread, or the time is up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from gradhook.comparison.judge import judge
from gradhook.comparison.probe import Fault, Label, Located
from gradhook.model.results import Mode, Verdict
from gradhook.numerics.autodiff.derivatives import Laboratory
from gradhook.numerics.finite_difference.projection import entry, narrowed

SECONDS = 10.0
"""After this long the interval that is left is the answer."""


@dataclass(frozen=True)
class _Half:
    """What is claimed and measured when only some inputs move: about one output."""

    wrong: bool
    claimed: float
    measured: float
    error: float


def locate(laboratory: Laboratory, mode: Mode, row: int, column: int) -> Located | None:
    """The input (or the interval of inputs) behind a disagreement along a direction that moves everything."""
    if len(laboratory.view.operands) == 1:
        return None
    started = time.perf_counter()
    start, stop = laboratory.view.operands[row][1:3]
    found = None
    while stop - start > 1 and time.perf_counter() - started < SECONDS:
        middle = (start + stop) // 2
        half, interval = _half(laboratory, mode, row, column, start, middle), (start, middle)
        if half is None or not half.wrong:
            half, interval = _half(laboratory, mode, row, column, middle, stop), (middle, stop)
        if half is None or not half.wrong:
            break
        (start, stop), found = interval, half
    return _located(laboratory, row, start, stop, found) if found else None


def _half(laboratory: Laboratory, mode: Mode, row: int, column: int, start: int, stop: int) -> _Half | None:
    part = laboratory.looking(narrowed(laboratory.view, row, start, stop))
    study = part.study()
    claim = study.claims[mode] if not isinstance(study, Fault) else study
    if isinstance(study, Fault) or isinstance(claim, Fault):
        return None
    measured = study.measured_by(mode)
    verdict = judge(claim, measured, laboratory.tolerance).verdict[0, column]
    return _Half(
        verdict == Verdict.FAIL, float(claim[0, column]), float(measured.value[0, column]),
        float(measured.error[0, column]),
    )  # fmt: skip


def _located(laboratory: Laboratory, row: int, start: int, stop: int, half: _Half) -> Located:
    inputs = laboratory.held.inputs
    first = inputs.label(start)
    if stop - start > 1:
        return Located(Label(f"{first} … {inputs.label(stop - 1)}"), half.claimed, half.measured, half.error)
    unit = _along(laboratory, row, start)
    return Located(first, half.claimed / unit, half.measured / unit, half.error / abs(unit))


def _along(laboratory: Laboratory, row: int, place: int) -> float:
    """How far the direction moves one input, by which slopes along it are divided."""
    return float(entry(laboratory.held, laboratory.view, row, place)) or 1.0
