"""Prove derivatives of 0 and ask the complex step, where differences cannot resolve an element."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import Array, Flags
from gradhook.comparison.probe import Witness
from gradhook.model import Mode
from gradhook.numerics.finite_difference import adaptive
from gradhook.numerics.jaxpr.complex_step import complex_step, real_roundoff
from gradhook.numerics.jaxprs import equations
from gradhook.numerics.programs import derivative
from gradhook.numerics.studies import Laboratory

LARGEST = 2**22
"""Numbers in all directions together up to which the complex step of a large function is run."""
_OPAQUE = ("callback", "ffi_call", "custom_call")
_DECIDING = frozenset({
    "lt", "le", "gt", "ge", "eq", "ne", "is_finite", "argmax", "argmin", "sort", "top_k", "clamp", "nextafter",
    "lt_to", "le_to",
})  # fmt: skip
"""Equations that may hide a nan: they turn floats into decisions, or order them."""


def independent(laboratory: Laboratory, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """Outputs (D, columns) that stay the same, to the last bit, whatever the moved inputs are: nan and both infinities.

    A nan goes through every arithmetic operation, so what it does not reach does not depend on it. Functions that
    compare floats, or call out, may hide it and prove nothing this way.
    """
    columns = _columns(laboratory, path, mode)
    t = np.zeros_like(adaptive.abscissae(laboratory.view.directions.lines))
    nothing = np.zeros((len(t), columns.stop - columns.start), dtype=bool)
    if not laboratory.held.traceable or not _carries_nan(laboratory, path):
        return nothing
    t[:, 1], t[:, 2], t[:, 3] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        values = laboratory.values(path, t)[..., columns]
    centre = values[:, :1]
    return np.asarray((values[:, 1:4] == centre).all(axis=1))


def _carries_nan(laboratory: Laboratory, path: tuple[Mode, ...]) -> bool:
    return not any(_decides(equation) for equation in equations(_jaxpr(laboratory, path, 0)))


def _decides(equation: Any) -> bool:
    name = equation.primitive.name
    if any(part in name for part in _OPAQUE) or name == "while":
        return True
    floats = any(jnp.issubdtype(getattr(var.aval, "dtype", int), jnp.inexact) for var in equation.invars)
    if name == "convert_element_type":
        return floats and not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.inexact)
    return floats and name in _DECIDING


def _columns(laboratory: Laboratory, path: tuple[Mode, ...], mode: Mode) -> slice:
    """The columns of a study's numbers that a mode claims."""
    _, outputs = laboratory.seeds(path)
    weights = laboratory.weights(path, outputs)
    if mode == "rev" and len(weights):
        return slice(len(outputs), len(outputs) + len(weights))
    return slice(0, len(outputs))


def witness(laboratory: Laboratory, path: tuple[Mode, ...]) -> Witness | None:
    """The complex step of the function, or of its derivative at a path, for all columns; None if it is refused."""
    if not laboratory.held.traceable:
        return None
    try:
        found = _large(laboratory, path) if len(laboratory.view.operands) > 1 else _small(laboratory, path)
    except Exception:  # a second opinion that cannot be had is none; the first stands as it is
        return None
    if found is None:
        return None
    _, outputs = laboratory.seeds(path)
    weights = laboratory.weights(path, outputs)
    if not len(weights):
        return found
    with np.errstate(all="ignore"):
        value = np.concatenate([found.value, found.value @ weights.T], axis=1)
        error = np.concatenate([found.error, found.error @ np.abs(weights).T], axis=1)
    return Witness(value, error, found.reason)


def _small(laboratory: Laboratory, path: tuple[Mode, ...]) -> Witness:
    step = complex_step(_jaxpr(laboratory, path, 0), laboratory.view.point, laboratory.view.directions.vectors)
    return Witness(step.value, step.error, step.reason)


def _large(laboratory: Laboratory, path: tuple[Mode, ...]) -> Witness | None:
    """Of a function of very many inputs: along its directions, written out."""
    view, held = laboratory.view, laboratory.held
    rows = len(view.directions.vectors)
    if path or rows * held.inputs.size > LARGEST:
        return None
    jaxpr = jax.make_jaxpr(lambda x: view.see(held.call(x)))(held.point)
    vectors = np.stack([view.explicit(row) for row in range(rows)])
    step = complex_step(jaxpr, held.point, vectors)
    return Witness(step.value, step.error, step.reason)


def roundoff(laboratory: Laboratory, path: tuple[Mode, ...], mode: Mode) -> Array | float:
    """What the claims of a mode lose by the rounding of their own terms, (D, columns), as random rounding shows it.

    The derivative program itself is perturbed, rules and all: a claim may be a small difference of large terms that a
    rounded input does not move. 0 where that cannot be had.
    """
    if not laboratory.held.traceable or len(laboratory.view.operands) > 1:
        return 0.0
    seeds, cotangents = laboratory.claimed(path)
    vectors, point = laboratory.view.directions.vectors, laboratory.view.point
    function = derivative(laboratory.view.call, path, seeds)

    def forward(x: Any) -> Any:
        return jax.lax.map(lambda v: jax.jvp(function, (x,), (v,))[1], vectors)

    def reverse(x: Any) -> Any:
        pull = jax.vjp(function, x)[1]
        return (jax.lax.map(lambda w: pull(w)[0], cotangents) @ vectors.T).T

    claims = forward if mode == "fwd" else reverse
    try:
        spread = real_roundoff(jax.make_jaxpr(lambda x: claims(x).ravel())(point), point)
    except Exception:  # no claim can be had, or none that can be perturbed
        return 0.0
    return np.asarray(spread.reshape(len(vectors), -1))


def _jaxpr(laboratory: Laboratory, path: tuple[Mode, ...], row: int) -> Any:
    """The equations of the function at a path, as seen along one row of directions."""
    view = laboratory.view
    operands = view.operands[row]
    if not path and not operands:
        return jax.make_jaxpr(view.call)(view.point)
    seeds, _ = laboratory.seeds(path)
    base = (lambda x: view.call(operands, x)) if operands else view.call
    return jax.make_jaxpr(derivative(base, path, seeds))(view.point)
