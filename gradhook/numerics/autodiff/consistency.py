"""Compute the same derivative in other ways, as far as a user's code could make them differ, for comparison.

JAX's own transformations agree with each other by construction. What can break that is code that takes part in them,
and each kind of code can break some ways only:

- under ``vmap``: batching rules (``custom_vmap``), callbacks. Any other rule is traced without the batch, as in a loop;
- by ``linearize``: a custom JVP rule, which is evaluated in part;
- one argument alone: a rule with ``symbolic_zeros=True``, which sees which arguments are differentiated.

Only ways that a user's code could make differ are compared, and only where their programs are small: compiling them
must not take longer than everything else. All ways are compiled as one program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import ADJOINT
from gradhook.comparison.probe import ConsistencyPair, DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.fused import together
from gradhook.numerics.autodiff.programs import Clock, timed
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.iteration_tolerance import loops_in
from gradhook.numerics.jaxpr.traverse import definition, equations, function_of, inner, of_jax, primal_code
from gradhook.numerics.sampling import generator

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


ASIDE = (2.0**-16, 2.0**-32)
"""Other points of a batch lie this far aside, in units of the natural scale; the nearer where the farther has no value:
a neighbour outside the domain is no evidence about the point inside it."""
EQUATIONS = 4000
"""So many equations are compiled for one case, those of loops counted once: some seconds."""
Given = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class _Traced:
    """A question as a program: how many equations it has, and what its loops leave open."""

    run: Callable[..., Any]
    equations: int
    open: float


@dataclass(frozen=True)
class _Pair:
    """A way with both of its programs."""

    way: ProgramPair
    got: _Traced | DerivativeError
    expected: _Traced | DerivativeError

    @property
    def equations(self) -> int:
        return sum(part.equations for part in (self.got, self.expected) if isinstance(part, _Traced))


def routes(held: FlatFunction, modes: tuple[Mode, ...], seed: str, clock: Clock) -> list[ConsistencyPair]:
    """Every pair of programs that a user's code could make differ, with both results."""
    asked = list(ways(held.replayed, modes)) if held.traceable else []
    if not asked:
        return []
    random = generator(seed, "routes")
    tangent = directions.dense(held.inputs, held.point, random)
    cotangent = directions.combination(held.outputs.size, random)
    mapped = any(way.name == "under vmap" for way in asked)
    batch = _batch(held, tangent, clock) if mapped else held.point[None]
    given = (held.point, batch, tangent, cotangent)
    found = _pairs(asked, given)
    if any(isinstance(part, DerivativeError) for pair in found for part in (pair.got, pair.expected)):
        found = _pairs(ways(held, modes), given)  # which tells on which line of the user's it is raised
    pairs, large = _affordable(found)
    return [*_compared(pairs, given, clock), *large]


def _pairs(asked: Iterable[ProgramPair], given: Given) -> list[_Pair]:
    return [_Pair(way, _traced(way.got, given), _traced(way.expected, given)) for way in asked]


def _traced(question: PointProgram, given: Given) -> _Traced | DerivativeError:
    try:
        program = jax.make_jaxpr(question)(*given)
    except Exception as error:  # what the user's rule raises is the answer
        return classify(error)
    run = function_of(program)
    return _Traced(lambda *values: run(*values)[0], sum(1 for _ in equations(program)), loops_in(program))


def _affordable(pairs: list[_Pair]) -> tuple[list[_Pair], list[ConsistencyPair]]:
    """The pairs that are compiled, smallest first, and a skipped result for each of the others."""
    kept: list[_Pair] = []
    left: list[ConsistencyPair] = []
    total = 0
    for pair in sorted(pairs, key=lambda pair: pair.equations):
        total += pair.equations
        if total <= EQUATIONS:
            kept.append(pair)
        else:
            text = f"not asked, it takes {pair.equations} equations to compile"
            left.append(ConsistencyPair(pair.way.name, pair.way.mode, DerivativeError(True, text), np.zeros(0)))
    return [pair for pair in pairs if pair in kept], left


def _compared(pairs: list[_Pair], given: Given, clock: Clock) -> list[ConsistencyPair]:
    """Run both programs of each pair; where the results disagree, add the measured rounding."""
    programs = {f"{side} {k}": part for k, pair in enumerate(pairs) for side, part in _sides(pair)}
    answers: dict[str, Array | DerivativeError] = {
        name: part for name, part in programs.items() if isinstance(part, DerivativeError)
    }
    runs = {name: part.run for name, part in programs.items() if isinstance(part, _Traced)}
    answers |= together(runs, tuple(jnp.asarray(part) for part in given), clock)
    found = [_route(pair, answers[f"got {k}"], answers[f"expected {k}"]) for k, pair in enumerate(pairs)]
    doubtful = [k for k, route in enumerate(found) if route.wrong(ADJOINT).any()]
    for k in doubtful:
        allowed = _iteration_error(pairs[k], found[k])
        allowed = allowed + sum(rounding.of(runs[f"{side} {k}"], *given) for side in ("got", "expected"))
        found[k] = replace(found[k], allowed=allowed)
    return found


def _sides(pair: _Pair) -> list[tuple[str, _Traced | DerivativeError]]:
    return [("got", pair.got), ("expected", pair.expected)]


def _iteration_error(pair: _Pair, route: ConsistencyPair) -> Array:
    """The absolute error of each element that loops which stop at a tolerance account for."""
    parts = [part.open for part in (pair.got, pair.expected) if isinstance(part, _Traced)]
    return max(parts, default=0.0) * np.nan_to_num(np.abs(route.expected), posinf=0.0)


def _route(pair: _Pair, got: Array | DerivativeError, expected: Array | DerivativeError) -> ConsistencyPair:
    if isinstance(expected, DerivativeError):  # reported where the mode itself is checked
        return ConsistencyPair(pair.way.name, pair.way.mode, DerivativeError(True, expected.message), np.zeros(0))
    return ConsistencyPair(pair.way.name, pair.way.mode, got, expected)


def _batch(held: FlatFunction, tangent: Array, clock: Clock) -> Array:
    """The point and two tiny perturbations of it, as far as they have finite values; else the point again."""
    moved = directions.step_limits(held.inputs, held.point, tangent[None])
    ahead, back = moved.max_step_forward[0] / 4, moved.max_step_backward[0] / 4
    near = [step * moved.scale[0] for step in ASIDE]
    aside = [min(room, step) * sign for step in near for room, sign in ((back, -1), (ahead, 1))]
    points = np.stack([held.point, *(held.point + step * tangent for step in aside)])
    try:
        values = timed(clock, lambda xs: jax.lax.map(held.replayed.call, xs), points)
    except Exception:  # a function may refuse what lies outside its domain
        values = np.full((len(points), 1), np.nan)
    there = np.isfinite(values)
    alike = [point for point, has in zip(points[1:], there[1:], strict=True) if has.any() and (has == there[0]).all()]
    return np.stack([held.point, *[*alike, held.point, held.point][:2]])
