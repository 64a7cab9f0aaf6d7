"""Prove derivatives of 0 and run the complex step, where differences cannot resolve an element."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import Array, Flags
from gradhook.comparison.probe import ComplexStep, DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.derivatives import Differentiator
from gradhook.numerics.autodiff.programs import derivative
from gradhook.numerics.complex_step.evaluation import complex_step
from gradhook.numerics.finite_difference import adaptive
from gradhook.numerics.jaxpr.traverse import equations

LARGEST = 2**22
"""Numbers in all directions together up to which the complex step of a large function is run."""
_OPAQUE = ("callback", "ffi_call", "custom_call")
_DECIDING = frozenset({
    "lt", "le", "gt", "ge", "eq", "ne", "is_finite", "argmax", "argmin", "sort", "top_k", "clamp", "nextafter",
    "lt_to", "le_to",
})  # fmt: skip
"""Equations that may hide a nan: they turn floats into decisions, or order them."""


def independent(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """Elements (D, columns) whose output provably does not depend on the inputs that move.

    No floating data flows between their leaves; or the output stays the same, to the last bit, whatever the moved
    inputs are: nan and both infinities. A nan goes through every arithmetic operation, so what it does not reach does
    not depend on it. Functions that compare floats, or call out, may hide it and prove nothing this way.
    """
    proven = _by_equations(differentiator, path, mode)
    if not differentiator.held.traceable or not _carries_nan(differentiator, path):
        return proven
    return np.asarray(proven | unaffected_by_nan(differentiator, path, mode))


def unaffected_by_nan(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """Elements (D, columns) whose output is the same, bit for bit, for nan and both infinities.

    All False for a function that loops until floats satisfy a condition, which a nan may never do.
    """
    columns = _columns(differentiator, path, mode)
    t = np.zeros_like(adaptive.abscissae(differentiator.projection.directions.limits))
    nothing = np.zeros((len(t), columns.stop - columns.start), dtype=bool)
    if not differentiator.held.traceable or _loops(differentiator, path):
        return nothing
    t[:, 1], t[:, 2], t[:, 3] = np.nan, np.inf, -np.inf
    try:
        with np.errstate(all="ignore"):
            values = differentiator.values(path, t)[..., columns]
    except Exception:  # code outside JAX may refuse a nan
        return nothing
    return np.asarray((values[:, 1:4] == values[:, :1]).all(axis=1))


def _loops(differentiator: Differentiator, path: tuple[Mode, ...]) -> bool:
    return any(equation.primitive.name == "while" for equation in equations(_jaxpr(differentiator, path, 0)))


def _by_equations(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """Elements of a comparison between whose leaves no floating data flows."""
    comparison = differentiator.comparison(path)
    if isinstance(comparison, DerivativeError):
        return np.zeros((0, 0), dtype=bool)
    return differentiator.dependence.independent(path, comparison.input_labels, comparison.column_labels(mode))


def _carries_nan(differentiator: Differentiator, path: tuple[Mode, ...]) -> bool:
    return not any(_decides(equation) for equation in equations(_jaxpr(differentiator, path, 0)))


def _decides(equation: Any) -> bool:
    name = equation.primitive.name
    if any(part in name for part in _OPAQUE) or name == "while":
        return True
    floats = any(jnp.issubdtype(getattr(var.aval, "dtype", int), jnp.inexact) for var in equation.invars)
    if name == "convert_element_type":
        return floats and not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.inexact)
    return floats and name in _DECIDING


def _columns(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> slice:
    """The columns of a comparison that belong to a mode."""
    _, outputs = differentiator.seeds(path)
    weights = differentiator.weights(path, outputs)
    if mode == "rev" and len(weights):
        return slice(len(outputs), len(outputs) + len(weights))
    return slice(0, len(outputs))


def witness(differentiator: Differentiator, path: tuple[Mode, ...]) -> ComplexStep | None:
    """The complex step of the function, or of its derivative at a path; None if it is not available."""
    if not differentiator.held.traceable:
        return None
    try:
        found = (
            _large(differentiator, path)
            if len(differentiator.projection.operands) > 1
            else _small(differentiator, path)
        )
    except Exception:  # a second opinion that cannot be had is none; the first stands as it is
        return None
    if found is None:
        return None
    _, outputs = differentiator.seeds(path)
    weights = differentiator.weights(path, outputs)
    if not len(weights):
        return found
    with np.errstate(all="ignore"):
        value = np.concatenate([found.value, found.value @ weights.T], axis=1)
        error = np.concatenate([found.error, found.error @ np.abs(weights).T], axis=1)
    return ComplexStep(value, error, found.reason)


def _small(differentiator: Differentiator, path: tuple[Mode, ...]) -> ComplexStep:
    step = complex_step(
        _jaxpr(differentiator, path, 0), differentiator.projection.point, differentiator.projection.directions.vectors
    )
    return ComplexStep(step.value, step.error, step.reason)


def _large(differentiator: Differentiator, path: tuple[Mode, ...]) -> ComplexStep | None:
    """The complex step of a function of very many inputs, along explicit directions."""
    projection, held = differentiator.projection, differentiator.held
    rows = len(projection.directions.vectors)
    if path or rows * held.inputs.size > LARGEST:
        return None
    jaxpr = jax.make_jaxpr(lambda x: projection.project_outputs(held.call(x)))(held.point)
    vectors = np.stack([projection.direction(row) for row in range(rows)])
    step = complex_step(jaxpr, held.point, vectors)
    return ComplexStep(step.value, step.error, step.reason)


def roundoff(
    differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode | None, inputs: bool = False
) -> Array | float:
    """The rounding of a mode's derivative, (D, columns), by random rounding; for mode None, of the value.

    The derivative program itself is disturbed, rules and all: a claim may be a small difference of large terms that a
    rounded input does not move; with ``inputs`` these are rounded, too. 0 where that cannot be had.
    """
    projection = differentiator.projection
    if (
        not differentiator.held.traceable
        or len(projection.directions.vectors) * differentiator.held.inputs.size > LARGEST
    ):
        return 0.0
    _, cotangents = differentiator.claimed(path)
    parts = [(program(differentiator, path, operands), vectors) for operands, vectors, _ in projection.parts()]
    if mode is None:
        return rounding.of(parts[0][0], projection.point, inputs=inputs)
    if mode == "fwd":
        return _joined([rounding.of_forward(f, projection.point, vectors, inputs) for f, vectors in parts])
    return _joined([rounding.of_reverse(f, projection.point, vectors, cotangents, inputs) for f, vectors in parts])


def _joined(parts: list[Array]) -> Array | float:
    """The rows of all parts; 0 where one is missing."""
    return np.concatenate(parts) if all(part.ndim > 1 for part in parts) else 0.0


def program(differentiator: Differentiator, path: tuple[Mode, ...], operands: tuple[Any, ...]) -> Any:
    """The function, or its derivative at a path, as a function of the point alone."""
    seeds, _ = differentiator.seeds(path)
    call = differentiator.projection.call
    base = (lambda x: call(operands, x)) if operands else call
    return derivative(base, path, seeds) if path else base


def _jaxpr(differentiator: Differentiator, path: tuple[Mode, ...], row: int) -> Any:
    """The equations of the function at a path, as seen along one row of directions."""
    projection = differentiator.projection
    return jax.make_jaxpr(program(differentiator, path, projection.operands[row]))(projection.point)
