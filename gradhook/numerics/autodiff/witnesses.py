"""Prove derivatives of 0 and ask the complex step, where differences cannot resolve an element."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import Array, Flags
from gradhook.comparison.probe import Fault, Witness
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.derivatives import Laboratory
from gradhook.numerics.autodiff.programs import derivative
from gradhook.numerics.complex_step.witness_program import complex_step
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


def independent(laboratory: Laboratory, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """Elements (D, columns) whose output provably does not depend on the inputs that move.

    No floating data flows between their leaves; or the output stays the same, to the last bit, whatever the moved
    inputs are: nan and both infinities. A nan goes through every arithmetic operation, so what it does not reach does
    not depend on it. Functions that compare floats, or call out, may hide it and prove nothing this way.
    """
    proven = _by_equations(laboratory, path, mode)
    if not laboratory.held.traceable or not _carries_nan(laboratory, path):
        return proven
    return np.asarray(proven | indifferent(laboratory, path, mode))


def indifferent(laboratory: Laboratory, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """Elements (D, columns) whose output stays the same to the last bit for nan and both infinities.

    Nothing is asked of a function that loops until floats satisfy a condition, which a nan may never do.
    """
    columns = _columns(laboratory, path, mode)
    t = np.zeros_like(adaptive.abscissae(laboratory.view.directions.lines))
    nothing = np.zeros((len(t), columns.stop - columns.start), dtype=bool)
    if not laboratory.held.traceable or _loops(laboratory, path):
        return nothing
    t[:, 1], t[:, 2], t[:, 3] = np.nan, np.inf, -np.inf
    try:
        with np.errstate(all="ignore"):
            values = laboratory.values(path, t)[..., columns]
    except Exception:  # code outside JAX may refuse a nan
        return nothing
    return np.asarray((values[:, 1:4] == values[:, :1]).all(axis=1))


def _loops(laboratory: Laboratory, path: tuple[Mode, ...]) -> bool:
    return any(equation.primitive.name == "while" for equation in equations(_jaxpr(laboratory, path, 0)))


def _by_equations(laboratory: Laboratory, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """Pairs of leaves between which no floating data flows, for every element of a study."""
    study = laboratory.study(path)
    if isinstance(study, Fault):
        return np.zeros((0, 0), dtype=bool)
    return laboratory.dependence.independent(path, study.input_labels, study.column_labels(mode))


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


def roundoff(laboratory: Laboratory, path: tuple[Mode, ...], mode: Mode | None, inputs: bool = False) -> Array | float:
    """How far rounding may move the claims of a mode, (D, columns), as random rounding shows it; of None, the value.

    The derivative program itself is disturbed, rules and all: a claim may be a small difference of large terms that a
    rounded input does not move; with ``inputs`` these are rounded, too. 0 where that cannot be had.
    """
    view = laboratory.view
    if not laboratory.held.traceable or len(view.directions.vectors) * laboratory.held.inputs.size > LARGEST:
        return 0.0
    _, cotangents = laboratory.claimed(path)
    parts = [(program(laboratory, path, operands), vectors) for operands, vectors, _ in view.parts()]
    if mode is None:
        return rounding.of(parts[0][0], view.point, inputs=inputs)
    if mode == "fwd":
        return _joined([rounding.of_forward(f, view.point, vectors, inputs) for f, vectors in parts])
    return _joined([rounding.of_reverse(f, view.point, vectors, cotangents, inputs) for f, vectors in parts])


def _joined(parts: list[Array]) -> Array | float:
    """The rows of all parts; 0 where one could not be had."""
    return np.concatenate(parts) if all(part.ndim > 1 for part in parts) else 0.0


def program(laboratory: Laboratory, path: tuple[Mode, ...], operands: tuple[Any, ...]) -> Any:
    """The function, or its derivative at a path, as a function of the point alone."""
    seeds, _ = laboratory.seeds(path)
    call = laboratory.view.call
    base = (lambda x: call(operands, x)) if operands else call
    return derivative(base, path, seeds) if path else base


def _jaxpr(laboratory: Laboratory, path: tuple[Mode, ...], row: int) -> Any:
    """The equations of the function at a path, as seen along one row of directions."""
    view = laboratory.view
    return jax.make_jaxpr(program(laboratory, path, view.operands[row]))(view.point)
