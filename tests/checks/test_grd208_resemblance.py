"""GRD208: a claim is of the kind that its function looks like."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.checks import grd208_resemblance as check
from gradhook.model.results import Verdict

X = uniform(4, low=-3, high=3)


def rounded(rule: Any) -> Any:
    """round with a rule that gives the tangent from the point and the tangent."""
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(lambda p, t: (f(p[0]), rule(p[0], t[0])))
    return f


def test_a_surrogate_that_equals_the_exact_derivative(ask: Any) -> None:
    f = jax.custom_jvp(jnp.sin)
    f.defjvp(lambda p, t: (f(p[0]), jnp.cos(p[0]) * t[0]))
    outcome = ask(check, f, normal(3), surrogate=True)
    assert (outcome.verdict, outcome.findings[0].verdict) == (Verdict.PASS, Verdict.ADVICE)
    assert "@gradcheck" in outcome.findings[0].help


@pytest.mark.parametrize("factor", [0.5, 1.01])
def test_the_bias_is_the_distance_from_the_true_derivative(ask: Any, factor: float) -> None:
    f = jax.custom_jvp(lambda x: 3 * x)
    f.defjvp(lambda p, t: (f(p[0]), 3 * factor * t[0]))
    note = ask(check, f, normal(3), surrogate=True).note
    assert float(note.split()[-1]) == pytest.approx(3 * abs(factor - 1))


def test_an_exact_claim_of_a_flat_value(ask: Any) -> None:
    outcome = ask(check, rounded(lambda x, t: t), X)
    assert outcome.verdict is Verdict.FAIL
    assert "looks like a surrogate" in outcome.findings[0].message


@pytest.mark.parametrize("function", [jnp.floor, jnp.sin, lambda x: jnp.maximum(x, 0.0)])
def test_exact_claims_that_look_exact(ask: Any, function: Any) -> None:
    assert ask(check, function, np.array([-0.3, 0.4, 2.2])).verdict is Verdict.PASS
