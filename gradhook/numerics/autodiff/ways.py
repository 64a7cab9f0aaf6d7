"""Other ways to compute the same derivative, as far as a user's code could make them differ.

JAX's own transformations agree with each other by construction. What can break that is code that takes part in them,
and each kind of code can break some ways only:

- under ``vmap``: batching rules (``custom_vmap``), callbacks. Any other rule is traced without the batch, as in a loop;
- by ``linearize``: a custom JVP rule, which is evaluated in part;
- one argument alone: a rule with ``symbolic_zeros=True``, which sees which arguments are differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.model.results import Mode
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.traverse import definition, equations, inner, of_jax, primal_code

PointProgram = Callable[[Any, Any, Any, Any], Any]
"""Of a point (n,), a batch of points (3, n), a tangent (n,) and a cotangent (m,)."""
_UNKNOWN = "call_hi_primitive"
"""A rule of which nothing is known: it may do anything."""
_BATCHING = ("custom_vmap", "callback", "ffi_call", _UNKNOWN)
_FORWARD = ("custom_jvp", "custom_vmap", _UNKNOWN)
_PARTAKING = ("custom_", "callback", _UNKNOWN)
_WRAPPERS = "custom_derivatives.py"
"""Where JAX defines what ``jax.custom_gradient`` puts around a user's function."""


@dataclass(frozen=True)
class ProgramPair:
    """One comparison: two programs that must give the same."""

    name: str
    mode: Mode | None
    got: PointProgram
    expected: PointProgram


def ways(held: FlatFunction, modes: tuple[Mode, ...]) -> Iterator[ProgramPair]:
    """Every pair of programs that a user's code could make differ; none where no such code takes part."""
    own = [e for e in equations(held.jaxpr) if _named(e, _PARTAKING) and _is_of_a_user(e)]
    if not own:
        return
    yield from _mapped(held, modes)
    if "fwd" in modes and any(_named(e, _FORWARD) for e in own):
        yield ProgramPair("by linearize", "fwd", lambda x, _, t, w: jax.linearize(held.call, x)[1](t), forward(held))
    if any(e.params.get("symbolic_zeros") or _named(e, (_UNKNOWN,)) for e in own):
        yield from _alone(held, modes)


def _named(equation: Any, parts: tuple[str, ...]) -> bool:
    return any(part in equation.primitive.name for part in parts)


def _is_of_a_user(equation: Any) -> bool:
    code = primal_code(equation)
    paths = [definition(part)[1] for part in (inner(equation) if code is None else [code])]
    return not paths or not all(of_jax(path) and not path.endswith(_WRAPPERS) for path in paths)


def forward(held: FlatFunction) -> PointProgram:
    """The derivative along the tangent."""
    return lambda x, _, t, w: jax.jvp(held.call, (x,), (t,))[1]


def reverse(held: FlatFunction) -> PointProgram:
    """The gradient for the cotangent."""
    return lambda x, _, t, w: jax.vjp(held.call, x)[1](w)[0]


def _mapped(held: FlatFunction, modes: tuple[Mode, ...]) -> Iterator[ProgramPair]:
    questions: dict[Mode | None, PointProgram] = {None: lambda x, _, t, w: held.call(x)}
    questions |= {mode: ask(held) for mode, ask in (("fwd", forward), ("rev", reverse)) if mode in modes}
    for mode, ask in questions.items():
        if _is_batched_by_a_user(held, ask):
            yield ProgramPair("under vmap", mode, _by(jax.vmap, ask), _by(_in_a_loop, ask))


def _is_batched_by_a_user(held: FlatFunction, ask: PointProgram) -> bool:
    x = jnp.asarray(held.point)
    try:
        program = jax.make_jaxpr(lambda x, w: ask(x, None, x, w))(x, jnp.ones(held.outputs.size))
    except Exception:  # the question of the mode itself reports what it raises
        return False
    return any(_named(e, _BATCHING) and _is_of_a_user(e) for e in equations(program))


def _by(mapping: Callable[[Any], Any], ask: PointProgram) -> PointProgram:
    return lambda x, batch, t, w: mapping(lambda y: ask(y, None, t, w))(batch)


def _in_a_loop(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda batch: jax.lax.map(function, batch)


def _alone(held: FlatFunction, modes: tuple[Mode, ...]) -> Iterator[ProgramPair]:
    """Differentiate each argument alone: the others are constants, which a rule may treat specially."""
    arguments = list(dict.fromkeys(leaf.argument for leaf in held.inputs.leaves))
    for name in arguments if len(arguments) > 1 else ():
        part = _Part(held, [leaf.argument == name for leaf in held.inputs.leaves])
        if "fwd" in modes:
            yield ProgramPair(f"{name} alone", "fwd", part.forward, part.masked)
        if "rev" in modes:
            yield ProgramPair(f"{name} alone", "rev", part.reverse, part.of_all)


@dataclass(frozen=True)
class _Part:
    """The function of some of its leaves, with the others constant."""

    held: FlatFunction
    chosen: list[bool]

    @property
    def mask(self) -> Any:
        return np.repeat(self.chosen, [leaf.size for leaf in self.held.inputs.leaves])

    def masked(self, x: Any, _: Any, t: Any, w: Any) -> Any:
        """The derivative in all leaves, along a tangent that moves only these."""
        return jax.jvp(self.held.call, (x,), (jnp.where(self.mask, t, 0.0),))[1]

    def of_all(self, x: Any, _: Any, t: Any, w: Any) -> Any:
        """The part of the gradient in all leaves that belongs to these."""
        return reverse(self.held)(x, _, t, w)[self.mask]

    def forward(self, x: Any, _: Any, t: Any, w: Any) -> Any:
        leaves, tangents = (self._some(self.held.inputs.split(vector)) for vector in (x, t))
        return jax.jvp(self._call(x), (leaves,), (tangents,))[1]

    def reverse(self, x: Any, _: Any, t: Any, w: Any) -> Any:
        some = jax.vjp(self._call(x), self._some(self.held.inputs.split(x)))[1](w)[0]
        every = [jnp.zeros(leaf.shape) for leaf in self.held.inputs.leaves]
        return self.held.inputs.join(self._fill(every, some))[self.mask]

    def _some(self, leaves: list[Any]) -> list[Any]:
        return [leaf for leaf, wanted in zip(leaves, self.chosen, strict=True) if wanted]

    def _fill(self, leaves: list[Any], some: list[Any]) -> list[Any]:
        given = iter(some)
        return [next(given) if wanted else leaf for leaf, wanted in zip(leaves, self.chosen, strict=True)]

    def _call(self, x: Any) -> Callable[[list[Any]], Any]:
        return lambda some: self.held.of_leaves(self._fill(self.held.inputs.split(x), some))
