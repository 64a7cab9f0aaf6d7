"""GRD104: a rule beside the derivative of the code under it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.checks import grd104_primal_code as check
from gradhook.model.results import Verdict

POINT = np.array([0.3, -1.2])


def _ruled(slope: Any, code: Any = jnp.sin) -> Any:
    """A function with a ``custom_jvp`` rule that multiplies the tangent by ``slope(x)``."""

    @jax.custom_jvp
    def ruled(x: Any) -> Any:
        return code(x)

    ruled.defjvps(lambda tangent, _, x: slope(x) * tangent)
    return ruled


def test_a_right_rule(ask: Any) -> None:
    outcome = ask(check, _ruled(jnp.cos), POINT)
    assert (outcome.verdict, outcome.note) == (Verdict.PASS, "")


def test_a_function_without_a_rule(ask: Any) -> None:
    assert ask(check, jnp.sin, POINT).verdict is Verdict.SKIP


def test_rules_that_jax_brings_are_left_alone(ask: Any) -> None:
    assert ask(check, jax.nn.relu, POINT).verdict is Verdict.SKIP


@pytest.mark.parametrize("modes", [None, ("rev",)])
def test_a_wrong_rule_of_the_target(ask: Any, modes: Any) -> None:
    outcome = ask(check, _ruled(lambda x: 0.5 * jnp.cos(x)), POINT, modes=modes)
    (finding,) = outcome.findings
    assert outcome.verdict is Verdict.FAIL
    assert finding.measured == pytest.approx(2 * finding.claimed)
    assert finding.path == __file__ and "ruled` (test_grd104_primal_code.py:" in finding.message


def test_a_wrong_rule_of_a_helper_is_left_to_another_question(ask: Any) -> None:
    outcome = ask(check, lambda x: 2 * _ruled(jnp.sin)(x), POINT)
    assert outcome.verdict is Verdict.SKIP and "GRD110" in outcome.note


def test_a_stable_formula_whose_code_has_no_derivative(ask: Any) -> None:
    def code(x: Any) -> Any:
        return jnp.linalg.norm(x) ** 2

    @jax.custom_jvp
    def squared(x: Any) -> Any:
        return code(x)

    squared.defjvps(lambda tangent, _, x: 2 * x @ tangent)
    outcome = ask(check, squared, np.zeros(2))
    assert outcome.verdict is Verdict.PASS and "not finite" in outcome.note


def test_an_iteration_that_stops_early_is_no_fault(ask: Any) -> None:
    @jax.custom_jvp
    def root(a: Any) -> Any:
        return jax.lax.fori_loop(0, 40, lambda _, x: jax.lax.stop_gradient(x) - (x * x - a) / (2 * x), 1.0 + 0 * a)

    root.defjvps(lambda tangent, x, a: tangent / (2 * x))
    outcome = ask(check, root, 2.0)
    assert outcome.verdict is Verdict.PASS and "differences bear the rule out" in outcome.note


def _noisy(x: Any) -> Any:
    """A sine under noise of 1e-6, which is zero to any derivative."""
    return jnp.sin(x) + 1e-6 * jnp.sign(jnp.sin(1e12 * x + 7e11 * x * x))


def _opaque(x: Any) -> Any:
    """The same with a part in single precision, through which no complex step goes."""
    return _noisy(x) + 1e-30 * x.astype(jnp.float32)


def test_where_the_complex_step_decides_the_code_has_nothing_to_add(ask: Any) -> None:
    assert ask(check, _ruled(jnp.cos, _noisy), np.array([0.7])).verdict is Verdict.PASS
    (finding,) = ask(check, _ruled(lambda x: (1 + 1e-8) * jnp.cos(x), _noisy), np.array([0.7])).findings
    assert finding.verdict is Verdict.FAIL


def test_agreement_where_differences_cannot_resolve(ask: Any) -> None:
    outcome = ask(check, _ruled(jnp.cos, _opaque), np.array([0.7]))
    assert outcome.verdict is Verdict.PASS and "cannot resolve" in outcome.note


def test_disagreement_where_differences_cannot_resolve(ask: Any) -> None:
    outcome = ask(check, _ruled(lambda x: (1 + 1e-8) * jnp.cos(x), _opaque), np.array([0.7]))
    (finding,) = outcome.findings
    assert outcome.verdict is finding.verdict is Verdict.UNDECIDED
    assert finding.measured == pytest.approx(np.cos(0.7), rel=1e-12)


def test_code_without_a_derivative_at_all(ask: Any) -> None:
    def code(x: Any) -> Any:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    outcome = ask(check, _ruled(jnp.cos, code), POINT)
    assert outcome.verdict is Verdict.SKIP and "callback" in outcome.note


def test_a_rule_by_custom_gradient_is_a_rule_of_the_target(ask: Any) -> None:
    wrong = jax.custom_gradient(lambda x: (jnp.sin(x), lambda g: 0.5 * g * jnp.cos(x)))
    (finding,) = ask(check, wrong, POINT).findings
    assert finding.measured == pytest.approx(2 * finding.claimed)
    assert finding.path == __file__ and finding.leaf == "x"
