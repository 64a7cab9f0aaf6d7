"""GRD102: reverse mode against differences, and against forward mode to rounding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gradhook import normal
from gradhook.checks import grd102_reverse as check
from gradhook.model.results import Verdict


@jax.custom_vjp
def _huber(x: Any, delta: Any) -> Any:
    small = jnp.abs(x) <= delta
    return jnp.where(small, 0.5 * x * x, delta * (jnp.abs(x) - 0.5 * delta))


def _huber_backward(kept: Any, g: Any) -> Any:
    x, delta = kept
    small = jnp.abs(x) <= delta
    dx = jnp.where(small, x, delta * jnp.sign(x))
    return g * dx, jnp.sum(g * jnp.where(small, 0.0, delta - jnp.abs(x)))  # the sign for delta is wrong on purpose


_huber.defvjp(lambda x, delta: (_huber(x, delta), (x, delta)), _huber_backward)


def _reverse_off(place: int, error: float) -> Any:
    """Forward mode is right, the transposed rule is off in one element."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.exp(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        y = jnp.exp(primals[0])
        factor = jnp.ones_like(y).at[place].add(error)
        linear = jax.custom_derivatives.linear_call
        return y, linear(lambda r, t: r[0] * t, lambda r, g: r[0] * r[1] * g, (y, factor), tangents[0])

    return lambda x: f(x)


def _loop(x: Any) -> Any:
    return jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0]


def _pulled_back(change: Any) -> Any:
    """A function with a rule inside that does something to its cotangent besides multiplying it."""

    @jax.custom_vjp
    def inner(x: Any) -> Any:
        return jnp.sin(x)

    inner.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (jnp.cos(x) * change(g),))
    return lambda x: inner(x) * 1.0


@pytest.mark.parametrize(
    "change",
    [
        lambda g: g / jnp.maximum(1e-30, jnp.max(jnp.abs(g))),
        jnp.abs,
        lambda g: jnp.clip(g, -2, 2),
        lambda g: jnp.where(jnp.abs(g) > 1.2, 0.0, g),
    ],
    ids=["normalized", "without its sign", "clipped", "masked"],
)
def test_a_rule_inside_that_is_not_linear_in_its_cotangent(ask: Any, change: Any) -> None:
    (finding,) = ask(check, _pulled_back(change), normal(3)).findings
    assert finding.verdict is Verdict.FAIL and "not linear in the cotangent" in finding.message
    assert ask(check, _pulled_back(lambda g: g), normal(3)).verdict is Verdict.PASS


def test_a_right_function(ask: Any) -> None:
    outcome = ask(check, lambda x, y: jnp.tanh(x @ y), normal(2, 3), normal(3))
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())
    assert outcome.resolution < 1e-8


def test_a_wrong_sign_for_a_scalar_argument(ask: Any) -> None:
    outcome = ask(check, _huber, jnp.array([0.3, 2.0, -3.0]), 1.0)
    (finding,) = outcome.findings
    assert (outcome.verdict, finding.leaf, finding.mode) == (Verdict.FAIL, "delta", "rev")
    assert "d out[" in finding.message and "/ d delta" in finding.message
    assert finding.claimed == pytest.approx(-finding.measured)


@pytest.mark.parametrize("place", [0, 3])
def test_one_element_wrong_by_a_millionth(ask: Any, place: int) -> None:
    (finding,) = ask(check, _reverse_off(place, 1e-6), normal(4)).findings
    assert (finding.verdict, finding.index, finding.output) == (Verdict.FAIL, (place,), f"out[{place}]")


def test_one_of_many_elements_wrong_by_a_millionth(ask: Any) -> None:
    assert ask(check, _reverse_off(77, 1e-6), normal(100)).verdict is Verdict.FAIL


@pytest.mark.parametrize("said", [{"rtol": 1e-3}, {}])
def test_the_adjoint_is_right_to_rounding_whatever_the_tolerance(ask: Any, said: Any) -> None:
    error = 1e-6 if said else 1.5e-10
    (finding,) = ask(check, _reverse_off(1, error), normal(3), **said).findings
    assert finding.verdict is Verdict.FAIL and "they are not adjoint" in finding.message
    assert ask(check, _reverse_off(1, 0.0), normal(3), **said).verdict is Verdict.PASS


def test_reverse_mode_that_was_not_claimed(ask: Any) -> None:
    assert ask(check, jnp.sin, 0.5, modes=("fwd",)).verdict is Verdict.SKIP


def test_reverse_mode_that_does_not_exist(ask: Any) -> None:
    skipped = ask(check, _loop, 1.1)
    assert skipped.verdict is Verdict.SKIP and "while_loop has no reverse rule" in skipped.note
    (finding,) = ask(check, _loop, 1.1, modes=("fwd", "rev")).findings
    assert finding.verdict is Verdict.FAIL and "was claimed" in finding.message


def test_a_backward_rule_that_raises(ask: Any) -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.sin(x)

    def backward(kept: Any, g: Any) -> Any:
        raise KeyError("forgotten")

    f.defvjp(lambda x: (jnp.sin(x), x), backward)
    (finding,) = ask(check, f, 0.5).findings
    assert finding.verdict is Verdict.FAIL and "KeyError" in finding.message
    assert (finding.path, finding.line) == (__file__, backward.__code__.co_firstlineno + 1)
