"""Find jumps of a value or a derivative to the last bit, and the values on both sides.

Neighbouring samples bracket a leap; the part of the bracket with the larger change is kept until its ends are
neighbouring floating point numbers. What still changes between those is a leap; steep but smooth functions are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradhook.comparison.agreement import UNDERFLOW, differ
from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.surrogate_probe import Discontinuity, Triple
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.surrogates.sweep_program import COUNT, SweepAxis, SweepProgram, SweepSamples

Integers = NDArray[np.int64]
IN_VALUE, IN_SLOPE = 18, 10
"""Brackets that are followed, the largest changes first."""
PARTS = 8
"""Into how many parts a bracket is cut in one run: (IN_VALUE + IN_SLOPE) * (PARTS + 1) points fit into it."""
TINY = float(np.finfo(np.float64).tiny)
LEAP = 1e-6
"""What changes by less than this part of its range between neighbouring numbers does not leap."""


def discontinuities(
    program: SweepProgram, axis: SweepAxis, points: SweepSamples, is_declared: bool, free: bool
) -> tuple[Discontinuity, ...]:
    """The jumps of the value and of the derivative along an axis, from sampled points."""
    core = (points.at >= axis.low) & (points.at <= axis.high)
    value = points.values[core, axis.output]
    found: list[tuple[float, bool]] = []
    at, slope, declared = points.at[core], points.slope[core], points.declared[core]
    jumps = _brackets(at, value, IN_VALUE, jump=True)
    bends = [*_brackets(at, slope, IN_SLOPE // 2, jump=False), *_brackets(at, declared, IN_SLOPE // 2, jump=False)]
    ends = _followed(program, axis, jumps + bends, is_declared)
    scale = {True: _spread(value), False: max(_spread(slope), _spread(declared))}
    for (low, high, changed), (_, _, jump) in zip(ends, jumps + bends, strict=True):
        if changed > LEAP * scale[jump]:
            found.append((_rounder(low, high), jump))
    return _described(program, axis, _unique(found), is_declared, free)


Bracket = tuple[float, float, bool]


def _brackets(at: Array, of: Array, most: int, jump: bool) -> list[Bracket]:
    with np.errstate(all="ignore"):
        change = np.nan_to_num(np.abs(np.diff(of)), nan=0.0, posinf=0.0)
    order = np.argsort(-change, kind="stable")[:most]
    return [(float(at[k]), float(at[k + 1]), jump) for k in sorted(order) if change[k] > 0]


def _followed(
    program: SweepProgram, axis: SweepAxis, brackets: list[Bracket], is_declared: bool
) -> list[tuple[float, float, float]]:
    """The ends of every bracket, neighbouring numbers at last, and the change between them."""
    if not brackets:
        return []
    low, high = (_ordered(np.array([b[k] for b in brackets])) for k in (0, 1))
    jump = np.array([b[2] for b in brackets])
    while True:
        grid = _cut(low, high)
        values = _along(program, axis, _floats(grid), jump, is_declared)
        with np.errstate(all="ignore"):
            change = np.nan_to_num(np.abs(np.diff(values, axis=1)), nan=0.0, posinf=0.0)
        best, rows = change.argmax(axis=1), np.arange(len(grid))
        if (high - low <= 1).all():
            return list(zip(_floats(low), _floats(high), change.max(axis=1), strict=True))
        low, high = grid[rows, best], grid[rows, best + 1]


def _cut(low: Integers, high: Integers) -> Integers:
    """PARTS + 1 integers from ``low`` to ``high``, possibly equal at last; no product overflows."""
    width = high - low
    steps = np.arange(PARTS + 1)
    return np.asarray(low[:, None] + (width // PARTS)[:, None] * steps + ((width % PARTS)[:, None] * steps) // PARTS)


def _along(program: SweepProgram, axis: SweepAxis, grid: Array, jump: Flags, is_declared: bool) -> Array:
    """The followed quantity, (B, PARTS + 1): the value, or the derivative plus the declared one."""
    flat = grid.ravel()
    points = program.run(axis.coordinate, flat, np.full(len(flat), axis.output), is_declared)
    slope = points.slope + np.where(np.isfinite(points.declared), np.pi * points.declared, 0.0)
    value = points.values[:, axis.output]
    return np.asarray(np.where(np.repeat(jump, grid.shape[1]), value, slope).reshape(grid.shape))


def _ordered(values: Array) -> Integers:
    """Whole numbers in the order of the floating point numbers, one for each (both zeros are 0)."""
    bits = values.view(np.int64)
    return np.asarray(np.where(bits < 0, -(bits & np.int64(2**63 - 1)), bits))


def _floats(numbers: Integers) -> Array:
    magnitude = np.abs(numbers).view(np.float64)
    return np.asarray(np.where(numbers < 0, -magnitude, magnitude))


def _rounder(low: float, high: float) -> float:
    """The neighbour with fewer digits, which is likely the bound as it was written.

    Compiled code takes numbers below the smallest normal one for zero, so a leap there is one at zero.
    """
    if abs(low) <= TINY or abs(high) <= TINY:
        return 0.0
    return min(low, high, key=lambda x: (len(f"{x:.17g}"), abs(x)))


def _unique(found: list[tuple[float, bool]]) -> list[tuple[float, bool]]:
    """Each place once, a jump of the value before a leap of the derivative."""
    places = dict(sorted(found, key=lambda pair: (pair[0], pair[1])))
    return list(places.items())


def _spread(of: Array) -> float:
    finite = of[np.isfinite(of)]
    return float(np.abs(finite).max(initial=0.0))


def _described(
    program: SweepProgram, axis: SweepAxis, places: list[tuple[float, bool]], is_declared: bool, free: bool
) -> tuple[Discontinuity, ...]:
    if not places:
        return ()
    on = np.array([place for place, _ in places])
    below, above = np.nextafter(on, -np.inf), np.nextafter(on, np.inf)
    below, above = np.where(on == 0, -TINY, below), np.where(on == 0, TINY, above)
    at = np.stack([below, on, above], axis=1)[: COUNT // 3]
    outputs = np.full(at.size, axis.output)
    flat = program.run(axis.coordinate, at.ravel(), outputs, is_declared)
    flat = program.filled(axis.coordinate, flat, outputs, is_declared)
    flat = program.plain(axis.coordinate, flat, axis.output, is_declared)
    output = str(program.held.outputs.labels()[axis.output])
    rounding = np.zeros(at.size)
    if (differ(flat.slope, flat.declared, SURROGATE, UNDERFLOW) & ~np.isnan(flat.declared)).any():
        rounding = program.rounding(axis.coordinate, at.ravel(), outputs, is_declared)
    return tuple(
        _boundary(axis, output, flat, rounding, 3 * k, jump, free)
        for k, (_, jump) in enumerate(places)
        if 3 * k < at.size
    )


def _boundary(
    axis: SweepAxis, output: str, flat: SweepSamples, rounding: Array, start: int, jump: bool, free: bool
) -> Discontinuity:
    def triple(of: Any) -> Triple:
        left, on, right = (float(value) for value in of[start : start + 3])
        return left, on, right

    declared = triple(flat.declared)
    kinked = abs(declared[0] - declared[2]) > LEAP * max(abs(declared[0]), abs(declared[2]))
    return Discontinuity(
        axis.label, output, triple(flat.at), triple(flat.values[:, axis.output]), triple(flat.slope),
        triple(flat.reference[:, axis.output]), declared, jump, free and kinked,
        triple(rounding),
    )  # fmt: skip
