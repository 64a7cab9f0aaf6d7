"""GRD103: derivatives of derivatives, by every composition of modes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd103_second_order as check
from gradhook.model.results import Verdict


@jax.custom_jvp
def _detached(x: Any) -> Any:
    return jnp.sin(x)


@_detached.defjvp
def _detached_jvp(primals: Any, tangents: Any) -> Any:
    slope = jax.lax.stop_gradient(jnp.cos(primals[0]))  # wrong on purpose: a constant from here on
    return jnp.sin(primals[0]), slope * tangents[0]


@jax.custom_vjp
def _reverse_only(x: Any) -> Any:
    return jnp.sin(x)


_reverse_only.defvjp(lambda x: (jnp.sin(x), jnp.cos(x)), lambda slope, g: (g * slope,))


def _objective(x: Any) -> Any:
    return jnp.sum(jnp.sin(x) * jnp.exp(-x * x))


def test_a_right_function(ask: Any) -> None:
    outcome = ask(check, _objective, normal(3), order=2)
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())
    assert outcome.resolution < 1e-7


@pytest.mark.parametrize("modes", [("rev",), ("fwd",), None])
def test_a_derivative_that_stands_still(ask: Any, modes: Any) -> None:
    outcome = ask(check, lambda x: _detached(x), 0.5, order=2, modes=modes)
    (finding,) = outcome.findings  # the compositions of modes show one fault
    assert (outcome.verdict, finding.order, finding.leaf) == (Verdict.FAIL, 2, "x")
    assert " of " in finding.message and abs(finding.claimed) < 1e-9
    if modes == ("rev",):
        assert finding.measured == pytest.approx(-np.sin(0.5))


def test_third_order(ask: Any) -> None:
    @jax.custom_jvp
    def sine(x: Any) -> Any:
        return jnp.sin(x)

    @sine.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return jnp.sin(primals[0]), _cosine(primals[0]) * tangents[0]

    @jax.custom_jvp
    def _cosine(x: Any) -> Any:
        return jnp.cos(x)

    @_cosine.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        still = jax.lax.stop_gradient(jnp.sin(primals[0]))  # wrong on purpose from the third order on
        return jnp.cos(primals[0]), -still * tangents[0]

    def f(x: Any) -> Any:
        return sine(x)

    assert ask(check, jnp.exp, 0.5, order=3, modes=("fwd",)).verdict is Verdict.PASS
    assert ask(check, f, 0.5, order=2, modes=("fwd",)).verdict is Verdict.PASS
    assert {finding.order for finding in ask(check, f, 0.5, order=3, modes=("fwd",)).findings} == {3}


def test_only_reverse_mode(ask: Any) -> None:
    outcome = ask(check, _reverse_only, 0.5, order=2)
    assert outcome.verdict is Verdict.PASS and outcome.resolution is not None


def test_first_order_alone(ask: Any) -> None:
    skipped = ask(check, jnp.sin, 0.5)
    assert skipped.verdict is Verdict.SKIP and "order=1" in skipped.note


@pytest.mark.parametrize("function, x", [(lambda x: jax.lax.stop_gradient(x) * x, 0.5), (jnp.abs, 0.0)])
def test_it_waits_until_the_first_order_is_right(ask: Any, function: Any, x: float) -> None:
    skipped = ask(check, function, x, order=2)
    assert skipped.verdict is Verdict.SKIP and "first order" in skipped.note


def test_a_kink_of_the_derivative(ask: Any) -> None:
    """x|x| has one derivative at 0; its second jumps from -2 to 2."""
    outcome = ask(check, lambda x: x * jnp.abs(x), 0.0, order=2, modes=("fwd",))
    assert outcome.verdict is Verdict.UNDECIDED
    assert {f.code for f in outcome.findings} == {"GRD401"}
