"""Factorisations and triangular solves of stepped matrices.

The inputs are off by as many ulps as they have columns: backward stability (Higham 2002, theorems 8.5, 9.3 and 10.3).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.complex_step.elementwise import Rule
from gradhook.numerics.complex_step.stepped import Rounding, Stepped, imag, is_stepped, real
from gradhook.numerics.jaxpr import traverse


def cholesky(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """L' = L Phi(L^-1 A' L^-T); Phi halves the diagonal of the lower triangle (Murray 2016, equation 8)."""
    a = _off(rounding, values[0])
    (y,) = traverse.bind(equation, [a.real])
    if jnp.iscomplexobj(y):
        return [Stepped(y, jnp.full_like(y, np.nan))]
    # The primitive reads the lower triangle only.
    lower = jnp.tril(a.imag)
    moved = lower + jnp.swapaxes(jnp.tril(a.imag, -1), -1, -2)
    half = lax.linalg.triangular_solve(y, moved, left_side=True, lower=True)
    both = lax.linalg.triangular_solve(y, half, left_side=False, lower=True, transpose_a=True)
    phi = jnp.tril(both) - 0.5 * both * jnp.eye(y.shape[-1])
    return [Stepped(y, jnp.tril(jnp.tril(y) @ phi))]


def lu(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """P A = L U: L' = L tril(F, -1) and U' = triu(F) U with F = L^-1 P A' U^-1."""
    a = _off(rounding, values[0])
    y, *rest = traverse.bind(equation, [a.real])
    rows, columns = y.shape[-2:]
    if rows != columns or len(rest) != 2:
        return [Stepped(y, jnp.full_like(y, np.nan)), *rest]
    moved = jnp.take_along_axis(a.imag, rest[1][..., None], axis=-2)
    lower = jnp.tril(y, -1) + jnp.eye(rows, dtype=y.dtype)
    half = lax.linalg.triangular_solve(y, moved, left_side=True, lower=True, unit_diagonal=True)
    both = lax.linalg.triangular_solve(y, half, left_side=False, lower=False)
    return [Stepped(y, jnp.tril(lower @ jnp.tril(both, -1), -1) + jnp.triu(jnp.triu(both) @ jnp.triu(y))), *rest]


def triangular_solve(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """op(A) X = B: X' solves op(A) X' = B' - op(A') X, and likewise on the right."""
    a, b = _off(rounding, values[0]), values[1]
    params = equation.params
    x = rounding.off(traverse.bind(equation, [real(a), real(b)])[0])
    right = imag(b)
    if is_stepped(a):
        moved = jnp.tril(a.imag) if params["lower"] else jnp.triu(a.imag)
        moved = moved - moved * jnp.eye(moved.shape[-1]) if params["unit_diagonal"] else moved
        moved = jnp.swapaxes(moved, -1, -2) if params["transpose_a"] else moved
        moved = jnp.conj(moved) if params["conjugate_a"] else moved
        right = right - rounding.off(moved @ x if params["left_side"] else x @ moved, float(moved.shape[-1]))
    (change,) = traverse.bind(equation, [real(a), right])
    return [Stepped(x, rounding.off(change))]


def _off(rounding: Rounding, value: Any) -> Any:
    ulps = float(value.real.shape[-1]) if is_stepped(value) else float(value.shape[-1])
    if not is_stepped(value):
        return rounding.off(value, ulps)
    return Stepped(rounding.off(value.real, ulps), rounding.off(value.imag, ulps))


RULES: dict[str, Rule] = {"cholesky": cholesky, "lu": lu, "triangular_solve": triangular_solve}
