"""Find the equation or the step of a loop that first makes a result infinite or nan, and its usual cause.

The program's jaxpr is run once with a flag for every variable; then the bad result is followed back to the equation
that made it from good inputs, into the calls, branches and loops on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.probe import NonfiniteSource
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivatives import Differentiator
from gradhook.numerics.autodiff.programs import compiled
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.traverse import Place

Values = Sequence[Any]
Names = Sequence[str]
"""The primitives that made the inputs; empty for inputs of the program."""
_UNSELECTED = " in an unselected branch of where()"


def cause(equation: Any, values: Values, makers: Names) -> str:
    """The cause in a few words, from the inputs ``values``; empty where none is known."""
    explain = _CAUSES.get(equation.primitive.name)
    return explain(values, makers) if explain is not None and values else ""


def _zero(value: Any) -> bool:
    return bool((value == 0).any())


def _infinite(value: Any) -> bool:
    return bool(np.isinf(value).any())


def _division(values: Values, makers: Names) -> str:
    above, below = np.broadcast_arrays(*values)
    if (np.isinf(above) & np.isinf(below)).any():
        return "inf / inf"
    if not _zero(below):
        return "overflow"
    if makers[1] in ("sqrt", "rsqrt"):
        return "sqrt or norm at 0"
    if not ((above == 0) & (below == 0)).any():
        return "division by 0"
    return "0 / 0" + (_UNSELECTED if makers[0] == "select_n" else "")


def _product(values: Values, makers: Names) -> str:
    if not any(_infinite(value) for value in values):
        return "overflow"
    of_where = any(maker == "select_n" and _zero(value) for maker, value in zip(makers, values, strict=True))
    return "0 * inf" + (_UNSELECTED if of_where else "")


def _logarithm(values: Values, makers: Names) -> str:
    return "log of a negative number" if (values[0] < 0).any() else "log(0)" if _zero(values[0]) else ""


def _power(values: Values, makers: Names) -> str:
    return "a negative power of 0" if _zero(values[0]) else "overflow"


def _root(values: Values, makers: Names) -> str:
    return "sqrt of a negative number" if (values[0] < 0).any() else "sqrt or norm at 0"


def _always(text: str) -> Callable[[Values, Names], str]:
    return lambda values, makers: text


_CAUSES: dict[str, Callable[[Values, Names], str]] = {
    "div": _division,
    "mul": _product,
    "dot_general": _product,
    "log": _logarithm,
    "log1p": _always("log1p at or below -1"),
    "pow": _power,
    "integer_pow": _power,
    "sqrt": _root,
    "rsqrt": _root,
    "exp": _always("overflow"),
    "exp2": _always("overflow"),
    "expm1": _always("overflow"),
    "cosh": _always("overflow"),
    "sinh": _always("overflow"),
    "sub": _always("inf - inf"),
    "add": _always("inf - inf"),
    "add_any": _always("inf - inf"),
    "reduce_sum": _always("inf - inf"),
    "acos": _always("acos outside [-1, 1]"),
    "asin": _always("asin outside [-1, 1]"),
    "atanh": _always("atanh at or beyond 1"),
}


STEPS = 10_000
"""A loop is followed no further."""


@dataclass(frozen=True)
class LoopStep:
    """A jaxpr at its inputs, and the output of it that is followed."""

    jaxpr: Any
    arguments: tuple[Any, ...]
    output: int


def bad_step(equation: Any, values: Sequence[Any], output: int, nan: bool) -> LoopStep | None:
    """The first step of a ``scan`` or ``while`` that makes a nan or infinity out of finite inputs.

    Its output is ``output`` if that is bad already, else the first bad one.
    """
    bad = jax.jit(lambda found: [_bad(value, nan) for value in found])
    for body, arguments, results in _steps(equation, list(values)):
        flags = [bool(flag) for flag in bad(results)]
        if any(flags):
            return LoopStep(body, tuple(arguments), output if flags[output] else flags.index(True))
    return None


def _bad(value: Any, nan: bool) -> Any:
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        return jnp.zeros((), bool)
    return (jnp.isnan(value) if nan else jnp.isinf(value)).any()


Steps = Iterator[tuple[Any, list[Any], list[Any]]]


def _steps(equation: Any, values: list[Any]) -> Steps:
    return (_scanned if equation.primitive.name == "scan" else _repeated)(equation.params, equation, values)


def _scanned(params: Any, equation: Any, values: list[Any]) -> Steps:
    """Body, inputs and outputs of every step; the body's outputs stand in the order of the scan's own."""
    constants, carries = traverse.scan_counts(equation)
    run = _compiled(params["jaxpr"])
    held, carry, rows = values[:constants], values[constants : constants + carries], values[constants + carries :]
    order = range(min(params["length"], STEPS))
    for i in (params["length"] - 1 - k for k in order) if params["reverse"] else order:
        arguments = [*held, *carry, *(row[i] for row in rows)]
        results = run(*arguments)
        yield params["jaxpr"], arguments, results
        carry = results[:carries]


def _repeated(params: Any, equation: Any, values: list[Any]) -> Steps:
    asked, constants = params["cond_nconsts"], params["body_nconsts"]
    goes_on, run = _compiled(params["cond_jaxpr"]), _compiled(params["body_jaxpr"])
    condition, held, carry = values[:asked], values[asked : asked + constants], values[asked + constants :]
    for _ in range(STEPS):
        if not bool(goes_on(*condition, *carry)[0]):
            return
        arguments = [*held, *carry]
        carry = run(*arguments)
        yield params["body_jaxpr"], arguments, carry


def _compiled(jaxpr: Any) -> Callable[..., list[Any]]:
    run: Callable[..., list[Any]] = jax.jit(traverse.function_of(jaxpr))
    return run


def nonfinite_source(program: Callable[..., Any], *arguments: Any) -> NonfiniteSource | None:
    """The first equation that makes the one result of ``program`` not finite; None where it is finite."""
    frame = JaxprFrame(jax.make_jaxpr(program)(*arguments), tuple(arguments), ("", 0))
    trace = frame.follow(0)
    return trace.nonfinite_source if trace else None


def of_claim(differentiator: Differentiator, mode: Mode, row: int, column: int) -> NonfiniteSource | None:
    """The equation that makes a mode's derivative not finite, for one direction and one column."""
    if not differentiator.held.traceable:
        return None
    seen = differentiator.projection
    operands = seen.operands[row % len(seen.operands)]
    call, x = partial(seen.call, *([operands] if operands else [])), jnp.asarray(seen.point)
    try:
        if mode == "fwd":
            tangent = jnp.asarray(seen.directions.vectors[row])
            return nonfinite_source(lambda x, v: jax.jvp(call, (x,), (v,))[1][column], x, tangent)
        weights = differentiator.weights((), seen.outputs)
        cotangents = weights if len(weights) else np.eye(len(seen.outputs))
        return nonfinite_source(lambda x, w: jax.vjp(call, x)[1](w)[0], x, jnp.asarray(cotangents[column]))
    except Exception:  # a program that cannot be taken apart leaves the cause open, not the verdict
        return None


