"""Find the input, of very many, whose derivative is wrong.

Half of the inputs move at a time, along the same direction, by the same programs: the half that disagrees is halved
again, until one input is left, the disagreement is spread, or the time is up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from gradhook.comparison.judge import judge
from gradhook.comparison.probe import DerivativeError, Label, LocatedError
from gradhook.model.results import Mode, Verdict
from gradhook.numerics.autodiff.derivatives import Differentiator
from gradhook.numerics.finite_difference.projection import entry, restricted

SECONDS = 10.0
"""After this long the interval that is left is the answer."""


@dataclass(frozen=True)
class _Half:
    """AD value and measurement of one output when only some inputs move."""

    wrong: bool
    claimed: float
    measured: float
    error: float


def locate(differentiator: Differentiator, mode: Mode, row: int, column: int) -> LocatedError | None:
    """The input (or the interval of inputs) behind a disagreement along a direction that moves everything."""
    if len(differentiator.projection.operands) == 1:
        return None
    started = time.perf_counter()
    start, stop = differentiator.projection.operands[row][1:3]
    found = None
    while stop - start > 1 and time.perf_counter() - started < SECONDS:
        middle = (start + stop) // 2
        half, interval = _half(differentiator, mode, row, column, start, middle), (start, middle)
        if half is None or not half.wrong:
            half, interval = _half(differentiator, mode, row, column, middle, stop), (middle, stop)
        if half is None or not half.wrong:
            break
        (start, stop), found = interval, half
    return _located(differentiator, row, start, stop, found) if found else None


def _half(differentiator: Differentiator, mode: Mode, row: int, column: int, start: int, stop: int) -> _Half | None:
    part = differentiator.with_projection(restricted(differentiator.projection, row, start, stop))
    comparison = part.comparison()
    claim = comparison.autodiff[mode] if not isinstance(comparison, DerivativeError) else comparison
    if isinstance(comparison, DerivativeError) or isinstance(claim, DerivativeError):
        return None
    measured = comparison.measured_by(mode)
    verdict = judge(claim, measured, differentiator.tolerance).verdict[0, column]
    return _Half(
        verdict == Verdict.FAIL, float(claim[0, column]), float(measured.value[0, column]),
        float(measured.error[0, column]),
    )  # fmt: skip


def _located(differentiator: Differentiator, row: int, start: int, stop: int, half: _Half) -> LocatedError:
    inputs = differentiator.held.inputs
    first = inputs.label(start)
    if stop - start > 1:
        return LocatedError(Label(f"{first} … {inputs.label(stop - 1)}"), half.claimed, half.measured, half.error)
    unit = _along(differentiator, row, start)
    return LocatedError(first, half.claimed / unit, half.measured / unit, half.error / abs(unit))


def _along(differentiator: Differentiator, row: int, place: int) -> float:
    """The entry of the direction at one input: slopes along the direction are divided by it."""
    return float(entry(differentiator.held, differentiator.projection, row, place)) or 1.0
