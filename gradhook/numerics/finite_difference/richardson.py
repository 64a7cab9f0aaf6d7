"""Extrapolate differences on a geometric table of steps to a derivative with an error bar.

Romberg extrapolation of a geometric table of differences, with one acceptance rule: a value is accepted only if it
explains every finer difference within that difference's own noise. Agreement of two coarse steps proves nothing
(``sin(1e6 x)``). Everything here is arithmetic on arrays of shape (directions, levels, outputs).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
RATIO = 4.0
LEVELS = 11
COLUMNS = 5
LARGE = 6
"""Levels that are large steps: the smallest is a thousandth of the scale."""
# 375/512: a step that is no power of two, else sin(2 pi 2^k x) aliases to a derivative of 0; nine bits, so that x + h
# loses nothing for an x of float32 precision.
PHASE = 375 / 512
SLACK = 16
"""Roundings by which a difference may stray: a function rounds more often than once, and levels are many."""


@dataclass(frozen=True)
class StepTable:
    """Values on both sides of a point, level by level from the coarsest step.

    Shapes: ``steps`` (D, K), ``plus`` and ``minus`` (D, K, m), ``centre`` (D, m). ``abscissa_scale`` (D,) is the
    magnitude of the point along each direction, on which the rounding of the abscissa depends. ``floor`` (D, m) is the
    absolute noise of the values where it has been measured, else 0. Levels come in blocks of ``LEVELS``; between two
    blocks the steps may shrink by more than ``RATIO``.
    """

    steps: Array
    plus: Array
    minus: Array
    centre: Array
    abscissa_scale: Array
    floor: Array

    @property
    def central(self) -> Array:
        """Central differences, (D, K, m); nan where the step does not move the abscissa."""
        return self._resolved((self.plus - self.minus) / (2 * self.steps[:, :, None]))

    @property
    def forward(self) -> Array:
        """One-sided slopes on the side of growing arguments, (D, K, m)."""
        return self._resolved((self.plus - self.centre[:, None, :]) / self.steps[:, :, None])

    @property
    def backward(self) -> Array:
        """One-sided slopes on the other side, (D, K, m)."""
        return self._resolved((self.centre[:, None, :] - self.minus) / self.steps[:, :, None])

    @property
    def resolvable(self) -> Flags:
        """Levels (D, K) whose step moves the abscissa by many units in its last place."""
        return np.asarray(self.steps > 128 * EPS * self.abscissa_scale[:, None])

    @property
    def change(self) -> Array:
        """The larger of the changes to either side, (D, K, m); where one side is undefined, that of the other."""
        centre = self.centre[:, None, :]
        return np.fmax(np.abs(self.plus - centre), np.abs(self.minus - centre))

    @property
    def noise(self) -> Array:
        """Absolute noise of the values (D, K, m): rounding of value and abscissa, or the measured floor.

        The change to either side bounds the effect of a rounded abscissa; a central difference would be 0 at a kink.
        """
        size = np.fmax(np.fmax(np.abs(self.plus), np.abs(self.minus)), np.abs(self.centre[:, None, :]))
        felt = EPS * self.change / self.steps[:, :, None] * self.abscissa_scale[:, None, None]
        return np.maximum(EPS * size + felt + SMALLEST, self.floor[:, None, :])

    def coarsest(self) -> StepTable:
        """The first block of levels alone."""
        return replace(self, steps=self.steps[:, :LEVELS], plus=self.plus[:, :LEVELS], minus=self.minus[:, :LEVELS])

    def extended(self, finer: StepTable) -> StepTable:
        """This table with a block of finer levels below it."""
        return replace(
            self,
            steps=np.concatenate([self.steps, finer.steps], axis=1),
            plus=np.concatenate([self.plus, finer.plus], axis=1),
            minus=np.concatenate([self.minus, finer.minus], axis=1),
        )

    def _resolved(self, slopes: Array) -> Array:
        return np.where(self.resolvable[:, :, None], slopes, np.nan)


@dataclass(frozen=True)
class DerivativeEstimate:
    """A measured derivative: ``value`` ± ``error``, each (D, m), and whether it is ``accepted``."""

    value: Array
    error: Array
    accepted: Flags


def steps(scale: Array, first: Array | int, abscissa_scale: Array) -> Array:
    """One block of steps (D, LEVELS): ``scale`` (D,) times ``PHASE`` times powers of 1/4.

    Each is rounded so that adding it to the point loses nothing: to a few units in the last place of the larger of
    both.
    """
    exponents = np.broadcast_to(first, scale.shape)[:, None] + np.arange(LEVELS)
    return exact(scale[:, None] * PHASE * RATIO ** -exponents.astype(float), abscissa_scale)


def exact(t: Array, abscissa_scale: Array) -> Array:
    """Abscissae (D, T) rounded so that adding them to the point loses nothing."""
    size = np.maximum(np.maximum(abscissa_scale[:, None], np.abs(t)), np.finfo(float).tiny)
    grain = 8 * EPS * 2.0 ** np.ceil(np.log2(size))
    return np.asarray(np.round(t / grain) * grain)


def richardson_central(table: StepTable) -> DerivativeEstimate:
    """Extrapolate central differences: even powers of the step (Romberg; Ridders 1982)."""
    return _extrapolate(table.central, table.noise, table.steps, power=2)


def richardson_one_sided(table: StepTable, side: int) -> DerivativeEstimate:
    """Extrapolate one-sided differences: all powers of the step; ``side`` is +1 or -1."""
    slopes, values = (table.forward, table.plus) if side > 0 else (table.backward, table.minus)
    return _extrapolate(slopes, 2 * replace(table, plus=values, minus=values).noise, table.steps, power=1)


def fixed_step(table: StepTable) -> DerivativeEstimate:
    """The central difference of a user's step (level 1; level 0 is the doubled step).

    The truncation of a central difference grows with the square of the step, so the doubled step differs by three
    times the truncation of the step itself. The bar is that whole difference, where higher powers count too, and
    rounding.
    """
    doubled, central = (((table.plus - table.minus) / (2 * table.steps[:, :, None]))[:, k] for k in (0, 1))
    rounding = 2 * table.noise[:, 1] / table.steps[:, 1:2]
    return DerivativeEstimate(
        central, np.abs(doubled - central) + rounding, np.isfinite(central) & np.isfinite(doubled)
    )


def coarse_estimate(table: StepTable) -> DerivativeEstimate:
    """The estimate from large steps alone: the entry of the Romberg table with the smallest bound."""
    with np.errstate(all="ignore"):
        nothing = np.full_like(table.central[:, 0], np.nan)
        best = DerivativeEstimate(nothing, np.full_like(nothing, np.inf), _never(table.central))
        for _, value, gap, rounding in _candidates(table.central[:, :LARGE], table.noise / table.steps[:, :, None], 2):
            best = smaller_error(best, DerivativeEstimate(value, gap + rounding, np.isfinite(gap + rounding)))
    return best


def _extrapolate(slopes: Array, noise: Array, step: Array, power: int) -> DerivativeEstimate:
    with np.errstate(all="ignore"):
        jitter = noise / step[:, :, None]
        drift = _drift(slopes)
        best = DerivativeEstimate(
            np.full_like(slopes[:, 0], np.nan), np.full_like(slopes[:, 0], np.inf), _never(slopes)
        )
        for start in range(0, slopes.shape[1], LEVELS):
            block = slice(start, start + LEVELS)
            for k, value, gap, rounding in _candidates(slopes[:, block], jitter[:, block], power):
                finer = slice(start + k + 1, None)
                strays = _strays(value, gap + rounding, slopes[:, finer], jitter[:, finer], drift[:, finer])
                accepted = (strays <= SLACK) & np.isfinite(gap + rounding) & np.isfinite(value)
                bound = gap + rounding * np.maximum(1.0, strays)
                best = smaller_error(best, DerivativeEstimate(value, 2 * bound + 2 * EPS * np.abs(value), accepted))
    return best


def smaller_error(best: DerivativeEstimate, other: DerivativeEstimate) -> DerivativeEstimate:
    """For each element the accepted one with the smaller error bar."""
    return select(best, other.accepted & (~best.accepted | (other.error < best.error)), other)


def select(slope: DerivativeEstimate, mask: Flags, other: DerivativeEstimate) -> DerivativeEstimate:
    """``other`` where the mask is True, ``slope`` elsewhere."""
    return DerivativeEstimate(
        np.where(mask, other.value, slope.value),
        np.where(mask, other.error, slope.error),
        np.where(mask, other.accepted, slope.accepted),
    )


def _never(slopes: Array) -> Flags:
    return np.zeros(slopes[:, 0].shape, dtype=bool)


def _drift(slopes: Array) -> Array:
    """The distance of each difference from its coarser neighbour, a bound on its truncation."""
    drift = np.abs(np.diff(slopes, axis=1, prepend=slopes[:, :1]))
    for start in range(0, slopes.shape[1], LEVELS):
        within = np.abs(slopes[:, start + 1] - slopes[:, start])
        drift[:, start] = np.where(np.isnan(within), drift[:, start], within)
    return drift


def _candidates(slopes: Array, jitter: Array, power: int) -> list[tuple[int, Array, Array, Array]]:
    """Entries of the Romberg table: level, value, disagreement with neighbours, amplified rounding."""
    row, row_jitter = [slopes[:, 0]], [jitter[:, 0]]
    found = []
    for k in range(1, slopes.shape[1]):
        new, new_jitter = [slopes[:, k]], [jitter[:, k]]
        found.append((k, slopes[:, k], np.abs(slopes[:, k] - slopes[:, k - 1]), jitter[:, k]))
        for j in range(1, min(k, COLUMNS) + 1):
            gain = RATIO ** (power * j)
            value = new[j - 1] + (new[j - 1] - row[j - 1]) / (gain - 1)
            rounding = (gain * new_jitter[j - 1] + row_jitter[j - 1]) / (gain - 1)
            gap = np.maximum(np.abs(value - new[j - 1]), np.abs(value - row[j - 1]))
            new.append(value)
            new_jitter.append(rounding)
            found.append((k, value, gap, rounding))
        row, row_jitter = new, new_jitter
    return found


def _strays(value: Array, bound: Array, finer: Array, jitter: Array, drift: Array) -> Array:
    """The largest distance of finer differences from a value, in roundings; inf where one is not finite.

    Finer differences have next to no bias, and known noise: what they stray beyond their own drift is noise larger
    than was assumed, and the error bar grows with it. A level beyond the abscissa's resolution is nan and does
    not count.
    """
    if not finer.shape[1]:
        return np.zeros_like(value)
    beyond = np.maximum(np.abs(finer - value[:, None]) - drift - bound[:, None], 0.0) / jitter
    beyond = np.where(np.isnan(finer), 0.0, np.nan_to_num(beyond, nan=np.inf))
    return np.asarray(beyond.max(axis=1))
