"""GRD105: a derivative is finite wherever the value is."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd105_finite as check
from gradhook.model.results import Verdict


def _unsafe_root(x: Any) -> Any:
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)  # wrong on purpose: the unselected branch has an infinite slope


def _safe_root(x: Any) -> Any:
    return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0)


def test_a_right_function(ask: Any) -> None:
    assert ask(check, _safe_root, jnp.array([-1.0, 0.5])).verdict is Verdict.PASS


def test_a_nan_from_a_branch_that_was_not_selected(ask: Any) -> None:
    outcome = ask(check, _unsafe_root, jnp.array([0.5, -1.0]), modes=("rev",))
    (finding,) = outcome.findings
    assert (outcome.verdict, finding.leaf, finding.index) == (Verdict.FAIL, "x", (1,))
    assert "nan" in finding.message and "where(" in finding.help


@pytest.mark.parametrize("function", [jnp.linalg.norm, lambda x: jnp.sqrt(jnp.sum(x * x))])
def test_the_length_of_nothing(ask: Any, function: Any) -> None:
    outcome = ask(check, function, np.zeros(2))
    assert outcome.verdict in (Verdict.FAIL, Verdict.UNDECIDED)
    assert {f.mode for f in outcome.findings} == {"fwd", "rev"}


@pytest.mark.parametrize(
    "function, x, code", [(jnp.cbrt, 0.0, "GRD404"), (jnp.sqrt, 0.0, "GRD408"), (jnp.arcsin, 1.0, "GRD408")]
)
def test_an_infinite_slope_where_the_function_has_one(ask: Any, function: Any, x: float, code: str) -> None:
    outcome = ask(check, function, x)
    if not outcome.findings:  # JAX gives a finite number at some such points: then it is no question of this check
        pytest.skip("the claim is finite")
    assert outcome.verdict is Verdict.UNDECIDED
    assert {f.code for f in outcome.findings} == {code}


def test_an_infinity_where_the_function_is_smooth(ask: Any) -> None:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.sin(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return jnp.sin(primals[0]), tangents[0] / 0.0

    outcome = ask(check, lambda x: f(x), 0.5, modes=("fwd",))
    assert outcome.verdict is Verdict.FAIL and "inf" in outcome.findings[0].message


def test_what_is_undefined_has_no_derivative_to_ask_for(ask: Any) -> None:
    assert ask(check, jnp.log, np.array([-1.0, 1.0])).verdict is Verdict.PASS


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_gradients_of_other_dtypes(ask: Any, dtype: str) -> None:
    assert ask(check, lambda x: jnp.abs(x) ** 2, normal(2, dtype=dtype)).verdict is Verdict.PASS
