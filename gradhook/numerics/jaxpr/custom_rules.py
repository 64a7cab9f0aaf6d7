"""Find custom rules and ``stop_gradient`` in a function, and run or differentiate it without some of them.

The function's jaxpr is rewritten: in the place of a rule stands a call of the code that the rule was put on, in the
place of a ``stop_gradient`` nothing, also inside jits, loops, branches and checkpoints. JAX differentiates that as
usual.

The author's word ``stop_gradient="frozen"``: these values are constants of the function, so differences must not see
them move either. They are recorded once, at the base point, and stand in the jaxpr in the place of the equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from gradhook.comparison.probe import CustomRuleUse, DerivativeError
from gradhook.model.errors import GradhookError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.derivatives import Differentiator
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.nonfinite_source import JaxprFrame
from gradhook.numerics.jaxpr.source import is_installed, user_function
from gradhook.numerics.jaxpr.stop_tolerance import is_users
from gradhook.numerics.jaxpr.traverse import Place, is_inexact

LocatedUse = tuple[Any, CustomRuleUse]
Removed = frozenset[int]
"""Positions in ``rules_in_use`` of the rules that are replaced by the code under them."""


@dataclass(frozen=True)
class RuleRewriter:
    """A function replayed from its jaxpr; ``function`` is the object that it was made from."""

    differentiator: Differentiator
    function: Callable[..., Any]
    _claims: dict[tuple[Removed, tuple[Mode, ...], Mode], Array | DerivativeError] = field(default_factory=dict)

    @cached_property
    def rules_in_use(self) -> tuple[CustomRuleUse, ...]:
        """Every rule and ``stop_gradient``, in order of first use; none where nothing can be traced."""
        uses: dict[CustomRuleUse, list[CustomRuleUse]] = {}
        for _, suspect in self._found:
            uses.setdefault(suspect, []).append(suspect)
        return tuple(
            replace(one, outermost=any(u.outermost for u in all_), under=frozenset().union(*(u.under for u in all_)))
            for one, all_ in uses.items()
        )

    def claim(self, removed: Removed, path: tuple[Mode, ...], mode: Mode) -> Array | DerivativeError:
        """The derivative by a mode with some rules removed; computed once."""
        key = removed, path, mode
        if key not in self._claims:
            try:
                self._claims[key] = self.differentiator.claim(self._without(removed), path, mode)
            except Exception as error:  # the code under a rule need not be differentiable, nor traceable once more
                self._claims[key] = classify(error)
        return self._claims[key]

    @cached_property
    def _found(self) -> list[LocatedUse]:
        return (
            list(_walk(self.differentiator.held.jaxpr, ("", 0), frozenset(), _definition_of(self.function)))
            if self.differentiator.held.traceable
            else []
        )

    def _without(self, removed: Removed) -> Callable[[Any], Any]:
        return self.rewritten(removed, lambda code: code)

    def rewritten(self, removed: Removed, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The function with ``change`` of the code under some of its rules in their place."""
        gone = {self.rules_in_use[number] for number in removed}
        # Equations are no values; their identity is enough, for the jaxpr keeps them alive.
        marked = {id(equation) for equation, suspect in self._found if suspect in gone}

        def rewrite(equation: Any) -> Any:
            if id(equation) not in marked:
                return equation
            code = traverse.primal_code(equation)
            return traverse.call_of(None if code is None else change(traverse.rewritten(code, rewrite)), equation)

        run = traverse.function_of(traverse.rewritten(self.differentiator.held.jaxpr, rewrite))
        return lambda vector: run(vector)[0]


def _walk(jaxpr: Any, around: Place, under: frozenset[Place], home: Place) -> Iterator[LocatedUse]:
    """Equations with a rule; one without a place of its own gets the place of the call around it."""
    for equation in traverse.open_jaxpr(jaxpr).eqns:
        here = traverse.place_in(jaxpr, equation, around)
        code = traverse.primal_code(equation)
        if code is not None:
            use = _rule(equation, code, here, under, home)
            yield equation, use
            yield from _walk(code, here, under | {(use.path, use.line)}, home)
        elif equation.primitive.name == traverse.STOP and _moves(equation):
            path, line = here
            yield (
                equation,
                CustomRuleUse(
                    kind="stop_gradient", name="stop_gradient", path=path, line=line, outermost=not under, under=under
                ),
            )
        else:
            for part in traverse.inner(equation):
                yield from _walk(part, here, under, home)


def _rule(equation: Any, code: Any, here: Place, under: frozenset[Place], home: Place) -> CustomRuleUse:
    name, path, line = traverse.definition(code)
    kind = traverse.rule_kind(equation)
    own = traverse.of_jax(path)
    where = (path, line) if path and not own else here
    return CustomRuleUse(
        kind, name or kind, *where, not under, under, own, bool(path) and (path, line) == home,
        here if is_installed(where[0]) and not is_installed(here[0]) else ("", 0), _iterates(code),
    )  # fmt: skip


