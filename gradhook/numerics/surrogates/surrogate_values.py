"""The value of a surrogate on every route and its derivative in every mode, beside the declared ones.

Finite differences of the function play no part here: they prove nothing about a derivative that differs on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.agreement import differ
from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.probe import DerivativeError, Label
from gradhook.comparison.surrogate_probe import SurrogateValues
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.surrogates.declaration import Declaration, declared_derivatives, derivative_map, numbers, outputs
from gradhook.numerics.surrogates.linearity_program import LinearityProgram
from gradhook.numerics.surrogates.values import real_parts, routes

AMBIGUOUS = 1e-6
"""Two sides of a point whose declared derivatives differ by more than this part have a kink between them."""


def surrogate_values(
    held: FlatFunction,
    function: Callable[..., Any],
    declared: Declaration,
    linearity_program: LinearityProgram,
    modes: tuple[Mode, ...],
    surrogate_in: Flags,
) -> SurrogateValues:
    """Run a surrogate on every route and evaluate what was declared for it.

    ``surrogate_in`` (n,) marks the coordinates that the declaration covers; the others are claimed exact.
    """
    vectors, labels = linearity_program.rows
    is_declared = np.array([bool(surrogate_in[v != 0].all()) for v in vectors], dtype=bool)
    wanted, allowed = _conventions(held, declared, vectors, labels)
    wanted, allowed = np.where(is_declared[:, None], wanted, np.nan), np.where(is_declared[:, None], allowed, np.nan)
    claims = {mode: linearity_program.claim(mode) for mode in modes}
    if declared.tangent is not None:
        ones = np.ones((1, held.inputs.size))
        vectors, labels = np.concatenate([vectors, ones]), (*labels, Label("a tangent of ones"))
        given = numbers(declared.tangent, held.outputs.size)[None]
        wanted = np.concatenate([wanted, given])
        allowed = np.concatenate([allowed, np.broadcast_to(given, (len(allowed), *given.shape))], axis=1)
        claims = {mode: _with_ones(claim, held, mode, linearity_program) for mode, claim in claims.items()}
    values, value_labels, references = routes(held, function, declared.forward, modes, linearity_program.clock)
    made = SurrogateValues(
        references,
        values,
        value_labels,
        wanted,
        allowed,
        linearity_program.weights,
        claims,
        vectors,
        labels,
        held.outputs.labels(),
    )
    of_modes = {mode: _rounding(held, declared, linearity_program, made, mode) for mode in modes}
    return replace(made, rounding=of_modes, value_rounding=_value_rounding(held, function, made))


def _rounding(
    held: FlatFunction, declared: Declaration, linearity_program: LinearityProgram, made: SurrogateValues, mode: Mode
) -> Array:
    """The rounding of a derivative and the declared one; computed only where it may decide."""
    claim = made.autodiff[mode]
    if isinstance(claim, DerivativeError) or made.as_declared(mode, claim).all():
        return np.zeros(1)
    slope = derivative_map(held, declared)
    own = np.zeros(1)
    if slope is not None:
        own = rounding.of(lambda x, rows: jax.lax.map(lambda v: slope(x, v), rows), held.point, made.directions)
    if mode == "rev" and len(made.weights):
        terms = np.nan_to_num(np.abs(made.declared)) @ np.abs(made.weights).T
        own = (own + np.zeros_like(made.declared)) @ np.abs(made.weights).T + rounding.SAFETY * rounding.EPS * terms
    return np.asarray(own + linearity_program.rounding(mode, made.directions))


def _value_rounding(held: FlatFunction, function: Callable[..., Any], made: SurrogateValues) -> Array | float:
    values = [value for value in made.values.values() if not isinstance(value, DerivativeError)]
    if not any(differ(value, one, SURROGATE).any() for value in values for one in made.references):
        return 0.0
    return rounding.of(lambda x: jnp.concatenate([real_parts(leaf) for leaf in outputs(held, function, x)]), held.point)


def _conventions(
    held: FlatFunction, declared: Declaration, vectors: Array, labels: tuple[Label, ...]
) -> tuple[Array, Array]:
    """The declared derivative (D, m), and what is as good at a kink of ``derivative_of=`` (K, D, m).

    On a bound of ``jnp.clip`` JAX's own derivative is neither the inner nor the outer one. ``bounds=`` selects
    one; without it, either is accepted.
    """
    x = held.point
    if declared.derivative_of is None:
        (only,) = declared_derivatives(held, declared, x[None], vectors)
        return only, only[None]
    near = np.stack([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
    on, below, above = declared_derivatives(held, declared, near, vectors)
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(below), np.abs(above))
        kink = np.abs(below - above) > AMBIGUOUS * size
        inner, outer = np.where(np.abs(below) >= np.abs(above), (below, above), (above, below))
    everything = np.array([label.moves_many for label in labels], dtype=bool)[:, None]
    on = np.where(kink & everything, np.nan, on)
    if declared.bounds is not None:
        on = np.where(kink & ~everything, inner if declared.bounds == "closed" else outer, on)
        return on, on[None]
    return on, np.stack([on, np.where(kink, below, on), np.where(kink, above, on)])


def _with_ones(
    claim: Array | DerivativeError, held: FlatFunction, mode: Mode, linearity_program: LinearityProgram
) -> Array | DerivativeError:
    """A claim with one row more: for a tangent of ones, the sum over the coordinates."""
    if isinstance(claim, DerivativeError):
        return claim
    axes = np.array([not label.moves_many for label in linearity_program.rows[1]], dtype=bool)
    if axes.sum() == held.inputs.size:
        return np.concatenate([claim, claim[axes].sum(axis=0, keepdims=True)])
    x, ones = jnp.asarray(held.point), jnp.ones(held.inputs.size)
    if mode == "fwd":
        row = jax.jvp(held.call, (x,), (ones,))[1]
    else:
        pull = jax.vjp(held.call, x)[1]
        row = jnp.stack([pull(jnp.asarray(w))[0].sum() for w in linearity_program.cotangents])
    return np.concatenate([claim, np.asarray(row)[None]])
