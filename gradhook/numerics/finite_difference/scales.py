"""The geometry of a line through a point, the sizes of derivatives around it, and the noise and grain of values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradhook.numerics.finite_difference.richardson import Array, Flags, StepTable

AROUND = 3
"""Levels of large steps whose slopes measure the steepness of the surroundings."""
CERTAIN = 16
"""Roundings beyond which a change is one."""


@dataclass(frozen=True)
class StepLimits:
    """The scale and the largest steps of each direction, (D,) each.

    ``scale`` is the natural scale of a step, a power of two not below ``abscissa_scale``, the abscissa's magnitude.
    No evaluation goes further than ``max_step_backward`` or ``max_step_forward``, so that inputs stay in their domain.
    """

    scale: Array
    abscissa_scale: Array
    max_step_backward: Array
    max_step_forward: Array


def surroundings(table: StepTable) -> Array:
    """The steepest slope (D, m) over large steps, less their rounding; 0 where nothing moves.

    A derivative of 0 is measured by it where neither the equations nor the complex step prove the 0: by the same output
    along the same direction, and nothing else.
    """
    large = slice(0, AROUND)
    certain = table.change[:, large] - CERTAIN * table.noise[:, large]
    slopes = np.where(np.isfinite(certain), certain, 0.0) / table.steps[:, large, None]
    return np.asarray(np.maximum(slopes, 0.0).max(axis=1))


def level(table: StepTable, limits: StepLimits) -> Array:
    """The magnitude of the value over the natural scale of a step (D, m)."""
    value = np.where(np.isfinite(table.centre), np.abs(table.centre), 0.0)
    return np.asarray(value / limits.scale[:, None])


def steepest(table: StepTable) -> Array:
    """The slope (D, m) of the change at the finest step that moves the abscissa.

    A function at least as steep as this looks like a jump on every step of the table.
    """
    slopes = np.where(table.resolvable[:, :, None], table.change / table.steps[:, :, None], np.nan)
    finest = np.where(np.isnan(slopes), -1, np.arange(slopes.shape[1])[None, :, None]).max(axis=1)
    found = np.take_along_axis(slopes, np.maximum(finest, 0)[:, None, :], axis=1)[:, 0]
    return np.where(np.isfinite(found), found, np.inf)


SPACINGS = (2.0**-20, 2.0**-34, 2.0**-46)
"""In units of the scale, coarse to fine: a kink or an oscillation shrinks from one to the next, noise does not."""
_ORDER = 6


def spread(values: Array) -> Array:
    """Standard deviation (D, m) of the noise in equally spaced values (D, T, m), by sixth differences.

    Difference tables after Moré and Wild (ECnoise, SIAM J. Sci. Comput. 33, 2011): sigma_k^2 = (k!)^2 / (2k)!
    mean(T_k^2).
    """
    middle = values.shape[1] // 2
    # Each side on its own, without the point: a kink or a jump there is no noise.
    sides = (values[:, :middle], values[:, middle + 1 :])
    table = np.concatenate([np.diff(side, n=_ORDER, axis=1) for side in sides], axis=1)
    gain = math.factorial(_ORDER) ** 2 / math.factorial(2 * _ORDER)
    sigma = np.sqrt(gain * np.mean(table**2, axis=1))
    return np.where(np.isfinite(sigma), sigma, 0.0)


def stuck(values: Array) -> Flags:
    """True where at least half of the neighbouring values (D, T, m) are equal: finer than the grain."""
    return np.asarray((np.diff(values, axis=1) == 0).mean(axis=1) >= 0.5)


def grain(table: StepTable) -> Array:
    """The first change that the values make as steps grow, where smaller steps make none (D, m); else 0.

    A value that is rounded to a grain (a small difference of large terms, a float32 inside) does not move at all for
    small steps and then moves by a whole grain or more. A one-sided plateau counts on its own: rounding hits a grain
    on one side first. Larger steps may come back to the same value by accident, so the smallest change is no evidence.
    """
    found = np.zeros_like(table.centre)
    for side in (table.plus, table.minus):
        change = np.abs(side - table.centre[:, None, :])
        levels = np.where(change > 0, np.arange(change.shape[1])[None, :, None], -1)
        finest = levels.max(axis=1)
        first = np.take_along_axis(change, np.maximum(finest, 0)[:, None, :], axis=1)[:, 0]
        finer = np.arange(change.shape[1])[None, :, None] > finest[:, None, :]
        still = ((change == 0) & table.resolvable[:, :, None] & finer).any(axis=1)
        found = np.maximum(found, np.where(still & (finest >= 0) & np.isfinite(first), first, 0.0))
    return found


def motionless(table: StepTable) -> Flags:
    """True where no step changes the value (D, m): differences give neither a slope nor the grain."""
    change = np.nan_to_num(table.change, nan=0.0)
    return np.asarray((change == 0).all(axis=1))
