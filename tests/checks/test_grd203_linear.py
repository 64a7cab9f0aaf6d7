"""GRD203: a rule is linear in the tangent, and reverse mode its adjoint."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.checks import grd203_linear as check
from gradhook.model import Verdict

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
