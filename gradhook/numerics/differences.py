"""What is the derivative along a line, and how far may the answer be off?

A geometric ladder of differences, Romberg extrapolation, and one rule that keeps it honest: a value is accepted only if
it explains every finer difference within that difference's own noise. Agreement of two coarse steps proves nothing
(``sin(1e6 x)``). Everything here is arithmetic on arrays of shape (directions, levels, outputs).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)
RATIO = 4.0
LEVELS = 11
COLUMNS = 5
# 375/512: a step that is no power of two, else sin(2 pi 2^k x) aliases to a derivative of 0; nine bits, so that x + h
# loses nothing for an x of float32 precision.
PHASE = 375 / 512


@dataclass(frozen=True)
class Ladder:
    """Values on both sides of a point, level by level from the coarsest step.

    Shapes: ``steps`` (D, K), ``plus`` and ``minus`` (D, K, m), ``centre`` (m,), ``reach`` (D,): the magnitude of the
    point along each direction, which is how far rounding of the abscissa is felt. ``floor`` (D, m) is the absolute
    noise of the values where it has been measured, else 0.
    """

    steps: Array
    plus: Array
    minus: Array
    centre: Array
    reach: Array
    floor: Array

    @property
    def central(self) -> Array:
        """Central differences, (D, K, m)."""
        return (self.plus - self.minus) / (2 * self.steps[:, :, None])

    @property
    def forward(self) -> Array:
        """One-sided slopes on the side of growing arguments, (D, K, m)."""
        return (self.plus - self.centre) / self.steps[:, :, None]

    @property
    def backward(self) -> Array:
        """One-sided slopes on the other side, (D, K, m)."""
        return (self.centre - self.minus) / self.steps[:, :, None]

    @property
    def resolvable(self) -> Flags:
        """Levels (D, K) whose step still moves the abscissa by several units in its last place."""
        return np.asarray(self.steps > 128 * EPS * self.reach[:, None])

    @property
    def change(self) -> Array:
        """The larger of the changes to either side, (D, K, m)."""
        return np.maximum(np.abs(self.plus - self.centre), np.abs(self.minus - self.centre))

    @property
    def noise(self) -> Array:
        """Absolute noise of the values (D, K, m): one rounding of the value and of the abscissa, or the measured floor.

        The change to either side tells how much a rounded abscissa costs; a central difference would be 0 at a kink.
        """
        size = np.maximum(np.maximum(np.abs(self.plus), np.abs(self.minus)), np.abs(self.centre))
        felt = self.change / self.steps[:, :, None] * self.reach[:, None, None]
        return np.maximum(EPS * (size + felt), self.floor[:, None, :])


@dataclass(frozen=True)
class Slope:
    """A measured derivative: ``value`` ± ``error``, each (D, m); ``accepted`` where the ladder stands behind it."""

    value: Array
    error: Array
    accepted: Flags


def steps(scale: Array) -> Array:
    """The steps of a ladder whose coarsest is a fifth of ``scale`` (D,): shape (D, LEVELS)."""
    return np.asarray(scale)[:, None] * PHASE * RATIO ** -np.arange(1.0, LEVELS + 1)


def central_slope(ladder: Ladder) -> Slope:
    """Extrapolate central differences, whose error expands in even powers of the step (Romberg; Ridders 1982)."""
    central = _resolved(ladder, ladder.central)
    return _extrapolate(central, ladder.noise, ladder.steps, power=2)


def one_sided_slope(ladder: Ladder, side: int) -> Slope:
    """Extrapolate one-sided differences, whose error expands in all powers of the step; ``side`` is +1 or -1."""
    slopes = _resolved(ladder, ladder.forward if side > 0 else ladder.backward)
    values = ladder.plus if side > 0 else ladder.minus
    one = Ladder(ladder.steps, values, values, ladder.centre, ladder.reach, ladder.floor)
    return _extrapolate(slopes, 2 * one.noise, ladder.steps, power=1)


def plain_slope(ladder: Ladder) -> Slope:
    """One central difference as it is, for a user who chose the step; its error bar is rounding alone."""
    central = ladder.central
    rounding = 2 * ladder.noise[:, 0] / ladder.steps[:, :1]
    return Slope(central[:, 0], rounding, np.isfinite(central[:, 0]))


def _resolved(ladder: Ladder, slopes: Array) -> Array:
    """Slopes without the levels whose steps vanish in the abscissa."""
    return np.where(ladder.resolvable[:, :, None], slopes, np.nan)


def _extrapolate(slopes: Array, noise: Array, step: Array, power: int) -> Slope:
    jitter = noise / step[:, :, None]
    best = _Best(slopes.shape[0], slopes.shape[2])
    for level, value, bound in _candidates(slopes, jitter, power):
        best.offer(value, bound, _explains(value, bound, slopes, jitter, level))
    return best.slope()


def _candidates(slopes: Array, jitter: Array, power: int) -> list[tuple[int, Array, Array]]:
    """Every entry of the Romberg table with a bound: disagreement with its neighbours plus amplified rounding."""
    row, row_jitter = [slopes[:, 0]], [jitter[:, 0]]
    found = []
    for k in range(1, slopes.shape[1]):
        new, new_jitter = [slopes[:, k]], [jitter[:, k]]
        found.append((k, slopes[:, k], np.abs(slopes[:, k] - slopes[:, k - 1]) + jitter[:, k]))
        for j in range(1, min(k, COLUMNS) + 1):
            gain = RATIO ** (power * j)
            value = new[j - 1] + (new[j - 1] - row[j - 1]) / (gain - 1)
            rounding = (gain * new_jitter[j - 1] + row_jitter[j - 1]) / (gain - 1)
            bound = np.maximum(np.abs(value - new[j - 1]), np.abs(value - row[j - 1])) + rounding
            new.append(value)
            new_jitter.append(rounding)
            found.append((k, value, bound))
        row, row_jitter = new, new_jitter
    return found


def _explains(value: Array, bound: Array, slopes: Array, jitter: Array, level: int) -> Flags:
    """Whether a value accounts for every difference at a finer step: those have next to no bias, and known noise."""
    if level + 1 >= slopes.shape[1]:
        return np.isfinite(value) & np.isfinite(bound)
    finer, before = slopes[:, level + 1 :], slopes[:, level:-1]
    allowed = 4 * jitter[:, level + 1 :] + np.abs(finer - before) + bound[:, None]
    # A level beyond the abscissa's resolution is nan and says nothing; an infinite one contradicts.
    explained = np.isnan(finer) | (np.abs(finer - value[:, None]) <= allowed)
    return np.asarray(explained.all(axis=1) & np.isfinite(bound) & np.isfinite(value))


class _Best:
    """The accepted candidate with the smallest bound, element by element; the last difference where none is."""

    def __init__(self, directions: int, outputs: int) -> None:
        self.value = np.full((directions, outputs), np.nan)
        self.bound = np.full((directions, outputs), np.inf)

    def offer(self, value: Array, bound: Array, accepted: Flags) -> None:
        better = accepted & (bound < self.bound)
        self.value = np.where(better, value, self.value)
        self.bound = np.where(better, bound, self.bound)

    def slope(self) -> Slope:
        accepted = np.isfinite(self.bound)
        return Slope(self.value, 2 * self.bound + 2 * EPS * np.abs(self.value), accepted)