@dataclass(frozen=True)
class NonfiniteTrace:
    """The source of a bad value; ``entrance`` is the input through which an infinity came, if any."""

    nonfinite_source: NonfiniteSource
    entrance: int | None = None


@dataclass(frozen=True)
class JaxprFrame:
    """A jaxpr at its inputs; ``around`` is the place of the call that it belongs to."""

    jaxpr: Any
    arguments: tuple[Any, ...]
    around: Place

    @cached_property
    def _makers(self) -> dict[Any, Any]:
        return {var: equation for equation in traverse.open_jaxpr(self.jaxpr).eqns for var in equation.outvars}

    @cached_property
    def _flags(self) -> dict[Any, tuple[bool, bool]]:
        """For each variable, whether it holds a nan and whether an infinity."""
        names: list[Any] = []

        def program(*arguments: Any) -> list[Any]:
            found = {var: value for var, value in self._run(arguments).items() if _inexact(value)}
            names[:] = found
            return [(jnp.isnan(value).any(), jnp.isinf(value).any()) for value in found.values()]

        flags = compiled(program, self.arguments)(*self.arguments)
        return {var: (bool(nan), bool(infinite)) for var, (nan, infinite) in zip(names, flags, strict=True)}

    def _run(self, arguments: Sequence[Any]) -> dict[Any, Any]:
        """Every variable's value (traceable)."""
        body = traverse.open_jaxpr(self.jaxpr)
        values = dict(zip(body.constvars, traverse.constants(self.jaxpr), strict=True))
        values |= dict(zip(body.invars, arguments, strict=True))
        for equation in body.eqns:
            inputs = [atom.val if traverse.is_literal(atom) else values[atom] for atom in equation.invars]
            values |= dict(zip(equation.outvars, traverse.bind(equation, inputs), strict=True))
        return values

    def values(self, atoms: Sequence[Any]) -> list[Any]:
        """The values of some variables and literals."""
        names = list(dict.fromkeys(a for a in atoms if not traverse.is_literal(a)))

        def program(*arguments: Any) -> list[Any]:
            values = self._run(arguments)
            return [values[name] for name in names]

        known = dict(zip(names, compiled(program, self.arguments)(*self.arguments), strict=True))
        return [atom.val if traverse.is_literal(atom) else known[atom] for atom in atoms]

    def follow(self, output: int) -> NonfiniteTrace | None:
        """The source of a bad output; None if the bad value came in from outside."""
        atom = traverse.open_jaxpr(self.jaxpr).outvars[output]
        equation, made = self._source(atom, self._nan if self._nan(atom) else self._infinite)
        return self._made(equation, made) if equation is not None else None

    def _nan(self, atom: Any) -> bool:
        return not traverse.is_literal(atom) and self._flags.get(atom, (False, False))[0]

    def _infinite(self, atom: Any) -> bool:
        return bool(np.isinf(atom.val).any()) if traverse.is_literal(atom) else self._flags.get(atom, (False, False))[1]

    def _source(self, atom: Any, bad: Callable[[Any], bool]) -> tuple[Any, Any]:
        """The equation that made a bad variable of good ones; None if the bad value came in."""
        while bad(atom) and (equation := self._makers.get(atom)) is not None:
            before = next((a for a in equation.invars if bad(a)), None)
            if before is None:
                return equation, atom
            atom = before
        return None, atom

    def _made(self, equation: Any, made: Any) -> NonfiniteTrace:
        """The source at or inside this equation, or of an infinity that came in and became a nan."""
        inside = self._inside(equation, made)
        if inside is not None and inside.entrance is None:
            return inside
        trace = inside or NonfiniteTrace(self._described(equation))
        entered = [a for a in equation.invars if self._infinite(a)]
        if trace.entrance is not None:
            entered = [equation.invars[trace.entrance]]
        return (
            self._explained(trace.nonfinite_source, entered[0])
            if entered and self._nan(made)
            else NonfiniteTrace(trace.nonfinite_source)
        )

    def _explained(self, nonfinite_source: NonfiniteSource, entered: Any) -> NonfiniteTrace:
        """The source of a nan made of an infinity: the infinity comes first."""
        if traverse.is_literal(entered):
            return NonfiniteTrace(nonfinite_source)
        earlier, atom = self._source(entered, self._infinite)
        if earlier is not None:
            first = self._made(earlier, atom)
            return NonfiniteTrace(_then(first.nonfinite_source, nonfinite_source), first.entrance)
        inputs = list(traverse.open_jaxpr(self.jaxpr).invars)
        return NonfiniteTrace(nonfinite_source, inputs.index(atom) if atom in inputs else None)

    def _described(self, equation: Any) -> NonfiniteSource:
        names = [_name(self._makers.get(a) if not traverse.is_literal(a) else None) for a in equation.invars]
        values = [np.asarray(value) for value in self.values(equation.invars)] if _numeric(equation) else []
        return NonfiniteSource(equation.primitive.name, *self.place(equation), cause(equation, values, names))

    def place(self, equation: Any) -> Place:
        """The file and line of an equation in the user's code, or of the call around it."""
        return traverse.place_in(self.jaxpr, equation, self.around)

    def _inside(self, equation: Any, made: Any) -> NonfiniteTrace | None:
        """The trace through the jaxpr that an equation calls; entrances are indices of the equation's inputs."""
        name, output = equation.primitive.name, list(equation.outvars).index(made)
        step, shift = None, 0
        if name in traverse.CALLS:
            bodies = list(traverse.inner(equation)) or [traverse.primal_code(equation)]
            step = LoopStep(bodies[0], tuple(self.values(equation.invars)), output) if bodies[0] is not None else None
        elif name == "cond":
            index, *rest = self.values(equation.invars)
            step, shift = LoopStep(equation.params["branches"][int(index)], tuple(rest), output), 1
        elif name in ("scan", "while"):
            step = bad_step(equation, self.values(equation.invars), output, nan=self._nan(made))
        if step is None:
            return None
        trace = JaxprFrame(step.jaxpr, step.arguments, self.place(equation)).follow(step.output)
        if trace is None or trace.entrance is None:
            return trace
        return NonfiniteTrace(trace.nonfinite_source, trace.entrance + shift if name not in ("scan", "while") else None)


def _then(first: NonfiniteSource, last: NonfiniteSource) -> NonfiniteSource:
    """An infinity that was made first and became a nan later."""
    causes = [text for text in (first.cause, f"then {last.cause}" if last.cause else "") if text]
    return NonfiniteSource(first.primitive, first.path, first.line, ", ".join(causes))


def _name(maker: Any) -> str:
    """The primitive that made a variable; ``where`` is a jitted function around its own."""
    if maker is None:
        return ""
    return "select_n" if maker.params.get("name") in ("_where", "where") else str(maker.primitive.name)


def _inexact(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return dtype is not None and bool(jnp.issubdtype(dtype, jnp.inexact))


def _numeric(equation: Any) -> bool:
    return all(hasattr(a.aval, "dtype") and jnp.issubdtype(a.aval.dtype, jnp.number) for a in equation.invars)
