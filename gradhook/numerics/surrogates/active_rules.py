"""Find the custom rules that a derivative rests on.

A rule in the jaxpr may still have no part in the derivative: its value is rounded once more, or stopped. So each rule
in turn is made to give zero; where that changes nothing, it was not in use. After ``grad`` no rule is visible at all,
therefore the jaxpr of the value is rewritten.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from gradhook.comparison.probe import CustomRuleUse, DerivativeError
from gradhook.comparison.surrogate_probe import ActiveRules
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.custom_rules import RuleRewriter

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
