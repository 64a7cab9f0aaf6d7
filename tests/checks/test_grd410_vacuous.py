"""GRD410: a derivative that is zero wherever it was looked at has not been tested."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd410_vacuous as check
from gradhook.model.results import Verdict


@pytest.mark.parametrize(
    "function, x", [(jnp.sin, 0.5), (lambda x: jnp.sum(x**2), normal(3)), (lambda x: x[:1] * 0 + x[1:], np.ones(2))]
)
def test_something_moves(ask: Any, function: Any, x: Any) -> None:
    assert ask(check, function, x).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "function, x", [(lambda x: 0 * x + 3, 0.5), (jnp.round, 0.3), (lambda x: jnp.sum(x**2), np.zeros(3))]
)
def test_nothing_moves(ask: Any, function: Any, x: Any) -> None:
    outcome = ask(check, function, x)
    (finding,) = outcome.findings
    assert outcome.verdict is finding.verdict is Verdict.UNDECIDED
    assert finding.code == "GRD410" and "vacuous" in finding.message


def test_a_second_derivative_counts(ask: Any) -> None:
    assert ask(check, lambda x: jnp.sum(x**2), np.zeros(3), order=2).verdict is Verdict.PASS


def test_a_claim_or_a_measurement_suffices(ask: Any) -> None:
    """A function that is held still, or a rule that invents a slope, is no vacuous case: other questions answer it."""
    assert ask(check, lambda x: jax.lax.stop_gradient(x), 0.5).verdict is Verdict.PASS

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.round(x)

    f.defjvps(lambda dx, _, x: dx)
    assert ask(check, lambda x: f(x), 0.3).verdict is Verdict.PASS
