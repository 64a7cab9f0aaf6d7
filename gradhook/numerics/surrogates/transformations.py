"""Put around a rule every transformation that a model may, and differentiate in some arguments only.

A rule sees arguments that are not differentiated as symbolic zeros, and arguments that are not mapped without a batch
axis: neither is what it sees when everything moves.

Each composition is compared, in one compiled program, with the plain derivative at the same points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.probe import ConsistencyPair, DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.fused import together
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.flatten import LeafInfo
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.iteration_tolerance import derivative_stops
from gradhook.numerics.sampling import generator, sample

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


def composition(held: FlatFunction, modes: tuple[Mode, ...], seed: str, clock: Clock) -> tuple[ConsistencyPair, ...]:
    """Every composition that a mode of the function allows."""
    arguments = _arguments(held, seed)
    asked = _asked(held.replayed if held.traceable else held, modes)
    answers = _answers(asked, arguments, clock)
    if held.traceable and any(isinstance(answer, DerivativeError) for answer in answers.values()):
        asked = _asked(held, modes)  # which tells on which line of the user's it is raised
        answers = _answers(asked, arguments, clock)
    pairs = []
    for c in asked:
        pair = _trial(c, answers[_key(c)], answers[f"plain {id(c.plain)}"])
        pairs.append(pair.rounded(SURROGATE, partial(_rounding, c, arguments)))
    return tuple(pairs)


def _asked(held: FlatFunction, modes: tuple[Mode, ...]) -> list[Composition]:
    asked = [*_values(held.call), *(c for mode in modes for c in [*_mode(held, mode), *apart(held, mode)])]
    if "rev" not in modes:  # what is linearized is evaluated in part, as reverse mode does
        asked = [c for c in asked if c.name != "linearize"]
    return asked


def _answers(
    asked: list[Composition], arguments: tuple[Array, ...], clock: Clock
) -> dict[str, Array | DerivativeError]:
    plain = {f"plain {id(c.plain)}": c.plain for c in asked}
    return together({_key(c): c.ask for c in asked} | plain, arguments, clock)


def _rounding(composed: Composition, arguments: tuple[Array, Array, Array]) -> Array:
    return rounding.of(composed.plain, *arguments) + rounding.of(composed.ask, *arguments)


def _key(composed: Composition) -> str:
    return f"{composed.mode} {composed.name}"


def _trial(composed: Composition, got: Array | DerivativeError, plain: Array | DerivativeError) -> ConsistencyPair:
    if isinstance(plain, DerivativeError):  # the mode itself does not exist, or its error is reported elsewhere
        return ConsistencyPair(composed.name, composed.mode, DerivativeError(True, plain.message), np.zeros(0))
    if composed.mode and not isinstance(got, DerivativeError):
        # 0 times infinity is nan in one composition and left out in another: such a derivative is another question's.
        plain = np.where(np.isfinite(plain), plain, got)
    return ConsistencyPair(composed.name, composed.mode, got, plain)


def _arguments(held: FlatFunction, seed: str) -> tuple[Array, Array, Array]:
    """Two points, tangents and cotangents."""
    random = generator(seed, "composition")
    other = np.concatenate([_other(leaf, part, random) for leaf, part in _parts(held)])
    points = np.stack([held.point, other])
    tangents = np.stack([directions.dense(held.inputs, held.point, random) for _ in range(2)])
    return points, tangents, directions.mixed((2, held.outputs.size), random)


def _parts(held: FlatFunction) -> Iterator[tuple[LeafInfo, Array]]:
    start = 0
    for leaf in held.inputs.leaves:
        yield leaf, held.point[start : start + leaf.size]
        start += leaf.size


def _other(leaf: LeafInfo, part: Array, random: np.random.Generator) -> Array:
    """Another value of an argument: drawn anew, or the given elements in reverse order."""
    if leaf.spec is None or leaf.complex:
        return part[::-1] if not leaf.complex else part
    return np.asarray(sample(leaf.spec, random), dtype=np.float64).ravel()


def _values(f: Any) -> Iterator[Composition]:
    def rows(x: Any, t: Any, w: Any) -> Any:
        return jnp.stack([f(x[0]), f(x[1])])

    yield Composition("jit", None, lambda x, t, w: jax.jit(f)(x[0]), lambda x, t, w: f(x[0]))
    yield Composition("vmap", None, lambda x, t, w: jax.vmap(f)(x), rows)


def _mode(held: FlatFunction, mode: Mode) -> Iterator[Composition]:
    f = held.call
    derive = _pushed if mode == "fwd" else _pulled
    word = "jvp" if mode == "fwd" else "grad"
    first, both = _first(derive, f), _rows(derive, f)
    wrapped = {"jit": jax.jit(f), "checkpoint": jax.checkpoint(f), "cond": _cond(f), "scan": _scan(f)}
    if mode == "fwd":
        wrapped["while_loop"] = _while(f)
        yield Composition("linearize", mode, _first(_linearized, f), first)
    for name, g in wrapped.items():
        yield Composition(f"{word} of {name}", mode, _first(derive, g), first)
    yield Composition(
        f"vmap of {word}", mode, lambda x, t, w: jax.vmap(lambda x, t, w: derive(f, x, t, w))(x, t, w), both
    )
    yield Composition(f"{word} of vmap", mode, lambda x, t, w: derive(jax.vmap(f), x, t, w), both)
    if _nests(held, mode):
        yield Composition(f"{word} of two nested calls", mode, _first(derive, lambda x: f(f(x))), _chained(derive, f))


def _nests(held: FlatFunction, mode: Mode) -> bool:
    """Whether the function may be called on its own output.

    Shapes must fit, and no loop may stop at a tolerance: outside of its domain it may never do so.
    """
    fits = [leaf.shape for leaf in held.inputs.leaves] == [leaf.shape for leaf in held.outputs.leaves]
    return fits and not derivative_stops(held, mode)


def _pushed(f: Any, x: Any, t: Any, w: Any) -> Any:
    return jax.jvp(f, (x,), (t,))[1]


def _pulled(f: Any, x: Any, t: Any, w: Any) -> Any:
    return jax.vjp(f, x)[1](w)[0]


def _linearized(f: Any, x: Any, t: Any, w: Any) -> Any:
    return jax.linearize(f, x)[1](t)


def _first(derive: Any, f: Any) -> TwoPointProgram:
    return lambda x, t, w: derive(f, x[0], t[0], w[0])


def _rows(derive: Any, f: Any) -> TwoPointProgram:
    return lambda x, t, w: jnp.stack([derive(f, x[k], t[k], w[k]) for k in range(2)])


def _chained(derive: Any, f: Any) -> TwoPointProgram:
    """The chain rule for f(f(x)), by hand."""

    def ask(x: Any, t: Any, w: Any) -> Any:
        inner = f(x[0])
        if derive is _pushed:
            return _pushed(f, inner, _pushed(f, x[0], t[0], w[0]), w[0])
        return _pulled(f, x[0], t[0], _pulled(f, inner, t[0], w[0]))

    return ask


def _cond(f: Any) -> Any:
    return lambda x: jax.lax.cond(jnp.logical_or(x.sum() > 0, True), f, lambda x: f(x) * 2, x)


def _scan(f: Any) -> Any:
    return lambda x: jax.lax.scan(lambda carry, x: (carry, f(x)), 0.0, x[None])[1][0]


def _while(f: Any) -> Any:
    def run(x: Any) -> Any:
        start = (0, jnp.zeros_like(f(x)))
        return jax.lax.while_loop(lambda state: state[0] < 1, lambda state: (state[0] + 1, f(x)), start)[1]

    return run
