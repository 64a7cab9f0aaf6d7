"""How noisy are the values of a function, as measured rather than assumed?"""

from __future__ import annotations

import math

import numpy as np

from gradhook.numerics.differences import EPS, Array, Ladder

COARSE, FINE = 2.0**-20, 2.0**-34
"""Spacings, in units of the scale: a kink or an oscillation shrinks from one to the other, noise does not."""
_ORDER = 6


def spread(values: Array) -> Array:
    """Standard deviation of the noise in equally spaced values (D, T, m), by their sixth differences: (D, m).

    Difference tables after Moré and Wild (ECnoise, SIAM J. Sci. Comput. 33, 2011): sigma_k^2 = (k!)^2 / (2k)! mean(T_k^2).
    """
    table = np.diff(values, n=_ORDER, axis=1)
    gain = math.factorial(_ORDER) ** 2 / math.factorial(2 * _ORDER)
    sigma = np.sqrt(gain * np.mean(table**2, axis=1))
    return np.where(np.isfinite(sigma), sigma, 0.0)


def quantum(ladders: list[Ladder], slope: Array) -> Array:
    """The smallest change that the values can make, where it is far coarser than float64 (D, m); else 0.

    A function computed in float32 somewhere does not change at all for small steps and then changes by a whole
    quantum. Flat functions do not change either: they are told apart by ``slope``, which predicts a visible change.
    """
    smallest = np.full(slope.shape, np.inf)
    stuck = np.zeros(slope.shape, dtype=bool)
    for ladder in ladders:
        size = EPS * np.maximum(np.abs(ladder.centre), np.finfo(np.float64).tiny)
        for side in (ladder.plus, ladder.minus):
            change = np.abs(side - ladder.centre)
            expected = np.abs(slope)[:, None, :] * ladder.steps[:, :, None]
            stuck |= ((change == 0) & (expected > 64 * size)).any(axis=1)
            smallest = np.minimum(smallest, np.where(change > 0, change, np.inf).min(axis=1))
    coarse = stuck & np.isfinite(smallest) & (smallest > 2**10 * EPS * np.abs(ladders[0].centre))
    return np.where(coarse, smallest, 0.0)
