"""Find custom rules and ``stop_gradient`` in a function, and differentiate it without some of them.

The function's jaxpr is rewritten: in the place of a rule stands a call of the code that the rule was put on, in the
place of a ``stop_gradient`` nothing, also inside jits, loops, branches and checkpoints. JAX differentiates that as
usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import jax.numpy as jnp

from gradhook.comparison.probe import CustomRuleUse, DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.derivatives import Differentiator
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.jaxpr import traverse
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
