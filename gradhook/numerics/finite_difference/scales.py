"""The geometry of a line through a point, and the sizes of derivative around the point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradhook.numerics.finite_difference.richardson import Array, StepTable

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
