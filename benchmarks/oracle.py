"""What are the true first and second derivatives, by mpmath, and what does JAX claim?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np

from catalogue.records import Entry, Point

DIGITS = 120
CLOSE = 1e-8
"""JAX's own rounding may cost so much of a derivative, relative to the largest one, before it counts as wrong."""
ROUNDING = 1e-13


def claimed(entry: Entry, point: Point, mode: str) -> list[np.ndarray]:
    """Jacobian (m, n) and, where the function has second derivatives, Hessian (m, n, n), as JAX says."""
    flat, call = _flattened(entry, point)
    first = jax.jacfwd if mode == "fwd" else jax.jacrev
    found = [np.asarray(first(call)(flat))]
    if entry.order > 1:
        found.append(np.asarray(first(first(call))(flat)))
    return found


def true(entry: Entry, point: Point) -> list[np.ndarray] | None:
    """Value, Jacobian, Hessian by mpmath, at the very same floating-point numbers; None where there is no twin or it fails."""
    if entry.truth is None or any(np.iscomplexobj(a) for a in point):
        return None
    with mp.workdps(DIGITS):
        try:
            return _true(entry.truth, point, entry.order)
        except (ArithmeticError, ValueError, mp.libmp.NoConvergence):
            return None


def _true(truth: Callable[..., Any], point: Point, order: int) -> list[np.ndarray]:
    x = [mp.mpf(float(v)) for a in point for v in np.ravel(a)]
    n = len(x)
    steps = [mp.mpf(10) ** -25 * (abs(v) or 1) for v in x]

    def at(moves: dict[int, int]) -> list[Any]:
        moved = [v + moves.get(i, 0) * steps[i] for i, v in enumerate(x)]
        return _outputs(truth(*_shaped(moved, point)))

    here = at({})
    first = [_central(at, steps, i) for i in range(n)]
    found = [np.array([_number(v) for v in here])]
    found.append(np.array([[_number(first[i][o]) for i in range(n)] for o in range(len(here))]))
    if order > 1:
        second = [[_mixed(at, here, steps, i, j) for j in range(n)] for i in range(n)]
        found.append(np.array([[[_number(second[i][j][o]) for j in range(n)] for i in range(n)] for o in range(len(here))]))
    return found


def _central(at: Callable[[dict[int, int]], list[Any]], steps: list[Any], i: int) -> list[Any]:
    # 120 digits and a relative step of 1e-25 leave 1e-100 of truncation and 1e-70 of rounding, even twice.
    p1, m1, p2, m2 = at({i: 1}), at({i: -1}), at({i: 2}), at({i: -2})
    return [(8 * (a - b) - (c - d)) / (12 * steps[i]) for a, b, c, d in zip(p1, m1, p2, m2, strict=True)]


def _mixed(at: Callable[..., Any], here: list[Any], steps: list[Any], i: int, j: int) -> list[Any]:
    if i == j:
        p, m = at({i: 1}), at({i: -1})
        return [(a - 2 * b + c) / steps[i] ** 2 for a, b, c in zip(p, here, m, strict=True)]
    parts = [at({i: s, j: t}) for s in (1, -1) for t in (1, -1)]
    return [(a - b - c + d) / (4 * steps[i] * steps[j]) for a, b, c, d in zip(*parts, strict=True)]


def _flattened(entry: Entry, point: Point) -> tuple[Any, Callable[[Any], Any]]:
    shapes = [np.shape(a) for a in point]
    sizes = np.cumsum([int(np.prod(s)) for s in shapes])[:-1]

    def call(flat: Any) -> Any:
        parts = [p.reshape(s) for p, s in zip(jnp.split(flat, sizes), shapes, strict=True)]
        outputs = [o for o in jax.tree.leaves(entry.call(*parts)) if jnp.issubdtype(jnp.asarray(o).dtype, jnp.inexact)]
        return jnp.concatenate([jnp.ravel(o) for o in outputs])

    return jnp.concatenate([jnp.ravel(jnp.asarray(a)) for a in point]), call


def _shaped(numbers: list[Any], point: Point) -> list[Any]:
    """Nested lists of mpmath numbers in the shapes of the arguments."""
    shaped, start = [], 0
    for a in point:
        size = int(np.size(a))
        part = np.empty(size, dtype=object)
        part[:] = numbers[start : start + size]
        shaped.append(part.reshape(np.shape(a)).tolist())
        start += size
    return shaped


def _outputs(value: Any) -> list[Any]:
    if isinstance(value, mp.matrix):
        return [value[i, j] for i in range(value.rows) for j in range(value.cols)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _outputs(part)]
    return [mp.mpmathify(value)]


def _number(value: Any) -> float:
    """A float; nan where the twin left the real line, so that there is no truth to compare with."""
    real, imaginary = mp.re(value), mp.im(value)
    return float(real) if abs(imaginary) <= abs(real) * mp.mpf(10) ** -30 else float("nan")


def differs(claim: np.ndarray, truth: np.ndarray, size: np.ndarray) -> bool:
    """Whether a claim is wrong by more than rounding, or not finite where the truth is; undefined truths do not count.

    ``size`` is what is differentiated, over the magnitude of the input: rounding of that much is no error.
    """
    known = np.isfinite(truth)
    with np.errstate(all="ignore"):
        scale = np.abs(truth[known]).max(initial=0.0)
        near = np.abs(claim - truth) <= CLOSE * np.maximum(np.abs(truth), scale) + ROUNDING * size
    return bool((known & ~near).any())
