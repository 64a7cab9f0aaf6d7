"""Put around a rule every transformation that a model may put around it.

Each composition is compared, in one compiled program, with the plain derivative at the same points.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.probe import ConsistencyPair, DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.autodiff.together import together
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.flatten import LeafInfo
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.continued_iteration import has_stops
from gradhook.numerics.sampling import generator, sample
from gradhook.numerics.surrogates.argument_subsets import Composition, TwoPointProgram, apart


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
    if _nests(held, derive):
        yield Composition(f"{word} of two nested calls", mode, _first(derive, lambda x: f(f(x))), _chained(derive, f))


def _nests(held: FlatFunction, derive: Any) -> bool:
    """Whether the function may be called on its own output.

    Shapes must fit, and no loop may stop at a tolerance: outside of its domain it may never do so.
    """
    if [leaf.shape for leaf in held.inputs.leaves] != [leaf.shape for leaf in held.outputs.leaves]:
        return False
    if not held.traceable:
        return True
    x, w = jnp.zeros(held.inputs.size), jnp.zeros(held.outputs.size)
    try:
        return not has_stops(jax.make_jaxpr(lambda x, w: derive(held.call, x, x, w))(x, w))
    except Exception:  # reported where the mode itself runs
        return True


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
