"""GRD106: what the author gives independently, by ``value=``, ``derivative=`` and ``exact=``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd106_known as check
from gradhook.model.errors import GradhookError
from gradhook.model.results import Verdict

X = np.array([0.5, -1.0])


def _two(x: Any, k: Any) -> Any:
    return {"a": jnp.sum(x) * k, "b": x * x}


def test_nothing_was_given(ask: Any) -> None:
    assert ask(check, jnp.sin, X).verdict is Verdict.SKIP


@pytest.mark.parametrize(
    "said",
    [
        {"value": np.sin(X)},
        {"value": np.sin(X), "derivative": np.diag(np.cos(X))},
        {"derivative": np.diag(np.cos(X)), "modes": ("rev",)},
        {"exact": lambda x: jnp.diag(jnp.cos(x))},
        {"exact": jax.jacobian(jnp.sin)},
    ],
)
def test_what_is_right(ask: Any, said: Any) -> None:
    outcome = ask(check, jnp.sin, X, **said)
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


def test_a_gradient_and_a_scalar(ask: Any) -> None:
    assert ask(check, lambda x: jnp.sum(x**2), X, exact=lambda x: 2 * x).verdict is Verdict.PASS
    assert ask(check, jnp.sin, 0.5, value=np.sin(0.5), derivative=np.cos(0.5)).verdict is Verdict.PASS
    assert ask(check, jnp.zeros_like, X, value=0.0).verdict is Verdict.PASS


def test_several_outputs_and_arguments(ask: Any) -> None:
    jacobian = {"a": (np.full(2, 3.0), np.sum(X)), "b": (np.diag(2 * X), np.zeros(2))}
    assert ask(check, _two, X, 3.0, derivative=jacobian).verdict is Verdict.PASS
    wrong = {"a": (np.full(2, 3.0), np.sum(X) + 1e-6), "b": (np.diag(2 * X), np.zeros(2))}
    assert ask(check, _two, X, 3.0, derivative=wrong).verdict is Verdict.FAIL


def test_a_wrong_value(ask: Any) -> None:
    (finding,) = ask(check, jnp.sin, X, value=np.array([np.sin(0.5), 0.0])).findings
    assert finding.verdict is Verdict.FAIL and "the value of out[1] is" in finding.message
    assert (finding.claimed, finding.measured) == (pytest.approx(np.sin(-1.0)), 0.0)


def test_a_wrong_derivative_in_both_modes(ask: Any) -> None:
    findings = ask(check, jnp.sin, X, exact=lambda x: jnp.diag(jnp.sin(x))).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]
    assert all(f.leaf == "x" and "the given derivative is" in f.message for f in findings)


@pytest.mark.parametrize(
    "said, verdict", [({}, Verdict.FAIL), ({"rtol": 1e-3}, Verdict.PASS), ({"atol": 1e-3}, Verdict.PASS)]
)
def test_tolerances(ask: Any, said: Any, verdict: Verdict) -> None:
    assert ask(check, jnp.exp, 1.0, derivative=2.7183, **said).verdict is verdict


def test_many_outputs(ask: Any) -> None:
    def wide(x: Any) -> Any:
        return jnp.outer(jnp.arange(100.0), x).sum(axis=1)

    right = np.outer(np.arange(100.0), np.ones(2))
    assert ask(check, wide, X, derivative=right).verdict is Verdict.PASS
    right[37, 1] += 1e-3
    findings = ask(check, wide, X, derivative=right).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]


@pytest.mark.parametrize(
    "said, message",
    [
        ({"value": np.zeros(3)}, "value= holds 3 numbers, the function returns 2"),
        ({"derivative": np.zeros(3)}, r"the given derivative has the shapes \(3,\); expected \(2, 2\)"),
        ({"derivative": (np.zeros((2, 2)), 1.0)}, "the given derivative has the shapes"),
    ],
)
def test_other_shapes_are_refused(ask: Any, said: Any, message: str) -> None:
    with pytest.raises(GradhookError, match=message):
        ask(check, jnp.sin, X, **said)


def test_infinite_and_undefined_values_can_be_given(ask: Any) -> None:
    assert ask(check, jnp.log, 0.0, value=-np.inf).verdict is Verdict.PASS


def test_complex_values(ask: Any) -> None:
    assert ask(check, lambda z: z * z, 1 + 2j, value=-3 + 4j).verdict is Verdict.PASS
    assert ask(check, lambda z: z * z, 1 + 2j, value=-3 - 4j).verdict is Verdict.FAIL


def test_drawn_arguments_reach_the_given_derivative(ask: Any) -> None:
    assert (
        ask(check, lambda x, k: x * k, normal(2), 3.0, exact=lambda x, k: (k * jnp.eye(2), x)).verdict is Verdict.PASS
    )


@pytest.mark.parametrize(
    "function, args, said",
    [
        (lambda t: 2 * 1.38e-23 * t, (300.0,), {"value": 4.14e-21}),
        (lambda x: 1e-12 * x, (1.0,), {"derivative": 5e-13}),
        (lambda x: 1e-12 * x, (1.0,), {"exact": lambda x: 3e-13}),
        (lambda x: x * np.array([1e6, 1e-7]), (np.ones(2),), {"value": np.array([1e6, 2e-7])}),
        (
            lambda x, y: 1e6 * x + 1e-3 * jnp.sin(y),
            (1.0, 1.0),
            {"exact": lambda x, y: (1e6, 1e-3 * (1 + 1e-5) * jnp.cos(y))},
        ),
        (lambda x: jnp.sin(x), (np.pi,), {"value": 1e-14}),
    ],
)
def test_each_number_on_its_own_scale(ask: Any, function: Any, args: Any, said: Any) -> None:
    assert ask(check, function, *args, **said).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    "function, x, said",
    [
        (lambda t: 1.38e-23 * t, 300.0, {"value": 1.38e-23 * 300}),
        (jnp.sin, np.pi, {"value": 0.0, "derivative": -1.0}),
        (jnp.sin, np.pi / 2, {"value": 1.0, "derivative": 0.0}),
        (lambda x: (x + 0.2) - (x - 0.1) - 0.3, 0.1, {"value": 0.0}),
        (lambda x: 1e9 * ((x + 0.2) - (x - 0.1) - 0.3), 0.1, {"value": 0.0}),
    ],
)
def test_zero_may_be_given_for_what_rounding_leaves(ask: Any, function: Any, x: Any, said: Any) -> None:
    assert ask(check, function, x, **said).verdict is Verdict.PASS


def test_numbers_that_differ_are_told_apart(ask: Any) -> None:
    (finding,) = ask(check, lambda x: x, 1.0, value=1 + 1e-11, rtol=1e-13).findings
    assert finding.message == "the value of out is 1, given was 1.00000000001"
