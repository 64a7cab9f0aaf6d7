"""Which other ways are there to compute the same derivative, and what do they give?

JAX's own transformations agree with each other by construction. What can break that is code that takes part in them:
custom rules, custom batching rules, callbacks. Only functions that contain such code are asked; that which JAX brings
is not a user's. All ways are compiled as one program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.probe import Fault, Route
from gradhook.model import Mode
from gradhook.numerics.drawing import generator
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.held import Held
from gradhook.numerics.jaxprs import definition, equations, inner, of_jax, primal_code
from gradhook.numerics.programs import Clock
from gradhook.numerics.together import together

ASIDE = 1 / 64
"""Other points of a batch lie this far aside, in units of the natural scale."""
_PARTAKING = ("custom_", "callback", "call_hi_primitive")
_WRAPPERS = "custom_derivatives.py"
"""Where JAX defines what ``jax.custom_gradient`` puts around a user's function."""


@dataclass(frozen=True)
class _Way:
    """One comparison: two programs of a point that must give the same."""

    name: str
    mode: Mode | None
    got: Callable[[Any], Any]
    expected: Callable[[Any], Any]


def routes(held: Held, modes: tuple[Mode, ...], seed: str, clock: Clock) -> list[Route]:
    """Every comparison that applies; empty where no code of a user takes part in JAX's transformations."""
    if not held.traceable or not _partakes(held):
        return []
    random = generator(seed, "routes")
    tangent = directions.dense(held.inputs, held.point, random)
    cotangent = directions.combination(held.outputs.size, random)
    batch = jnp.asarray(_batch(held, tangent))
    ways = list(_ways(held, modes, tangent, cotangent, batch))
    got = {f"got {k}": way.got for k, way in enumerate(ways)}
    expected = {f"expected {k}": way.expected for k, way in enumerate(ways)}
    answers = together(got | expected, (jnp.asarray(held.point),), clock)
    return [_route(way, answers[f"got {k}"], answers[f"expected {k}"]) for k, way in enumerate(ways)]


def _route(way: _Way, got: Array | Fault, expected: Array | Fault) -> Route:
    if isinstance(expected, Fault):  # told by the question about the mode itself
        return Route(way.name, way.mode, Fault(True, expected.message), np.zeros(0), np.zeros(0))
    size = np.maximum(np.abs(expected), np.abs(expected).max(initial=0.0))
    return Route(way.name, way.mode, got, expected, size)


def _partakes(held: Held) -> bool:
    return any(_is_of_a_user(e) for e in equations(held.jaxpr) if any(name in e.primitive.name for name in _PARTAKING))


def _is_of_a_user(equation: Any) -> bool:
    code = primal_code(equation)
    paths = [definition(part)[1] for part in (inner(equation) if code is None else [code])]
    return not paths or not all(of_jax(path) and not path.endswith(_WRAPPERS) for path in paths)


def _batch(held: Held, tangent: Array) -> Array:
    """Three different points: the held one, and one to each side as far as the domain allows."""
    moved = directions.lines_of(held.inputs, held.point, tangent[None])
    room = np.minimum(np.array([moved.room_back[0], moved.room_ahead[0]]) / 4, ASIDE * moved.scale[0])
    return np.stack([held.point, held.point - room[0] * tangent, held.point + room[1] * tangent])


def _ways(held: Held, modes: tuple[Mode, ...], tangent: Array, cotangent: Array, batch: Any) -> Iterator[_Way]:
    forward, reverse = _forward(held.call, tangent), _reverse(held.call, cotangent)
    yield _Way("under vmap", None, lambda _: jax.vmap(held.call)(batch), lambda _: jax.lax.map(held.call, batch))
    if "fwd" in modes:
        yield _Way("under vmap", "fwd", lambda _: jax.vmap(forward)(batch), lambda _: jax.lax.map(forward, batch))
        yield _Way("by linearize", "fwd", lambda x: jax.linearize(held.call, x)[1](jnp.asarray(tangent)), forward)
    if "rev" in modes:
        yield _Way("under vmap", "rev", lambda _: jax.vmap(reverse)(batch), lambda _: jax.lax.map(reverse, batch))
    yield from _alone(held, modes, tangent, cotangent)


def _forward(call: Callable[[Any], Any], tangent: Any) -> Callable[[Any], Any]:
    return lambda x: jax.jvp(call, (x,), (jnp.asarray(tangent),))[1]


def _reverse(call: Callable[[Any], Any], cotangent: Any) -> Callable[[Any], Any]:
    return lambda x: jax.vjp(call, x)[1](jnp.asarray(cotangent))[0]


def _alone(held: Held, modes: tuple[Mode, ...], tangent: Array, cotangent: Array) -> Iterator[_Way]:
    """Each argument differentiated alone: the others are constants then, which a rule may treat in its own way."""
    arguments = list(dict.fromkeys(leaf.argument for leaf in held.inputs.leaves))
    for name in arguments if len(arguments) > 1 else ():
        part = _Part(held, [leaf.argument == name for leaf in held.inputs.leaves])
        if "fwd" in modes:
            masked = np.where(part.mask, tangent, 0.0)
            yield _Way(f"{name} alone", "fwd", part.forward(tangent), _forward(held.call, masked))
        if "rev" in modes:
            yield _Way(f"{name} alone", "rev", part.reverse(cotangent), part.of(_reverse(held.call, cotangent)))


@dataclass(frozen=True)
class _Part:
    """The function of some of its leaves, with the others constant."""

    held: Held
    chosen: list[bool]

    @property
    def mask(self) -> Any:
        return np.repeat(self.chosen, [leaf.size for leaf in self.held.inputs.leaves])

    def of(self, whole: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The part of a gradient that belongs to these leaves."""
        return lambda x: whole(x)[self.mask]

    def forward(self, tangent: Array) -> Callable[[Any], Any]:
        tangents = self._some(self.held.inputs.split(jnp.asarray(tangent)))
        return lambda x: jax.jvp(self._call(x), (self._some(self.held.inputs.split(x)),), (tangents,))[1]

    def reverse(self, cotangent: Array) -> Callable[[Any], Any]:
        def pulled(x: Any) -> Any:
            some = jax.vjp(self._call(x), self._some(self.held.inputs.split(x)))[1](jnp.asarray(cotangent))[0]
            every = [jnp.zeros(leaf.shape) for leaf in self.held.inputs.leaves]
            return self.held.inputs.join(self._fill(every, some))[self.mask]

        return pulled

    def _some(self, leaves: list[Any]) -> list[Any]:
        return [leaf for leaf, wanted in zip(leaves, self.chosen, strict=True) if wanted]

    def _fill(self, leaves: list[Any], some: list[Any]) -> list[Any]:
        given = iter(some)
        return [next(given) if wanted else leaf for leaf, wanted in zip(leaves, self.chosen, strict=True)]

    def _call(self, x: Any) -> Callable[[list[Any]], Any]:
        return lambda some: self.held.of_leaves(self._fill(self.held.inputs.split(x), some))
