"""GRD110: which rule or ``stop_gradient`` makes a derivative wrong."""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.checks import grd101_forward
from gradhook.checks import grd110_faulty_rule as check
from gradhook.model.results import Outcome, Verdict

POINT = np.array([0.3, -1.2])


@jax.custom_jvp
def halved(x: Any) -> Any:
    return x * x


halved.defjvps(lambda tangent, _, x: x * tangent)  # wrong on purpose: half the slope
HALVED = halved.fun.__code__.co_firstlineno


@jax.custom_vjp
def flipped(x: Any) -> Any:
    return jnp.sin(x)


flipped.defvjp(lambda x: (jnp.sin(x), x), lambda x, w: (-jnp.cos(x) * w,))  # wrong on purpose: the sign
FLIPPED = flipped.fun.__code__.co_firstlineno


@jax.custom_jvp
def right(x: Any) -> Any:
    return x**3


right.defjvps(lambda tangent, _, x: 3 * x**2 * tangent)


@jax.custom_vjp
def squared(x: Any) -> Any:
    return x**2


squared.defvjp(lambda x: (x**2, x), lambda x, w: (2 * x * w,))


@jax.custom_jvp
def handing_on(x: Any) -> Any:
    return x * halved(x)


handing_on.defjvp(lambda p, t: jax.jvp(lambda x: x * halved(x), p, t))


@jax.custom_jvp
def frozen_slope(x: Any) -> Any:
    return jnp.sin(x)


frozen_slope.defjvps(lambda tangent, _, x: jax.lax.stop_gradient(jnp.cos(x)) * tangent)


def _lines(outcome: Outcome) -> list[int | None]:
    assert {f.path for f in outcome.findings} <= {__file__}
    return [f.line for f in outcome.findings]


def _scanned(x: Any) -> Any:
    return jax.lax.scan(lambda c, _: (0.5 * (halved(c) + right(c)), None), x, None, length=3)[0]


def _repeated(x: Any) -> Any:
    return jax.lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, halved(c[1])), (0, x))[1]


def _branched(x: Any) -> Any:
    return jax.lax.cond(x[0] > 0, lambda x: halved(x) + right(x), lambda x: x, x)


@pytest.mark.parametrize(
    "function",
    [lambda x: right(halved(x)), lambda x: jax.jit(halved)(x), _scanned, _repeated, _branched, jax.checkpoint(halved)],
    ids=["nested", "jit", "scan", "while", "cond", "checkpoint"],
)
def test_the_rule_is_found_wherever_it_is(ask: Any, function: Any) -> None:
    outcome = ask(check, lambda x: jnp.sum(function(x)), POINT)
    assert outcome.verdict is Verdict.FAIL and _lines(outcome) == [HALVED]
    assert "`halved`" in outcome.findings[0].message


def test_reverse_rules(ask: Any) -> None:
    outcome = ask(check, lambda x: squared(flipped(x)), POINT, modes=("rev",))
    (finding,) = outcome.findings
    assert _lines(outcome) == [FLIPPED] and "custom_vjp" in finding.message
    assert finding.measured == pytest.approx(-finding.claimed)


def test_the_value_that_it_should_have_had(ask: Any) -> None:
    (finding,) = ask(check, lambda x: jnp.sum(jnp.exp(halved(x))), POINT).findings
    x = POINT[finding.index]
    assert finding.measured == pytest.approx(2 * x * np.exp(x * x))
    assert finding.claimed == pytest.approx(x * np.exp(x * x))


def test_two_guilty_rules(ask: Any) -> None:
    outcome = ask(check, lambda x: flipped(halved(x)), POINT, modes=("rev",))
    assert sorted(_lines(outcome), key=str) == sorted([FLIPPED, HALVED], key=str)


def test_a_rule_that_hands_on_a_wrong_derivative_is_not_accused(ask: Any) -> None:
    assert _lines(ask(check, lambda x: 2 * handing_on(x), POINT)) == [HALVED]


def test_a_second_derivative_that_is_cut_off(ask: Any) -> None:
    outcome = ask(check, lambda x: x * frozen_slope(x), POINT, order=2)
    assert [f.order for f in outcome.findings] == [2] and "`frozen_slope`" in outcome.findings[0].message


def test_a_misplaced_stop_gradient(ask: Any) -> None:
    def function(x: Any) -> Any:
        return jnp.sum(x * jax.lax.stop_gradient(x))

    outcome = ask(check, function, POINT)
    (finding,) = outcome.findings
    assert _lines(outcome) == [function.__code__.co_firstlineno + 1]
    assert finding.measured == pytest.approx(2 * finding.claimed)
    assert finding.message.startswith("stop_gradient at test_grd110_faulty_rule.py:")
    assert "frozen" in finding.help


def test_a_stop_gradient_that_is_meant(ask: Any) -> None:
    def function(x: Any) -> Any:
        return jnp.sum(x * jax.lax.stop_gradient(x))

    outcome = ask(grd101_forward, function, POINT, frozen=True)
    assert outcome.verdict is Verdict.PASS
    assert outcome.note == "values under stop_gradient were held at the base point (1 place)"
    assert ask(check, function, POINT, frozen=True).verdict is Verdict.SKIP


def test_a_stop_gradient_that_changes_nothing_is_not_accused(ask: Any) -> None:
    def function(x: Any) -> Any:
        shift = jax.lax.stop_gradient(jnp.max(x))
        return shift + jnp.log(jnp.sum(jnp.exp(x - shift))) + jnp.sum(halved(x))

    assert _lines(ask(check, function, POINT)) == [HALVED]


def test_a_rule_and_a_stop_gradient_together(ask: Any) -> None:
    outcome = ask(check, lambda x: jnp.sum(halved(x) * jax.lax.stop_gradient(x)), POINT)
    assert sorted(f.message.partition(" ")[0] for f in outcome.findings) == ["stop_gradient", "the"]


def test_the_targets_own_rule_is_not_repeated(ask: Any) -> None:
    outcome = ask(check, halved, POINT)
    assert outcome.verdict is Verdict.SKIP and "own" in outcome.note


@pytest.mark.parametrize("function", [right, jnp.sin])
def test_nothing_is_asked_of_what_is_right(ask: Any, function: Any) -> None:
    assert ask(check, lambda x: function(x), POINT).verdict is Verdict.SKIP


def test_a_fault_for_which_no_rule_accounts(ask: Any) -> None:
    def truncated(x: Any) -> Any:
        # Wrong on purpose: a rule that is spent inside the function can't be seen any more, only the right one can.
        return right(x) + jax.jvp(lambda y: jax.lax.stop_gradient(y) * halved(y), (x,), (x,))[1]

    outcome = ask(check, truncated, POINT)
    assert outcome.verdict is Verdict.FAIL or "accounts" in outcome.note


@jax.custom_gradient
def doubled(x: Any) -> Any:
    return jnp.sin(x), lambda g: 2 * g * jnp.cos(x)  # wrong on purpose


def test_a_rule_by_custom_gradient_is_named(ask: Any) -> None:
    outcome = ask(check, lambda x: squared(doubled(x)), POINT, modes=("rev",))
    assert "`doubled`" in outcome.findings[0].message
    assert _lines(outcome) == [inspect.getsourcelines(doubled.__wrapped__.__closure__[0].cell_contents)[1]]
