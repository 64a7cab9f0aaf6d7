"""Is a surrogate, at one point, what was declared for it? Its value on every route, its derivative in every mode.

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
from gradhook.comparison.probe import Fault, Label
from gradhook.comparison.surrogate_probe import Contract
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.function import Held
from gradhook.numerics.surrogates.declaration import Declared, numbers, outputs, slope_map, slopes
from gradhook.numerics.surrogates.linearity_program import Battery
from gradhook.numerics.surrogates.values import real_parts, routes

AMBIGUOUS = 1e-6
"""Two sides of a point whose declared derivatives differ by more than this part have a kink between them."""


def contract(
    held: Held,
    function: Callable[..., Any],
    declared: Declared,
    battery: Battery,
    modes: tuple[Mode, ...],
    surrogate_in: Flags,
) -> Contract:
    """Run a surrogate on every route and evaluate what was declared for it.

    ``surrogate_in`` (n,) marks the coordinates of which the declaration speaks; the others are claimed exact.
    """
    vectors, labels = battery.rows
    spoken = np.array([bool(surrogate_in[v != 0].all()) for v in vectors], dtype=bool)
    wanted, allowed = _conventions(held, declared, vectors, labels)
    wanted, allowed = np.where(spoken[:, None], wanted, np.nan), np.where(spoken[:, None], allowed, np.nan)
    claims = {mode: battery.claim(mode) for mode in modes}
    if declared.tangent is not None:
        ones = np.ones((1, held.inputs.size))
        vectors, labels = np.concatenate([vectors, ones]), (*labels, Label("a tangent of ones"))
        given = numbers(declared.tangent, held.outputs.size)[None]
        wanted = np.concatenate([wanted, given])
        allowed = np.concatenate([allowed, np.broadcast_to(given, (len(allowed), *given.shape))], axis=1)
        claims = {mode: _with_ones(claim, held, mode, battery) for mode, claim in claims.items()}
    values, value_labels, references = routes(held, function, declared.forward, modes, battery.clock)
    made = Contract(
        references,
        values,
        value_labels,
        wanted,
        allowed,
        battery.weights,
        claims,
        vectors,
        labels,
        held.outputs.labels(),
    )
    of_modes = {mode: _rounding(held, declared, battery, made, mode) for mode in modes}
    return replace(made, rounding=of_modes, value_rounding=_value_rounding(held, function, made))


def _rounding(held: Held, declared: Declared, battery: Battery, made: Contract, mode: Mode) -> Array:
    """How far rounding may move a claim and the declared derivative apart; asked for only where it may decide."""
    claim = made.claims[mode]
    if isinstance(claim, Fault) or made.as_declared(mode, claim).all():
        return np.zeros(1)
    slope = slope_map(held, declared)
    own = np.zeros(1)
    if slope is not None:
        own = rounding.of(lambda x, rows: jax.lax.map(lambda v: slope(x, v), rows), held.point, made.directions)
    if mode == "rev" and len(made.weights):
        terms = np.nan_to_num(np.abs(made.declared)) @ np.abs(made.weights).T
        own = (own + np.zeros_like(made.declared)) @ np.abs(made.weights).T + rounding.SAFETY * rounding.EPS * terms
    return np.asarray(own + battery.rounding(mode, made.directions))


def _value_rounding(held: Held, function: Callable[..., Any], made: Contract) -> Array | float:
    values = [value for value in made.values.values() if not isinstance(value, Fault)]
    if not any(differ(value, one, SURROGATE).any() for value in values for one in made.references):
        return 0.0
    return rounding.of(lambda x: jnp.concatenate([real_parts(leaf) for leaf in outputs(held, function, x)]), held.point)


def _conventions(held: Held, declared: Declared, vectors: Array, labels: tuple[Label, ...]) -> tuple[Array, Array]:
    """The declared derivative (D, m), and what is as good at a kink of ``derivative_of=`` (K, D, m).

    On a bound of ``jnp.clip`` JAX's own derivative is neither the inner nor the outer one. ``bounds=`` says which is
    meant; where it is silent, either is accepted.
    """
    x = held.point
    if declared.derivative_of is None:
        (only,) = slopes(held, declared, x[None], vectors)
        return only, only[None]
    near = np.stack([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
    on, below, above = slopes(held, declared, near, vectors)
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


def _with_ones(claim: Array | Fault, held: Held, mode: Mode, battery: Battery) -> Array | Fault:
    """A claim with one row more: for a tangent of ones, the sum over the coordinates."""
    if isinstance(claim, Fault):
        return claim
    axes = np.array([not label.moves_many for label in battery.rows[1]], dtype=bool)
    if axes.sum() == held.inputs.size:
        return np.concatenate([claim, claim[axes].sum(axis=0, keepdims=True)])
    x, ones = jnp.asarray(held.point), jnp.ones(held.inputs.size)
    if mode == "fwd":
        row = jax.jvp(held.call, (x,), (ones,))[1]
    else:
        pull = jax.vjp(held.call, x)[1]
        row = jnp.stack([pull(jnp.asarray(w))[0].sum() for w in battery.cotangents])
    return np.concatenate([claim, np.asarray(row)[None]])
