"""Differentiate in some arguments, and compare with the derivative in all of them.

A rule sees arguments that are not differentiated as symbolic zeros, and arguments that are not mapped without a batch
axis: neither is what it sees when everything moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.model.results import Mode
from gradhook.numerics.function import FlatFunction

TwoPointProgram = Callable[[Any, Any, Any], Any]
"""Of two points (2, n), their tangents (2, n) and cotangents (2, m)."""
ALL_SUBSETS = 3
"""Up to so many arguments every subset is differentiated; of more, each alone and all but one."""


@dataclass(frozen=True)
class Composition:
    """A program and the plain program whose result it must equal."""

    name: str
    mode: Mode | None
    ask: TwoPointProgram
    plain: TwoPointProgram


def apart(held: FlatFunction, mode: Mode) -> Iterator[Composition]:
    """Differentiate every subset of the arguments; map every argument alone."""
    names = [leaf.name for leaf in held.inputs.leaves]
    word = "jvp" if mode == "fwd" else "grad"
    if len(names) < 2:
        return
    call = held.of_leaves  # in a vector, constants would become variables
    for subset in _subsets(len(names)):
        title = f"{word} with respect to {', '.join(names[k] for k in subset)} only"
        yield Composition(title, mode, _partly(held, call, mode, subset), _part(held, call, mode, subset))
    for k, name in enumerate(names):
        yield Composition(
            f"vmap of {word} over {name} only", mode, _mapped(held, call, mode, k), _looped(held, call, mode, k)
        )


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, count) if count <= ALL_SUBSETS else sorted({1, count - 1}):
        yield from combinations(range(count), size)


def _derive(call: Any, mode: Mode, leaves: list[Any], tangents: list[Any], w: Any) -> Any:
    """The derivative along tangents, or all gradients in one vector."""
    if mode == "fwd":
        return jax.jvp(call, (leaves,), (tangents,))[1]
    return jnp.concatenate([_flat(gradient) for gradient in jax.vjp(call, leaves)[1](w)[0]])


def _flat(leaf: Any) -> Any:
    flat = jnp.ravel(leaf)
    return jnp.concatenate([flat.real, flat.imag]) if jnp.iscomplexobj(flat) else flat


def _partly(held: FlatFunction, call: Any, mode: Mode, subset: tuple[int, ...]) -> TwoPointProgram:
    """The derivative in some leaves, with the others constant."""

    def at(x: Any, t: Any, w: Any) -> Any:
        leaves, tangents = held.inputs.split(x), held.inputs.split(t)

        def some(part: list[Any]) -> Any:
            chosen = dict(zip(subset, part, strict=True))
            return call([chosen.get(k, leaf) for k, leaf in enumerate(leaves)])

        return _derive(some, mode, [leaves[k] for k in subset], [tangents[k] for k in subset], w)

    return lambda x, t, w: jnp.stack([at(x[k], t[k], w[k]) for k in range(2)])


def _part(held: FlatFunction, call: Any, mode: Mode, subset: tuple[int, ...]) -> TwoPointProgram:
    """The same numbers out of the derivative in all leaves."""
    sizes = [leaf.size for leaf in held.inputs.leaves]
    inside = np.isin(np.repeat(np.arange(len(sizes)), sizes), subset)

    def at(x: Any, t: Any, w: Any) -> Any:
        t = jnp.where(inside, t, 0.0)
        every = _derive(call, mode, held.inputs.split(x), held.inputs.split(t), w)
        return every if mode == "fwd" else every[np.nonzero(inside)[0]]

    return lambda x, t, w: jnp.stack([at(x[k], t[k], w[k]) for k in range(2)])


def _mapped(held: FlatFunction, call: Any, mode: Mode, only: int) -> TwoPointProgram:
    def ask(x: Any, t: Any, w: Any) -> Any:
        first, second, tangents = (held.inputs.split(v) for v in (x[0], x[1], t[0]))
        leaves = [jnp.stack([a, b]) if k == only else a for k, (a, b) in enumerate(zip(first, second, strict=True))]
        axes = [0 if k == only else None for k in range(len(leaves))]
        return jax.vmap(lambda leaves: _derive(call, mode, leaves, tangents, w[0]), (axes,))(leaves)

    return ask


def _looped(held: FlatFunction, call: Any, mode: Mode, only: int) -> TwoPointProgram:
    def ask(x: Any, t: Any, w: Any) -> Any:
        first, second, tangents = (held.inputs.split(v) for v in (x[0], x[1], t[0]))
        other = [b if k == only else a for k, (a, b) in enumerate(zip(first, second, strict=True))]
        return jnp.stack([_derive(call, mode, leaves, tangents, w[0]) for leaves in (first, other)])

    return ask
