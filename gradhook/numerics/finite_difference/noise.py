"""How noisy are the values of a function, as measured rather than assumed?"""

from __future__ import annotations

import math

import numpy as np

from gradhook.numerics.finite_difference.richardson import EPS, Array, Ladder

SPACINGS = (2.0**-20, 2.0**-34, 2.0**-46)
"""In units of the scale, coarse to fine: a kink or an oscillation shrinks from one to the next, noise does not."""
_ORDER = 6


def spread(values: Array) -> Array:
    """Standard deviation of the noise in equally spaced values (D, T, m), by their sixth differences: (D, m).

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


def quantum(ladder: Ladder, slope: Array) -> Array:
    """The smallest change that the values can make, where it is far coarser than float64 (D, m); else 0.

    A function computed in float32 somewhere does not change at all for small steps and then changes by a whole
    quantum. Flat functions do not change either: they are told apart by ``slope``, which predicts a visible change.
    """
    size = EPS * np.maximum(_largest(ladder), np.finfo(np.float64).tiny)
    found = np.full(slope.shape, np.inf)
    for side in (ladder.plus, ladder.minus):
        changes = np.where(ladder.resolvable[:, :, None], np.abs(side - ladder.centre[:, None, :]), np.nan)
        expected = np.abs(slope)[:, None, :] * ladder.steps[:, :, None]
        stuck = ((changes == 0) & (expected > 64 * size[:, None, :])).any(axis=1)
        smallest = np.where(changes > 0, changes, np.inf).min(axis=1)
        coarse = stuck & np.isfinite(smallest) & (smallest > 2**10 * size)
        found = np.minimum(found, np.where(coarse, smallest, 0.0))  # both sides must say so: a ramp has one flat side
    return found


def _largest(ladder: Ladder) -> Array:
    """The largest finite value near the point, (D, m): at the finest steps, for far away the function may be huge."""
    near = np.concatenate([ladder.plus[:, -4:], ladder.minus[:, -4:]], axis=1)
    return np.asarray(np.where(np.isfinite(near), np.abs(near), 0.0).max(axis=1))
