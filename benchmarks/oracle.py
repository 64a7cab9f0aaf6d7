"""True first and second derivatives, by mpmath.

Differences of a twin function in so many digits that the result is exact to far more than a float64 holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
from catalogue.records import Entry, Point
from numpy.typing import NDArray

Array = NDArray[np.float64]
PRECISIONS = ((80, 20), (110, 25))
"""Digits (more for tiny inputs), and relative step as a power of ten: what the two do not agree on is rounding of 0."""


@dataclass(frozen=True)
class Truth:
    """Value (m,), Jacobian (m, n) and Hessian (m, n, n) at a point; nan where the twin leaves the real line."""

    value: Array
    jacobian: Array
    hessian: Array | None


def truth(entry: Entry, point: Point) -> Truth | None:
    """The derivatives at the very floating-point numbers of ``point``; None where the twin is missing or has none."""
    if entry.truth is None or any(np.iscomplexobj(a) or not np.isfinite(a).all() for a in point):
        return None
    try:
        rough, fine = (_at(entry, point, *precision) for precision in PRECISIONS)
    except (ArithmeticError, ValueError, mp.libmp.NoConvergence):
        return None
    return Truth(*(None if b is None else _agreed(a, b) for a, b in zip(rough, fine, strict=True)))


def _agreed(rough: Array, fine: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(rough - fine) > 1e-6 * np.abs(fine), 0.0, fine)


def _at(entry: Entry, point: Point, digits: int, power: int) -> tuple[Array, Array, Array | None]:
    flat = [float(v) for a in point for v in np.ravel(a)]
    smallest = min((abs(v) for v in flat if v), default=1.0)
    with mp.workdps(digits + 2 * max(0, math.ceil(-math.log10(smallest)))):
        return _truth(entry.truth, point, [mp.mpf(v) for v in flat], entry.order, mp.mpf(10) ** -power)


def _truth(
    twin: Callable[..., Any], point: Point, x: list[Any], order: int, step: Any
) -> tuple[Array, Array, Array | None]:
    n = len(x)
    steps = [step * (abs(v) or 1) for v in x]

    def at(*moves: tuple[int, int]) -> list[Any]:
        moved = list(x)
        for i, sign in moves:
            moved[i] += sign * steps[i]
        return _outputs(twin(*_shaped(moved, point)))

    here = at()
    ahead, back = [at((i, 1)) for i in range(n)], [at((i, -1)) for i in range(n)]
    first = [[(ahead[i][o] - back[i][o]) / (2 * steps[i]) for i in range(n)] for o in range(len(here))]
    second = None
    if order > 1:
        second = np.zeros((len(here), n, n))
        for i in range(n):
            pure = [(a - 2 * c + b) / steps[i] ** 2 for a, b, c in zip(ahead[i], back[i], here, strict=True)]
            second[:, i, i] = [_number(v) for v in pure]
            for j in range(i):
                second[:, i, j] = second[:, j, i] = [_number(v) for v in _mixed(at, steps, i, j)]
    return _array(here), _array(first).reshape(len(here), n), second


def _mixed(at: Callable[..., list[Any]], steps: list[Any], i: int, j: int) -> list[Any]:
    area = steps[i] * steps[j]
    pp, pm, mp_, mm = (at((i, s), (j, t)) for s in (1, -1) for t in (1, -1))
    return [(a - b - c + d) / (4 * area) for a, b, c, d in zip(pp, pm, mp_, mm, strict=True)]


def _shaped(numbers: list[Any], point: Point) -> list[Any]:
    """Nested lists of mpmath numbers in the shapes of the arguments."""
    shaped, start = [], 0
    for a in point:
        part = np.empty(np.size(a), dtype=object)
        part[:] = numbers[start : start + part.size]
        shaped.append(part.reshape(np.shape(a)).tolist())
        start += part.size
    return shaped


def _outputs(value: Any) -> list[Any]:
    if isinstance(value, mp.matrix):
        return [value[i, j] for i in range(value.rows) for j in range(value.cols)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _outputs(part)]
    return [mp.mpmathify(value)]


def _array(values: list[Any]) -> Array:
    return np.array([_number(v) for v in _leaves(values)])


def _leaves(values: Any) -> list[Any]:
    return [leaf for v in values for leaf in _leaves(v)] if isinstance(values, list) else [values]


def _number(value: Any) -> float:
    real, imaginary = mp.re(value), mp.im(value)
    return float(real) if abs(imaginary) <= abs(real) * mp.mpf(10) ** -30 else float("nan")
