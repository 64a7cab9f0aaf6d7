"""GRD202: a surrogate's derivative is the declared one, in each mode."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd202_tangent as check
from gradhook.model import Verdict

X = np.array([0.5, -0.2, 1.7])


def _spike(scale: float, mask: Any = None) -> Any:
    """A step whose slope is that of ``scale`` times tanh, inside ``mask``."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.heaviside(x, 0.0)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        x = primals[0]
        slope = scale / jnp.cosh(x) ** 2 * (1.0 if mask is None else mask(x))
        return f(x), slope * tangents[0]

    return lambda x: f(x)


def _declared(primals: Any, tangents: Any) -> Any:
    return tangents[0] / jnp.cosh(primals[0]) ** 2


DECLARATIONS = [{"derivative_of": jnp.tanh}, {"rule": _declared}]


@pytest.mark.parametrize("said", DECLARATIONS, ids=["function", "rule"])
def test_as_declared(ask: Any, said: Any) -> None:
    outcome = ask(check, _spike(1.0), X, **said)
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


@pytest.mark.parametrize("said", DECLARATIONS, ids=["function", "rule"])
@pytest.mark.parametrize("mode, words", [("fwd", "forward mode"), ("rev", "reverse mode")])
def test_half_of_what_was_declared(ask: Any, said: Any, mode: str, words: str) -> None:
    (finding,) = ask(check, _spike(0.5), X, modes=(mode,), **said).findings
    assert (finding.verdict, finding.mode, finding.leaf) == (Verdict.FAIL, mode, "x")
    assert f"the surrogate's {words} gives" in finding.message and finding.claimed == pytest.approx(
        finding.measured / 2
    )


def test_one_element_wrong_by_a_millionth(ask: Any) -> None:
    nearly = _spike(1.0, lambda x: jnp.where(x < 0, 1 + 1e-6, 1.0))
    findings = ask(check, nearly, X, derivative_of=jnp.tanh).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]
    assert {f.index for f in findings} <= {(1,), (0,)} and all(f.output == "out[1]" for f in findings)


def test_an_open_bound_for_a_closed_one(ask: Any) -> None:
    clipped = _spike(1.0, lambda x: jnp.abs(x) < 1.7)  # wrong on purpose at 1.7 itself
    closed = lambda primals, tangents: _declared(primals, tangents) * (jnp.abs(primals[0]) <= 1.7)  # noqa: E731
    findings = ask(check, clipped, X, rule=closed).findings
    assert {(f.index, f.claimed) for f in findings} == {((2,), 0.0)}


def test_nothing_was_declared(ask: Any) -> None:
    assert ask(check, _spike(1.0), X).verdict is Verdict.SKIP
    assert ask(check, _spike(1.0), X, forward=lambda x: jnp.heaviside(x, 0.0)).verdict is Verdict.SKIP


def test_a_tangent_given_with_a_case(ask: Any) -> None:
    right = 1 / np.cosh(X) ** 2
    assert ask(check, _spike(1.0), X, tangent=right).verdict is Verdict.PASS
    (forward, reverse) = ask(check, _spike(1.0), X, tangent=[right[0], right[1], 0.0]).findings
    assert forward.mode == "fwd" and "a tangent of ones" in forward.message and reverse.mode == "rev"


def test_a_mode_that_does_not_exist(ask: Any) -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.round(x)

    f.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))
    outcome = ask(check, f, X, derivative_of=lambda x: x)
    assert outcome.verdict is Verdict.PASS and "no forward rule" in outcome.note
    assert ask(check, f, X, derivative_of=lambda x: x, modes=("fwd", "rev")).verdict is Verdict.FAIL


def test_a_rule_that_raises(ask: Any) -> None:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.round(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        raise KeyError("forgotten")

    findings = ask(check, lambda x: f(x), X, derivative_of=lambda x: x).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]
    assert all(f.path == __file__ and "KeyError" in f.message for f in findings)


def test_differences_of_the_function_are_no_evidence(ask: Any) -> None:
    """The function is smooth here and its true slope is 1; the declared one is 3."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return x

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return primals[0], 3 * tangents[0]

    assert ask(check, lambda x: f(x), X, derivative_of=lambda x: 3 * x).verdict is Verdict.PASS
    assert ask(check, lambda x: f(x), X, derivative_of=lambda x: x).verdict is Verdict.FAIL


def test_many_outputs(ask: Any) -> None:
    assert ask(check, _spike(1.0), normal(100), derivative_of=jnp.tanh).verdict is Verdict.PASS
    one_wrong = _spike(1.0, lambda x: jnp.ones_like(x).at[77].add(1e-6))
    findings = ask(check, one_wrong, normal(100), derivative_of=jnp.tanh).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]
