"""GRD203: a rule is linear in the tangent, and reverse mode its adjoint."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.checks import grd203_linear as check
from gradhook.model.results import Verdict

X = uniform(4, low=-3, high=3)


def rounded(rule: Any) -> Any:
    """round with a rule that gives the tangent from the point and the tangent."""
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(lambda p, t: (f(p[0]), rule(p[0], t[0])))
    return f


def test_a_linear_rule_passes(ask: Any) -> None:
    assert ask(check, rounded(lambda x, t: t), X, surrogate=True).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (lambda x, t: t + 1e-9, "a tangent of 0 gives 1e-09"),
        (lambda x, t: jnp.abs(t), "a tangent multiplied by -1"),
        (lambda x, t: t * (1 + 1e-9 * jnp.abs(t)), "a tangent multiplied by 2"),
    ],
)
def test_one_that_is_not_is_told_why(ask: Any, rule: Any, says: str) -> None:
    outcome = ask(check, rounded(rule), X, surrogate=True, modes=("fwd",))
    assert outcome.verdict is Verdict.FAIL
    assert says in outcome.findings[0].message


def test_an_inner_error_of_transposition_is_translated(ask: Any) -> None:
    outcome = ask(check, rounded(lambda x, t: t * t), X, surrogate=True)
    assert any("JAX fails to transpose it" in f.message for f in outcome.findings)


def test_scaling_of_a_large_and_a_small_point_rounds_nothing(ask: Any) -> None:
    rule = rounded(lambda x, t: jnp.cos(x) / 3 * t)
    assert ask(check, rule, np.array([1e150, 1e-150, 7.0]), surrogate=True).verdict is Verdict.PASS


def test_it_is_asked_of_custom_rules_only(ask: Any) -> None:
    assert ask(check, jnp.sin, normal(2)).verdict is Verdict.SKIP


def _until(step: Any, start: Any, tolerance: float) -> Any:
    def go_on(s: Any) -> Any:
        return jnp.max(jnp.abs(s[0] - s[1])) > tolerance

    return jax.lax.while_loop(go_on, lambda s: (s[1], step(s[1])), (start, step(start)))[1]


def _implicit(tolerance: float, bent: float = 0.0) -> Any:
    """A square root by a fixed point; the backward pass is a loop that stops at an absolute tolerance."""

    def step(a: Any, x: Any) -> Any:
        return 0.75 * x + 0.25 * a / x

    @jax.custom_vjp
    def root(a: Any) -> Any:
        return _until(lambda x: step(a, x), jnp.ones_like(a), 1e-15)

    def back(saved: Any, g: Any) -> Any:
        a, x = saved
        g = g * (1 + bent * jnp.abs(g))
        u = _until(lambda u: g + jax.vjp(lambda x: step(a, x), x)[1](u)[0], g, tolerance)
        return jax.vjp(lambda a: step(a, x), a)[1](u)

    root.defvjp(lambda a: (lambda x: (x, (a, x)))(root(a)), back)
    return root


@pytest.mark.parametrize("tolerance", [1e-14, 1e-12, 1e-6])
def test_a_loop_of_the_rule_is_linear_up_to_its_tolerance(ask: Any, tolerance: float) -> None:
    outcome = ask(check, _implicit(tolerance), np.array([2.3, 0.7]), modes=("rev",))
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


def test_a_loop_does_not_excuse_what_it_cannot_explain(ask: Any) -> None:
    outcome = ask(check, _implicit(1e-12, bent=0.1), np.array([2.3, 0.7]), modes=("rev",))
    assert outcome.verdict is Verdict.FAIL and "is not linear" in outcome.findings[0].message


@pytest.mark.parametrize("limit", [None, 1e3])
def test_an_overflow_of_the_probe_is_no_finding(ask: Any, limit: float | None) -> None:
    """exp(688) times a cotangent of 2^40 is infinite; a clip is found by the smaller of the large multiples."""
    f = jax.custom_vjp(lambda x: jnp.exp(x) / jnp.exp(688.0))

    def back(x: Any, g: Any) -> Any:
        g = g if limit is None else jnp.clip(g, -limit, limit)
        return ((g * jnp.exp(x)) / jnp.exp(688.0),)

    f.defvjp(lambda x: (f(x), x), back)
    outcome = ask(check, f, np.array([688.0]), modes=("rev",))
    assert outcome.verdict is (Verdict.PASS if limit is None else Verdict.FAIL)


def test_a_small_element_beside_a_large_one_is_compared_on_its_own_scale(ask: Any) -> None:
    size = np.array([1e12, 1.0])
    linear = rounded(lambda x, t: size * t)
    bent = rounded(lambda x, t: size * t * (1 + jnp.array([0.0, 1e-6]) * jnp.abs(t)))
    assert ask(check, linear, normal(2), modes=("fwd",)).verdict is Verdict.PASS
    assert ask(check, bent, normal(2), modes=("fwd",)).verdict is Verdict.FAIL


def test_modes_that_are_no_adjoints_beside_a_large_element(ask: Any) -> None:
    """A constant is dropped by transposition; here it is a small part of one element beside a huge one."""

    def doubled(x: Any, t: Any) -> Any:
        return jnp.array([1e12, 1.0]) * t

    right, wrong = rounded(doubled), rounded(lambda x, t: doubled(x, t) + jnp.array([0.0, 1e-7]))
    assert ask(check, right, normal(2)).verdict is Verdict.PASS
    outcome = ask(check, wrong, normal(2))
    assert any("no adjoints" in f.message for f in outcome.findings)


def test_an_exception_is_told_by_the_mode_and_not_again(ask: Any) -> None:
    """A tangent of the wrong shape is GRD204's, and what a backward rule raises GRD102's or GRD202's."""
    shaped = rounded(lambda x, t: t.sum())
    f = jax.custom_vjp(lambda x: jnp.round(x))
    f.defvjp(lambda x: (f(x), None), lambda saved, g: (g.sum(),))
    for function in (shaped, f):
        outcome = ask(check, function, X, surrogate=True)
        assert (outcome.verdict, outcome.findings) == (Verdict.SKIP, ())
