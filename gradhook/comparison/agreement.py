"""Find where two arrays that must agree to rounding differ, each element on its own scale."""

from __future__ import annotations

import numpy as np

from gradhook.comparison.judge import Array, Flags

UNDERFLOW = 1e-280
"""Numbers below this lose digits, or are taken for zero, on their way through compiled code: to be allowed there."""


def margin(one: Array, other: Array, relative: float, allowed: Array | float = 0.0) -> Array:
    """The distance allowed between two numbers: a part of the larger, plus ``allowed``; 0 beside infinity.

    Where ``allowed`` is not finite it allows nothing.
    """
    with np.errstate(all="ignore"):
        own = relative * np.maximum(np.abs(one), np.abs(other))
        slack = np.where(np.isfinite(allowed), allowed, 0.0)
        return np.asarray(np.where(np.isfinite(own), own + slack, 0.0))


def differ(one: Array, other: Array, relative: float, allowed: Array | float = 0.0) -> Flags:
    """A mask of elements that are further apart than their margin.

    A nan equals a nan and an infinity itself. Neither is ever a yardstick: beside a number they differ from it.
    """
    with np.errstate(all="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        near = np.isfinite(one) & np.isfinite(other) & (np.abs(one - other) <= margin(one, other, relative, allowed))
    return np.asarray(~(same | near))


def same_bits(value: Array, reference: Array) -> Flags:
    """Equal to the last bit, signs of zeros included; a nan equals a nan."""
    same = value.view(np.int64) == reference.astype(np.float64).view(np.int64)
    return np.asarray(same | (np.isnan(value) & np.isnan(reference)))


def farthest(one: Array, other: Array, wrong: Flags) -> tuple[int, ...]:
    """The index, among wrong elements, at which two arrays differ most on their own scale."""
    with np.errstate(all="ignore"):
        ratio = np.abs(one - other) / np.maximum(np.abs(one), np.abs(other))
    ranked = np.where(wrong, np.nan_to_num(ratio, nan=np.inf), -1.0)
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(ranked)), ranked.shape))
