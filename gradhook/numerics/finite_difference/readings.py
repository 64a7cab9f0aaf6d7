"""What does a ladder of differences say: which slope, how the function looks, against which scale?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradhook.comparison.judge import Estimate
from gradhook.model import Shape
from gradhook.numerics.finite_difference import richardson as differences
from gradhook.numerics.finite_difference import scales
from gradhook.numerics.finite_difference import smoothness as signatures
from gradhook.numerics.finite_difference.richardson import LEVELS, Array, Flags, Ladder, Slope, chosen
from gradhook.numerics.finite_difference.scales import Lines
from gradhook.numerics.finite_difference.smoothness import Signature


@dataclass(frozen=True)
class Reading:
    """A ladder and what it says."""

    ladder: Ladder
    slope: Slope
    signature: Signature
    scale: Array
    rounding: Array
    flat: Array


def read(ladder: Ladder, lines: Lines) -> Reading:
    signature = signatures.read(ladder)
    slope = slope_of(ladder, signature)
    value = np.where(np.isfinite(ladder.centre), np.abs(ladder.centre), 0.0)
    flat = np.asarray(value / lines.scale[:, None])
    return Reading(
        ladder,
        slope,
        signature,
        scales.derivative_scale(ladder, slope, lines),
        scales.rounding(ladder, slope, lines),
        flat,
    )


def slope_of(ladder: Ladder, signature: Signature) -> Slope:
    """Central differences; at an edge of the domain those of the inner side."""
    slope = differences.central_slope(ladder)
    edge = signature.shape == signatures.number(Shape.EDGE)
    if edge.any():
        ahead, back = differences.one_sided_slope(ladder, +1), differences.one_sided_slope(ladder, -1)
        slope = chosen(slope, edge, chosen(ahead, ~np.isfinite(ladder.plus[:, LEVELS - 1]), back))
    return slope


def hollow(reading: Reading) -> bool:
    """Whether a slope of 0 rests on fine steps at which nothing moves any more: larger ones may have seen it move."""
    zero = reading.slope.accepted & (np.abs(reading.slope.value) <= reading.slope.error)
    return reading.ladder.steps.shape[1] > LEVELS and bool(zero.any())


def settled(reading: Reading) -> Flags:
    """Whether the finest difference is the slope within its own noise: else there is something finer still."""
    ladder, slope = reading.ladder, reading.slope
    jitter = ladder.noise[:, -1] / ladder.steps[:, -1:]
    last = ladder.central[:, -1]
    return np.asarray(np.isnan(last) | (np.abs(last - slope.value) <= 8 * jitter + slope.error))


def floored(ladder: Ladder, floor: Array) -> Ladder:
    return replace(ladder, floor=np.maximum(floor, ladder.floor))


def estimate_of(reading: Reading) -> Estimate:
    ladder, slope, told = reading.ladder, reading.slope, reading.signature
    left, right, side_error = told.left, told.right, np.full_like(slope.error, np.inf)
    if (told.shape != signatures.number(Shape.SMOOTH)).any():
        sides = [differences.one_sided_slope(ladder, side) for side in (-1, +1)]
        left = np.where(sides[0].accepted, sides[0].value, left)
        right = np.where(sides[1].accepted, sides[1].value, right)
        side_error = np.maximum(sides[0].error, sides[1].error)
    nothing = np.full_like(slope.value, np.nan)
    return Estimate(
        value=slope.value, error=slope.error, accepted=slope.accepted, shape=told.shape, left=left, right=right,
        side_error=side_error, coarse=nothing, coarse_error=nothing, noise=np.zeros_like(slope.value),
        quantised=np.zeros(slope.value.shape, dtype=bool), scale=reading.scale, rounding=reading.rounding,
        flat=reading.flat, swallowed=scales.swallowed(ladder, slope),
        centre=_shared(ladder.centre),
    )  # fmt: skip


def _shared(centre: Array) -> Array:
    """One value (m,) for all directions; of an output that is not finite along some, what it is there."""
    if not len(centre):
        return np.zeros(centre.shape[1])
    row = np.argmax(~np.isfinite(centre), axis=0)
    return np.asarray(np.take_along_axis(centre, row[None, :], axis=0)[0])
