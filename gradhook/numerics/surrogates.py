"""What does a surrogate do, on every route, and what was declared for it?

Finite differences of the function play no part here: they prove nothing about a derivative that differs on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.errors import GradhookError
from gradhook.model import Mode
from gradhook.numerics import directions
from gradhook.numerics.differences import Array
from gradhook.numerics.drawing import generator
from gradhook.numerics.faults import translate
from gradhook.numerics.held import Held
from gradhook.numerics.programs import Clock, Programs
from gradhook.numerics.studies import along
from gradhook.numerics.trees import is_floating
from gradhook.probe import Contract, Fault, Label


@dataclass(frozen=True)
class Declared:
    """What the author declared: a value, and a derivative as a function, as a rule, or as numbers for one tangent."""

    forward: Callable[..., Any] | None
    derivative_of: Callable[..., Any] | None
    rule: Callable[..., Any] | None
    tangent: Any = None


def contract(held: Held, declared: Declared, seed: str, modes: tuple[Mode, ...], clock: Clock) -> Contract:
    """Run a surrogate on every route and evaluate what was declared for it."""
    chosen = directions.choose(held.inputs, held.point, generator(seed, "directions"))
    vectors, labels = chosen.vectors, chosen.labels
    wanted = _declared(held, declared, vectors)
    if declared.tangent is not None:
        vectors = np.concatenate([vectors, np.ones((1, held.inputs.size))])
        labels = (*labels, Label("a tangent of ones"))
        wanted = np.concatenate([wanted, _numbers(declared.tangent, held.outputs.size)[None]])
    weights = directions.weights(held.outputs.size, generator(seed, "weights"))
    programs = Programs(held.call, (), clock, held.traceable)
    claims = {mode: _claim(programs, held, mode, vectors, weights) for mode in modes}
    reference = None if declared.forward is None else _call(held, declared.forward, "forward=")
    return Contract(reference, _routes(held), wanted, weights, claims, vectors, labels, held.outputs.labels())


def _declared(held: Held, declared: Declared, vectors: Array) -> Array:
    """The declared derivative along every direction (D, m); nan where only numbers for a case were given."""
    if declared.derivative_of is not None:
        other = declared.derivative_of
        return np.stack(
            [_vector(held, jax.jvp(_lifted(held, other), *_pair(held, v))[1], "derivative_of=") for v in vectors]
        )
    if declared.rule is not None:
        return np.stack([_vector(held, _ruled(held, declared.rule, v), "rule=") for v in vectors])
    return np.full((len(vectors), held.outputs.size), np.nan)


def _pair(held: Held, vector: Array) -> tuple[tuple[Any], tuple[Any]]:
    return (held.inputs.split(jnp.asarray(held.point)),), (held.inputs.split(jnp.asarray(vector)),)


def _lifted(held: Held, function: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """A function of the arguments as one of the differentiated leaves; only its floating outputs."""

    def call(moved: list[Any]) -> list[Any]:
        args, kwargs = held.arguments.rebuild(moved)
        return [leaf for leaf in jax.tree.leaves(function(*args, **kwargs)) if is_floating(leaf)]

    return call


def _ruled(held: Held, rule: Callable[..., Any], vector: Array) -> list[Any]:
    """What a declared rule gives for a direction: it takes (primals, tangents), tuples like the arguments."""
    arguments = held.arguments
    primals, _ = arguments.rebuild(held.inputs.split(jnp.asarray(held.point)))
    zeros = [jnp.zeros(np.shape(leaf)) if is_floating(leaf) else leaf for leaf in arguments.leaves]
    for place, part in zip(arguments.moved, held.inputs.split(jnp.asarray(vector)), strict=True):
        zeros[place] = part
    tangents, _ = jax.tree.unflatten(arguments.treedef, zeros)
    return jax.tree.leaves(rule(primals, tangents))


def _call(held: Held, function: Callable[..., Any], what: str) -> Array:
    return _vector(held, _lifted(held, function)(held.inputs.split(jnp.asarray(held.point))), what)


def _vector(held: Held, leaves: list[Any], what: str) -> Array:
    """Outputs of a declared function as one vector.

    Raises:
        GradhookError: it returns other shapes than the function.
    """
    got, wanted = [np.shape(leaf) for leaf in leaves], [leaf.shape for leaf in held.outputs.leaves]
    if got != wanted:
        raise GradhookError(f"{what} returns arrays of the shapes {got}, the function {wanted}", "they must be alike")
    return np.asarray(held.outputs.join([jnp.asarray(leaf) for leaf in leaves]))


def _numbers(given: Any, size: int) -> Array:
    flat = np.concatenate([np.asarray(leaf, dtype=np.float64).ravel() for leaf in jax.tree.leaves(given)])
    if flat.size not in (1, size):
        raise GradhookError(f"tangent= holds {flat.size} numbers, the function returns {size}", "give one for each")
    return np.broadcast_to(flat, (size,)).astype(np.float64)


def _claim(programs: Programs, held: Held, mode: Mode, vectors: Array, weights: Array) -> Array | Fault:
    try:
        if mode == "fwd":
            return programs.forward(held.point, (), vectors)
        return along(programs.reverse(held.point, (), weights if len(weights) else np.eye(held.outputs.size)), vectors)
    except Exception as error:  # whatever the user's rule raises is an answer, not an accident
        return translate(error)


def _routes(held: Held) -> dict[str, Array]:
    """The value as every transformation returns it; a route that the function does not have is left out."""
    x = jnp.asarray(held.point)
    routes: dict[str, Callable[[], Any]] = {
        "called plainly": lambda: held.call(x),
        "under jit": lambda: jax.jit(held.call)(x),
        "under vmap": lambda: jax.vmap(held.call)(x[None])[0],
        "under jvp": lambda: jax.jvp(held.call, (x,), (jnp.ones_like(x),))[0],
        "under vjp": lambda: jax.vjp(held.call, x)[0],
    }
    found = {}
    for name, run in routes.items():
        try:
            found[name] = np.asarray(run(), dtype=np.float64)
        except Exception as error:
            if name == "called plainly":
                raise
            if not held.traceable or translate(error).missing:
                continue
    return found
