"""The implementation of the probe of a function with a rule of its own, and the custom rules a derivative rests on.

A rule in the jaxpr may still have no part in the derivative: its value is rounded once more, or stopped. So each rule
in turn is made to give zero; where that changes nothing, it was not in use. After ``grad`` no rule is visible at all,
therefore the jaxpr of the value is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from gradhook.comparison.judge import Tolerance
from gradhook.comparison.probe import ConsistencyPair, CustomRuleUse, DerivativeError
from gradhook.comparison.surrogate_probe import ActiveRules, StructureResult, SurrogateValues, Sweep
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.derivatives import Differentiator
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.function import BoundArguments, FlatFunction
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.custom_rules import RuleRewriter
from gradhook.numerics.surrogates.declaration import Declaration
from gradhook.numerics.surrogates.linearity import LinearityProgram, linearity
from gradhook.numerics.surrogates.second_order import VALUE, second
from gradhook.numerics.surrogates.shapes_and_dtypes import structure
from gradhook.numerics.surrogates.surrogate_values import surrogate_values
from gradhook.numerics.surrogates.sweep_program import SweepProgram
from gradhook.numerics.surrogates.sweeps import sweeps
from gradhook.numerics.surrogates.transformations import composition

MOST = 6
"""So many rules are tried; each costs a program."""


def active_rules(rewriter: RuleRewriter, mode: Mode) -> ActiveRules:
    """The outermost user rules inside a function that is not itself a rule, by their effect."""
    every = rewriter.rules_in_use
    rules = [rule for rule in every if rule.kind != "stop_gradient" and not rule.of_jax and rule.outermost][:MOST]
    if not rules or any(rule.itself for rule in rules):
        return ActiveRules(bool(every))
    whole = rewriter.claim(frozenset(), (), mode)
    if isinstance(whole, DerivativeError):
        return ActiveRules(True)
    muted = [(rule, _muted(rewriter, rule, mode)) for rule in rules]
    used: list[CustomRuleUse] = []
    inactive: list[CustomRuleUse] = []
    for rule, got in muted:
        if isinstance(got, DerivativeError):
            continue
        (inactive if np.array_equal(whole, got, equal_nan=True) else used).append(rule)
    return ActiveRules(bool(every), tuple(used), tuple(inactive))


def _muted(rewriter: RuleRewriter, rule: CustomRuleUse, mode: Mode) -> Any:
    """The derivative by a mode when one rule gives zero."""
    try:
        return rewriter.differentiator.claim(
            rewriter.rewritten(frozenset([rewriter.rules_in_use.index(rule)]), _stopped), (), mode
        )
    except Exception as error:  # without the rule nothing need be differentiable
        return classify(error)


def _stopped(code: Any) -> Any:
    """A closed jaxpr with the same values and no derivative."""
    run = traverse.function_of(code)
    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in traverse.open_jaxpr(code).invars]  # type: ignore[no-untyped-call]
    return jax.make_jaxpr(lambda *values: jax.lax.stop_gradient(run(*values)))(*shapes)


def rule_of(function: Any) -> Any:
    """The ``custom_jvp`` or ``custom_vjp`` object under ``jit`` or ``partial``; else None."""
    for _ in range(20):
        if isinstance(function, (jax.custom_jvp, jax.custom_vjp)):
            return function
        function = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)
        if function is None:
            return None
    return None


@dataclass(frozen=True)
class RuleProbe:
    """The ``SurrogateProbe`` of a function with a rule of its own; results are computed once."""

    held: FlatFunction
    function: Callable[..., Any]
    declared: Declaration
    modes: tuple[Mode, ...]
    surrogate_in: Flags
    seed: str
    clock: Clock

    @property
    def reason(self) -> str:
        """The reason why only value and derivative at the case can be computed; empty without one."""
        return "" if self.held.traceable else "the function needs its values in Python, so JAX cannot trace it"

    @property
    def order2(self) -> str | None:
        """The declared second order."""
        return self.declared.order2

    @property
    def ties(self) -> str | None:
        """The declared rounding of halves."""
        return self.declared.ties

    @property
    def bounds(self) -> str | None:
        """Whether saturation bounds are declared to be closed or open."""
        return self.declared.bounds

    @cached_property
    def linearity_program(self) -> LinearityProgram:
        """The function differentiated along all directions and tangents at the case itself."""
        return LinearityProgram(self.held, self.seed, self.clock, self.modes)

    @cached_property
    def surrogate_values(self) -> SurrogateValues:
        """Value and derivative at the case, beside the declared ones."""
        return surrogate_values(
            self.held, self.function, self.declared, self.linearity_program, self.modes, self.surrogate_in
        )

    @cached_property
    def _existing(self) -> tuple[Mode, ...]:
        """The modes that the function has."""
        return tuple(mode for mode in self.modes if not isinstance(self.linearity_program.claim(mode), DerivativeError))

    def linearity(self) -> tuple[ConsistencyPair, ...]:
        """Zero, multiples, sums; adjoints."""
        return linearity(self.linearity_program, self.modes)

    def structure(self) -> tuple[StructureResult, ...]:
        """Shapes and dtypes of the derivative for each dtype and shape that the function takes."""
        return structure(self.held, self.function, self.declared, self.modes)

    def composition(self) -> tuple[ConsistencyPair, ...]:
        """The function inside every transformation."""
        return composition(self.held, self._existing, self.seed, self.clock)

    def second(self) -> tuple[ConsistencyPair, ...]:
        """The second order; that of a function around rules is its own only where ``order2`` is declared.

        ``jax.lax.scan`` loses a rule that returns what it should: its author could not mend that.
        """
        pairs = second(self.held, self.declared, self._existing, self.seed, self.clock)
        own = self.order2 is not None or rule_of(self.function) is not None
        return tuple(pair for pair in pairs if own or pair.name != VALUE)

    def active_rules(self) -> ActiveRules:
        """The custom rules inside a function that is none itself, and whether its derivative rests on them."""
        if not self.held.traceable or not self._existing or rule_of(self.function) is not None:
            return ActiveRules(True)
        differentiator = Differentiator(self.held, self.seed, self.modes, Tolerance(), None, self.clock)
        return active_rules(RuleRewriter(differentiator, self.function), self._existing[0])

    def sweeps(self) -> tuple[Sweep, ...]:
        """Inputs moved through their domain."""
        return self._sweeps

    @cached_property
    def _sweeps(self) -> tuple[Sweep, ...]:
        if not self._existing or not self.held.traceable:
            return ()
        mode = self._existing[0]
        return sweeps(
            SweepProgram(self.held, self.declared, mode, self.clock), self._jacobian, self.surrogate_in, self.seed
        )

    @property
    def _jacobian(self) -> Array | None:
        """The Jacobian (n, m) at the case, 0 where no coordinate was moved alone; None where outputs are many."""
        claim = self.linearity_program.claim(self._existing[0])
        if isinstance(claim, DerivativeError) or claim.shape[1] != self.held.outputs.size:
            return None
        found = np.zeros((self.held.inputs.size, self.held.outputs.size))
        for vector, row in zip(self.linearity_program.rows[0], claim, strict=False):
            if np.count_nonzero(vector) == 1:
                place = int(np.flatnonzero(vector)[0])
                found[place] = row / vector[place]
        return found


def coordinates(arguments: BoundArguments, exact: BoundArguments | None) -> Flags:
    """A mask of the coordinates that a surrogate's declaration covers: all but those claimed exact."""
    places = exact.moved if exact is not None else ()
    is_declared = [place not in places for place in arguments.moved]
    return np.repeat(np.array(is_declared, dtype=bool), [leaf.size for leaf in arguments.space.leaves])
