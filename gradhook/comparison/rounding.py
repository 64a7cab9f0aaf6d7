"""Are two numbers the same up to rounding, each on its own scale?"""

from __future__ import annotations

import numpy as np

from gradhook.comparison.judge import Array, Flags

UNDERFLOW = 1e-280
"""Numbers below this lose digits, or are taken for zero, on their way through compiled code."""


def margin(got: Array, wanted: Array, relative: float, rounding: Array | float = 0.0) -> Array:
    """How far two numbers may lie apart: a part of the larger, and what rounding moves both by; none beside inf."""
    with np.errstate(invalid="ignore"):
        larger = np.maximum(np.abs(got), np.abs(wanted))
        allowed = np.where(larger < UNDERFLOW, UNDERFLOW, relative * larger + rounding)
    return np.asarray(np.where(np.isfinite(larger), allowed, 0.0))


def same(got: Array, wanted: Array, relative: float, rounding: Array | float = 0.0) -> Flags:
    """Where two numbers are equal or within their margin; a nan equals a nan."""
    with np.errstate(invalid="ignore"):
        near = np.abs(got - wanted) <= margin(got, wanted, relative, rounding)
    return np.asarray(near | (got == wanted) | (np.isnan(got) & np.isnan(wanted)))
