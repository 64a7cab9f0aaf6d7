"""Does a rule survive every transformation that a model puts around it?

Each composition is compared, in one compiled program, with the plain derivative at the same points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.contracts import Trial
from gradhook.model import Mode
from gradhook.numerics import directions
from gradhook.numerics.differences import Array
from gradhook.numerics.drawing import draw, generator
from gradhook.numerics.held import Held
from gradhook.numerics.programs import Clock
from gradhook.numerics.surrogates.programs import together
from gradhook.numerics.trees import Leaf
from gradhook.probe import Fault

Question = Callable[[Any, Any, Any], Any]
"""Of two points (2, n), their tangents (2, n) and cotangents (2, m)."""
ALL_SUBSETS = 3
"""Up to so many arguments every subset is differentiated; of more, each alone and all but one."""


@dataclass(frozen=True)
class Composed:
    """A question, in which mode it is asked, and which plain answer it must equal."""

    name: str
    mode: Mode | None
    ask: Question
    plain: Question


def composition(held: Held, modes: tuple[Mode, ...], seed: str, clock: Clock) -> tuple[Trial, ...]:
    """Every composition that a mode of the function allows."""
    asked = [*_values(held.call), *(c for mode in modes for c in _mode(held, mode))]
    arguments = _arguments(held, seed)
    plain = {f"plain {_key(c)}": c.plain for c in asked}
    answers = together({_key(c): c.ask for c in asked} | plain, arguments, clock)
    return tuple(_trial(c, answers[_key(c)], answers[f"plain {_key(c)}"]) for c in asked)


def _key(composed: Composed) -> str:
    return f"{composed.mode} {composed.name}"


def _trial(composed: Composed, got: Array | Fault, plain: Array | Fault) -> Trial:
    if isinstance(plain, Fault):  # the mode itself does not exist, or its fault is told elsewhere
        return Trial(composed.name, composed.mode, Fault(True, plain.message), np.zeros(0))
    return Trial(composed.name, composed.mode, got, plain)


def _arguments(held: Held, seed: str) -> tuple[Array, Array, Array]:
    """Two points, tangents and cotangents."""
    random = generator(seed, "composition")
    other = np.concatenate([_other(leaf, part, random) for leaf, part in _parts(held)])
    points = np.stack([held.point, other])
    tangents = np.stack([directions.dense(held.inputs, held.point, random) for _ in range(2)])
    return points, tangents, random.choice([-1.25, -1.0, -0.75, 0.75, 1.0, 1.25], (2, held.outputs.size))


def _parts(held: Held) -> Iterator[tuple[Leaf, Array]]:
    start = 0
    for leaf in held.inputs.leaves:
        yield leaf, held.point[start : start + leaf.size]
        start += leaf.size


def _other(leaf: Leaf, part: Array, random: np.random.Generator) -> Array:
    """Another value of an argument: drawn anew, or the given elements in reverse order."""
    if leaf.spec is None or leaf.complex:
        return part[::-1] if not leaf.complex else part
    return np.asarray(draw(leaf.spec, random), dtype=np.float64).ravel()


def _values(f: Any) -> Iterator[Composed]:
    def rows(x: Any, t: Any, w: Any) -> Any:
        return jnp.stack([f(x[0]), f(x[1])])

    yield Composed("jit", None, lambda x, t, w: jnp.stack([jax.jit(f)(x[0]), jax.jit(f)(x[1])]), rows)
    yield Composed("vmap", None, lambda x, t, w: jax.vmap(f)(x), rows)


def _mode(held: Held, mode: Mode) -> Iterator[Composed]:
    f = held.call
    derive = _pushed if mode == "fwd" else _pulled
    word = "jvp" if mode == "fwd" else "grad"
    plain = _rows(derive, f, f)
    wrapped = {"jit": jax.jit(f), "checkpoint": jax.checkpoint(f), "cond": _cond(f), "scan": _scan(f)}
    if mode == "fwd":
        wrapped["while_loop"] = _while(f)
        yield Composed("linearize", mode, _rows(_linearized, f, f), plain)
    for name, g in wrapped.items():
        yield Composed(f"{word} of {name}", mode, _rows(derive, g, g), plain)
    yield Composed(f"vmap of {word}", mode, lambda x, t, w: jax.vmap(lambda x, t, w: derive(f, x, t, w))(x, t, w), plain)
    yield Composed(f"{word} of vmap", mode, lambda x, t, w: derive(jax.vmap(f), x, t, w), plain)
    yield from _arguments_apart(held, mode, derive, word)
    if [leaf.shape for leaf in held.inputs.leaves] == [leaf.shape for leaf in held.outputs.leaves]:
        yield Composed(f"{word} of two nested calls", mode, _rows(derive, lambda x: f(f(x)), f), _chained(derive, f))


def _pushed(f: Any, x: Any, t: Any, w: Any) -> Any:
    return jax.jvp(f, (x,), (t,))[1]


def _pulled(f: Any, x: Any, t: Any, w: Any) -> Any:
    return jax.vjp(f, x)[1](w)[0]


def _linearized(f: Any, x: Any, t: Any, w: Any) -> Any:
    return jax.linearize(f, x)[1](t)


def _rows(derive: Any, first: Any, second: Any) -> Question:
    return lambda x, t, w: jnp.stack([derive(first, x[0], t[0], w[0]), derive(second, x[1], t[1], w[1])])


def _chained(derive: Any, f: Any) -> Question:
    """The chain rule for f(f(x)), by hand, at the first point; f itself at the second."""

    def ask(x: Any, t: Any, w: Any) -> Any:
        inner = f(x[0])
        if derive is _pushed:
            first = _pushed(f, inner, _pushed(f, x[0], t[0], w[0]), w[0])
        else:
            first = _pulled(f, x[0], t[0], _pulled(f, inner, t[0], w[0]))
        return jnp.stack([first, derive(f, x[1], t[1], w[1])])

    return ask


def _cond(f: Any) -> Any:
    return lambda x: jax.lax.cond(x.sum() < jnp.inf, f, lambda x: f(x) * 2, x)


def _scan(f: Any) -> Any:
    return lambda x: jax.lax.scan(lambda carry, x: (carry, f(x)), 0.0, x[None])[1][0]


def _while(f: Any) -> Any:
    def run(x: Any) -> Any:
        start = (0, jnp.zeros_like(f(x)))
        return jax.lax.while_loop(lambda state: state[0] < 1, lambda state: (state[0] + 1, f(x)), start)[1]

    return run


def _arguments_apart(held: Held, mode: Mode, derive: Any, word: str) -> Iterator[Composed]:
    """Some of the arguments differentiated, the others constant; one of them mapped, the others not."""
    sizes = [leaf.size for leaf in held.inputs.leaves]
    names = [leaf.name for leaf in held.inputs.leaves]
    if len(sizes) < 2:
        return
    places = np.repeat(np.arange(len(sizes)), sizes)
    for subset in _subsets(len(sizes)):
        inside = np.isin(places, subset)
        title = f"{word} with respect to {', '.join(names[k] for k in subset)} only"
        yield Composed(title, mode, _partly(held.call, derive, inside), _masked(held.call, derive, inside))
    for k, name in enumerate(names):
        only = places == k
        yield Composed(f"vmap of {word} over {name} only", mode, _mixed(held.call, derive, only), _unmixed(held.call, derive, only))


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    sizes = range(1, count) if count <= ALL_SUBSETS else sorted({1, count - 1})
    for size in sizes:
        yield from combinations(range(count), size)


def _partly(f: Any, derive: Any, inside: Any) -> Question:
    """The derivative in some coordinates, the others being no variables at all."""
    places = np.nonzero(inside)[0]

    def ask(x: Any, t: Any, w: Any) -> Any:
        def rest(k: int) -> Any:
            return lambda part: f(_filled(x[k], inside, places, part))

        rows = [derive(rest(k), x[k][places], t[k][places], w[k]) for k in range(2)]
        return jnp.stack(rows)

    return ask


def _filled(x: Any, inside: Any, places: Any, part: Any) -> Any:
    """A vector whose other coordinates stay the constants that they are (a scatter would make them variables)."""
    order = np.cumsum(inside) - 1
    runs, start = [], 0
    for stop in [*np.nonzero(np.diff(inside))[0] + 1, len(inside)]:
        runs.append(part[order[start] : order[start] + stop - start] if inside[start] else x[start:stop])
        start = stop
    return jnp.concatenate(runs)


def _masked(f: Any, derive: Any, inside: Any) -> Question:
    if derive is _pushed:
        return lambda x, t, w: jnp.stack([derive(f, x[k], jnp.where(inside, t[k], 0.0), w[k]) for k in range(2)])
    return lambda x, t, w: jnp.stack([derive(f, x[k], t[k], w[k])[np.nonzero(inside)[0]] for k in range(2)])


def _mixed(f: Any, derive: Any, only: Any) -> Question:
    places = np.nonzero(only)[0]

    def ask(x: Any, t: Any, w: Any) -> Any:
        def one(part: Any) -> Any:
            return derive(lambda x: f(x), _filled(x[0], only, places, part), t[0], w[0])

        return jax.vmap(one)(x[:, places])

    return ask


def _unmixed(f: Any, derive: Any, only: Any) -> Question:
    return lambda x, t, w: jnp.stack([derive(f, jnp.where(only, x[k], x[0]), t[0], w[0]) for k in range(2)])
