"""Against which sizes is a measured derivative coarse or fine, rounded or lost?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gradhook.model import RTOL
from gradhook.numerics.finite_difference.richardson import EPS, Array, Flags, Ladder, Slope

DROWNED = 3e-10
"""A change smaller than this part of the value drowns in its rounding: differences cannot resolve it to 1e-6."""
SILENT = 4
"""So many finest steps without any change make an output one that does not move."""


@dataclass(frozen=True)
class Lines:
    """Where the directions lead, (D,) each: natural ``scale`` of a step, ``reach`` of the abscissa, room on both sides.

    ``scale`` is a power of two not below the abscissa's magnitude. No evaluation goes further than ``room_back`` or
    ``room_ahead``, which is how the domain of an input is respected. ``terms`` (m,) is the size of the terms that each
    output sums, where it may be a small difference of them.
    """

    scale: Array
    reach: Array
    room_back: Array
    room_ahead: Array
    terms: Array = field(default_factory=lambda: np.zeros(1))


def derivative_scale(ladder: Ladder, slope: Slope, lines: Lines) -> Array:
    """The size of derivative (D, m) against which an error bar is coarse or fine: a change over the natural scale.

    The largest change of that output in any direction. Where none stands out of the noise (the slope vanishes, as far
    as differences can tell), that of the other outputs or the slope of the surroundings stands in.
    """
    change = np.where(slope.accepted, np.abs(slope.value), 0.0) * lines.scale[:, None]
    uncertain = np.where(slope.accepted, slope.error, np.inf) * lines.scale[:, None]
    value = np.where(np.isfinite(ladder.centre), np.abs(ladder.centre), 0.0)
    signal = np.where((change > 100 * uncertain) & (change > DROWNED * value), change, 0.0).max(axis=0, initial=0.0)
    around = ladder.change[:, 2] / ladder.steps[:, 2:3] * lines.scale[:, None]
    around = np.where(np.isfinite(around), around, 0.0).max(axis=0, initial=0.0)
    size = np.where(signal > 0, signal, signal.max(initial=0.0))
    size = np.maximum(size, np.maximum(lines.terms, 1e-3 * around))
    own = size[None, :] / lines.scale[:, None]
    return np.asarray(np.where(_still(ladder, slope), np.maximum(own, _largest(slope)), own))


def rounding(ladder: Ladder, slope: Slope, lines: Lines) -> Array:
    """What JAX's derivative itself may lose (D, m): roundings of the value, and of terms that cancel."""
    value = np.where(np.isfinite(ladder.centre), np.abs(ladder.centre), 0.0)
    own = np.maximum(64 * EPS * value, RTOL * lines.terms) / lines.scale[:, None]
    # An output that does not move at all is still summed from numbers like those of the outputs that do.
    return np.asarray(np.where(_still(ladder, slope), np.maximum(own, 16 * EPS * _largest(slope)), own))


def _still(ladder: Ladder, slope: Slope) -> Flags:
    """Where none of the finest steps changes the value at all and the slope is 0 as far as it is known (D, m).

    Around an abscissa of 0 the finest steps of any function are too small to show in its value.
    """
    flat = slope.accepted & (np.abs(slope.value) <= slope.error)
    return np.asarray(flat & (_silent(ladder).sum(axis=1) >= SILENT))


def _silent(ladder: Ladder) -> Flags:
    """The resolvable levels (D, K, m) at which nothing changes, nor at any finer one."""
    resolvable = ladder.resolvable[:, :, None]
    quiet = (ladder.change == 0) | ~resolvable
    return np.asarray(np.flip(np.flip(quiet, axis=1).cumprod(axis=1), axis=1).astype(bool) & resolvable)


def _largest(slope: Slope) -> Array:
    """The largest slope of any output along each direction, (D, 1)."""
    return np.asarray(np.where(slope.accepted, np.abs(slope.value), 0.0).max(axis=1, initial=0.0)[:, None])


def swallowed(ladder: Ladder, slope: Slope) -> Array:
    """The slope that a sum with larger numbers may have swallowed (D, m): log(1 + exp(-40)) is exactly 0.

    Where no fine step changes the value at all, and the first that does changes it by next to nothing, if any does.
    """
    longest = np.where(_silent(ladder), ladder.steps[:, :, None], 0.0).max(axis=1)
    smallest = np.where(ladder.change > 0, ladder.change, np.inf).min(axis=1)
    smallest = np.where(np.isfinite(smallest), smallest, 64 * EPS)
    # Of a value that is not 0 the rounding is known, and is in the error bar already.
    small = _still(ladder, slope) & (ladder.centre == 0) & (longest > 0) & (smallest <= 2.0**-30)
    return np.where(small, smallest / np.where(longest > 0, longest, 1.0), 0.0)