def _iterates(code: Any) -> bool:
    """Whether a loop inside stops at something other than a count, at an accuracy that the user chose."""
    loops = (
        equation.params["cond_jaxpr"] for equation in traverse.equations(code) if equation.primitive.name == "while"
    )
    return any(_decides(condition) and is_users(condition) for condition in loops)


def _decides(condition: Any) -> bool:
    """Whether a condition reads floats, or a flag that the body sets."""
    inside = list(traverse.equations(condition))
    used = {atom for equation in inside for atom in equation.invars if not traverse.is_literal(atom)}
    looked_at = [*used, *traverse.open_jaxpr(condition).outvars]
    given = set(traverse.open_jaxpr(condition).invars)
    flags = any(atom.aval.dtype == bool for atom in looked_at if atom in given)
    return flags or any(is_inexact(atom) for equation in inside for atom in equation.invars)


def _moves(equation: Any) -> bool:
    """Whether the equation has floating outputs, which could be differentiated."""
    return any(jnp.issubdtype(var.aval.dtype, jnp.inexact) for var in equation.outvars)


def _definition_of(function: Any) -> Place:
    """The file and line of a function under its decorators."""
    code = getattr(user_function(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


Recorded = tuple[Any, Place]
"""A value, or None where the base point does not come by; and the place of its ``stop_gradient``."""


@dataclass(frozen=True)
class FrozenFunction:
    """A function whose stopped values are constants, and their places in the code."""

    held: FlatFunction
    places: tuple[Place, ...]


def freeze_stopped_values(held: FlatFunction) -> FrozenFunction:
    """Hold floating values under ``stop_gradient`` at the base point, those under custom rules excepted.

    Raises:
        GradhookError: one of them changes from step to step of a loop, or the function cannot be traced.
    """
    if not held.traceable:
        raise GradhookError(
            'stop_gradient="frozen", but the function cannot be traced, so its stopped values cannot be found',
            "write it with jax.numpy and without Python control flow on values",
        )
    point = jnp.asarray(held.point)
    jaxpr = held.jaxpr
    recorded = list(_record(JaxprFrame(jaxpr, (point,), ("", 0))))
    left = iter(recorded)

    def rewrite(equation: Any) -> Any:
        # Equations are met in the order in which they were recorded; a jitted function is met once for each call.
        value = next(left)[0] if _stops(equation) else None
        return equation if value is None else traverse.call_of(jax.make_jaxpr(lambda _: [value])(value), equation)

    run = traverse.function_of(traverse.rewritten(jaxpr, rewrite))
    places = tuple(dict.fromkeys(place for value, place in recorded if value is not None))
    return FrozenFunction(replace(held, call=lambda vector: run(vector)[0]), places)


def _stops(equation: Any) -> bool:
    stops = equation.primitive.name == traverse.STOP
    return stops and bool(jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.inexact))


def _holds(jaxpr: Any) -> bool:
    """Whether a jaxpr has a stopped value to record, outside custom rules."""
    return any(
        _stops(e) or (traverse.primal_code(e) is None and any(_holds(part) for part in traverse.inner(e)))
        for e in traverse.open_jaxpr(jaxpr).eqns
    )


def _record(frame: JaxprFrame) -> Iterator[Recorded]:
    for equation in traverse.open_jaxpr(frame.jaxpr).eqns:
        if _stops(equation):
            yield frame.values(equation.invars)[0], frame.place(equation)
        elif traverse.primal_code(equation) is None and any(_holds(part) for part in traverse.inner(equation)):
            yield from _inside(frame, equation)


def _inside(frame: JaxprFrame, equation: Any) -> Iterator[Recorded]:
    place, name = frame.place(equation), equation.primitive.name
    if name in traverse.CALLS:
        (body,) = traverse.inner(equation)
        yield from _record(JaxprFrame(body, tuple(frame.values(equation.invars)), place))
    elif name == "cond":
        index, *arguments = frame.values(equation.invars)
        for number, branch in enumerate(equation.params["branches"]):
            taken = number == int(index)
            yield from _record(JaxprFrame(branch, tuple(arguments), place)) if taken else _passed_by(branch)
    else:
        file = f" at {Path(place[0]).name}:{place[1]}" if place[0] else ""
        raise GradhookError(
            f'stop_gradient="frozen", but inside a {name}{file} a value under stop_gradient is another at each step',
            "move it out of the loop, or leave the option out",
        )


def _passed_by(jaxpr: Any) -> Iterator[Recorded]:
    """Placeholders for the stopped values of a branch that is not taken."""
    for equation in traverse.open_jaxpr(jaxpr).eqns:
        if _stops(equation):
            yield None, ("", 0)
        elif traverse.primal_code(equation) is None:
            for part in traverse.inner(equation):
                yield from _passed_by(part)
