"""The geometry of a line through a point, and the sizes of derivative around the point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradhook.numerics.finite_difference.richardson import Array, Ladder

AROUND = 3
"""Levels of large steps whose slopes tell how steep the surroundings are."""
CERTAIN = 16
"""Roundings beyond which a change is one."""


@dataclass(frozen=True)
class Lines:
    """Where the directions lead, (D,) each: natural ``scale`` of a step, ``reach`` of the abscissa, room on both sides.

    ``scale`` is a power of two not below the abscissa's magnitude. No evaluation goes further than ``room_back`` or
    ``room_ahead``, which is how the domain of an input is respected.
    """

    scale: Array
    reach: Array
    room_back: Array
    room_ahead: Array


def surroundings(ladder: Ladder) -> Array:
    """The steepest slope (D, m) over large steps, less what rounding may account for; 0 where nothing moves.

    It says what a derivative of 0 is compared with where neither the equations nor the complex step prove the 0: the
    same output along the same direction, and nothing else.
    """
    large = slice(0, AROUND)
    certain = ladder.change[:, large] - CERTAIN * ladder.noise[:, large]
    slopes = np.where(np.isfinite(certain), certain, 0.0) / ladder.steps[:, large, None]
    return np.asarray(np.maximum(slopes, 0.0).max(axis=1))


def level(ladder: Ladder, lines: Lines) -> Array:
    """The magnitude of the value over the natural scale of a step (D, m)."""
    value = np.where(np.isfinite(ladder.centre), np.abs(ladder.centre), 0.0)
    return np.asarray(value / lines.scale[:, None])


def steepest(ladder: Ladder) -> Array:
    """The slope (D, m) of the change at the finest step that moves the abscissa.

    A function at least as steep as this looks like a jump on every step of the table.
    """
    slopes = np.where(ladder.resolvable[:, :, None], ladder.change / ladder.steps[:, :, None], np.nan)
    finest = np.where(np.isnan(slopes), -1, np.arange(slopes.shape[1])[None, :, None]).max(axis=1)
    found = np.take_along_axis(slopes, np.maximum(finest, 0)[:, None, :], axis=1)[:, 0]
    return np.where(np.isfinite(found), found, np.inf)
