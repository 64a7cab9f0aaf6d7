"""GRD201: a surrogate's value is that of its reference, to the last bit, on every route."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.checks import grd201_value as check
from gradhook.model.results import Verdict

X = np.array([0.4, -0.4, 1e9 + 0.5, np.nan])


@jax.custom_jvp
def _straight(x: Any) -> Any:
    return jnp.round(x)


@_straight.defjvp
def _straight_jvp(primals: Any, tangents: Any) -> Any:
    return jnp.round(primals[0]), tangents[0]


def _by_cancellation(x: Any) -> Any:
    return x + jax.lax.stop_gradient(jnp.sign(x) - x)  # wrong on purpose: the sum rounds


@jax.custom_jvp
def _other_under_jvp(x: Any) -> Any:
    return jnp.round(x)


@_other_under_jvp.defjvp
def _other_under_jvp_jvp(primals: Any, tangents: Any) -> Any:
    return jnp.floor(primals[0]), tangents[0]  # wrong on purpose: another value under differentiation


def test_the_same_bits(ask: Any) -> None:
    outcome = ask(check, lambda x: _straight(x), X, forward=jnp.round)
    assert (outcome.verdict, outcome.findings, outcome.resolution) == (Verdict.PASS, (), 0.0)


def test_no_reference(ask: Any) -> None:
    assert ask(check, lambda x: _straight(x), X).verdict is Verdict.SKIP
    assert ask(check, lambda x: _straight(x), X, derivative_of=lambda x: x).verdict is Verdict.SKIP


def test_a_value_by_cancellation(ask: Any) -> None:
    near = ask(check, _by_cancellation, np.array([0.5, -3.0]), forward=jnp.sign)
    assert near.findings[0].message.startswith("at x[0] = ")
    outcome = ask(check, _by_cancellation, np.array([0.5, 1e17]), forward=jnp.sign)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.findings[0].message == "called plainly the value of out[1] is 0, forward= gives 1"


def test_another_value_under_differentiation(ask: Any) -> None:
    findings = ask(check, lambda x: _other_under_jvp(x), np.array([0.2, 0.7, 1.8]), forward=jnp.round).findings
    assert {f.message.split(" the value")[0] for f in findings} >= {"under jvp", "under vjp"}
    assert all(f.message.startswith("under ") and "jit" not in f.message for f in findings)
    assert all("of out[1] is 0, forward= gives 1 (and 1 more)" in f.message for f in findings)
    assert all((f.claimed, f.measured, f.output) == (0, 1, "out[1]") for f in findings)


def test_the_sign_of_zero_alone_is_advice(ask: Any) -> None:
    def unsigned(x: Any) -> Any:
        return _straight(x) + 0.0

    outcome = ask(check, unsigned, np.array(-0.4), forward=jnp.round)
    (finding,) = outcome.findings
    assert (outcome.verdict, finding.verdict) == (Verdict.PASS, Verdict.ADVICE)


def test_a_wrong_value_is_a_failure_whatever_the_zeros_do(ask: Any) -> None:
    def wrong(x: Any) -> Any:
        return _straight(x) + jnp.array([0.0, 1.0])

    outcome = ask(check, wrong, np.array([-0.4, 0.7]), forward=jnp.round)
    assert [f.verdict for f in outcome.findings] == [Verdict.FAIL]
    assert "out[1] is 2, forward= gives 1" in outcome.findings[0].message and "more" not in outcome.findings[0].message
