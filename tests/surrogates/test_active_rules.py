"""Does the derivative of an enclosing function rest on its rule, and is a rule that was lost found?"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.comparison.surrogate_probe import ActiveRules
from gradhook.model.results import Verdict
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

spec = importlib.util.spec_from_file_location("surrogate_rules", Path(__file__).with_name("rules.py"))
assert spec and spec.loader
rules = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rules)

ste, backward = rules.straight(), rules.pulled(jnp.round, lambda x, g: g)
by_gradient = jax.custom_gradient(lambda x: (jnp.round(x), lambda g: g))
sg = jax.lax.stop_gradient
ARGS = (uniform(3, low=-3, high=3), normal(3))


def declared(x: Any, w: Any) -> Any:
    return jnp.sum(w * jnp.round(x))


def rule(primals: Any, tangents: Any) -> Any:
    (x, w), (dx, dw) = primals, tangents
    return jnp.sum(w * dx + dw * jnp.round(x))


def uses(function: Any) -> ActiveRules:
    probe = FunctionProbe(function, CheckCase("case", ARGS), CheckOptions(surrogate=True), "seed", Clock())
    book = probe.rule_probe()
    assert book is not None
    return book.active_rules()


@pytest.mark.parametrize("inner", [ste, backward, by_gradient, jax.jit(ste)], ids=["jvp", "vjp", "gradient", "jit"])
def test_with_a_derivative_of_zero_in_place_of_the_rule_the_claim_is_another(inner: Any) -> None:
    found = uses(lambda x, w: jnp.sum(w * inner(x)))
    assert (found.reached, len(found.used), found.inactive) == (True, 1, ())


@pytest.mark.parametrize(
    "around",
    [
        lambda f, x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
        lambda f, x: jax.lax.cond(x[0] > -9, f, lambda x: x, x),
        lambda f, x: jax.vmap(f)(x),
        lambda f, x: jax.checkpoint(f)(x),
    ],
    ids=["scan", "cond", "vmap", "checkpoint"],
)
def test_wherever_it_is(around: Any) -> None:
    assert len(uses(lambda x, w: jnp.sum(w * around(ste, x))).used) == 1


LOST = {
    "rounded once more": lambda x, w: jnp.sum(w * jnp.round(ste(x))),
    "stopped": lambda x, w: jnp.sum(w * sg(ste(x))),
    "compared only": lambda x, w: jnp.sum(w * jnp.where(ste(x) > 9, 0.0, jnp.round(x))),
}


@pytest.mark.parametrize("name", LOST)
def test_a_rule_that_has_no_part_in_the_derivative_is_named(name: str, contract: Any) -> None:
    found = uses(LOST[name])
    assert [rule.line for rule in found.inactive] and not found.used
    (outcome,) = contract(LOST[name], forward=declared, rule=rule, args=ARGS)["GRD202"]
    assert outcome.verdict is Verdict.FAIL
    assert all("is lost on the way" in finding.help for finding in outcome.findings)


def quantised(x: Any) -> Any:
    return jnp.round(x)


with_rule = jax.custom_jvp(quantised)
with_rule.defjvp(lambda p, t: (with_rule(*p), t[0]))
PLAIN = {
    "the plain function is called": lambda x, w: jnp.sum(w * quantised(x)),
    "bound again": lambda x, w: jnp.sum(w * jax.jit(with_rule.__wrapped__)(x)),
    "a wrapper of the undecorated one": lambda x, w: jnp.sum(w * jax.vmap(with_rule.fun)(x)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_rule_that_is_never_reached_is_missed(name: str, contract: Any) -> None:
    assert not uses(PLAIN[name]).reached
    (outcome,) = contract(PLAIN[name], forward=declared, rule=rule, args=ARGS)["GRD202"]
    assert outcome.verdict is Verdict.FAIL
    assert all("no rule is reached" in finding.help for finding in outcome.findings)


def test_a_pass_says_on_which_rule_it_rests(contract: Any) -> None:
    (outcome,) = contract(lambda x, w: jnp.sum(w * with_rule(x)), forward=declared, rule=rule, args=ARGS)["GRD202"]
    line = quantised.__code__.co_firstlineno
    assert outcome.verdict is Verdict.PASS
    assert f"rests on the rule of `quantised` (test_active_rules.py:{line})" in outcome.note


def test_the_rule_itself_and_a_stop_gradient_need_no_other() -> None:
    assert uses(lambda x, w: jnp.sum(w * ((x - sg(x)) + sg(jnp.round(x))))) == ActiveRules(True)
    probe = FunctionProbe(ste, CheckCase("case", (np.ones(2),)), CheckOptions(surrogate=True), "seed", Clock())
    assert probe.rule_probe().active_rules() == ActiveRules(True)  # type: ignore[union-attr]
