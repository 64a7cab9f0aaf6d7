"""GRD411: a check that could not have failed says so."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from gradhook import normal
from gradhook.checks import grd411_self_test as check
from gradhook.model.results import Verdict


def test_it_is_asked_on_request_only(ask: Any) -> None:
    assert ask(check, jnp.sin, normal(3)).verdict is Verdict.SKIP


def test_a_check_with_teeth(ask: Any) -> None:
    outcome = ask(check, lambda x, y: jnp.sum(jnp.sin(x)) * y, normal(3), normal(), self_test=True)
    assert outcome.verdict is Verdict.PASS


def test_a_value_in_which_small_errors_drown(ask: Any) -> None:
    outcome = ask(check, lambda x: 1e6 + jnp.sin(x), normal(), self_test=True)
    assert outcome.verdict is Verdict.UNDECIDED
    assert "every element larger by 2e-09" in outcome.findings[0].message
    assert "sign flipped" not in outcome.findings[0].message


def test_a_tolerance_that_fits_the_value(ask: Any) -> None:
    assert ask(check, lambda x: 1e6 + jnp.sin(x), normal(), self_test=True, rtol=1e-5).verdict is Verdict.PASS


def test_a_convention_that_accepts_everything_between(ask: Any) -> None:
    outcome = ask(check, lambda x: jnp.abs(x) + 0.0, 0.0, self_test=True, kink="subgradient")
    assert outcome.verdict is Verdict.UNDECIDED
    assert "sign flipped" in outcome.findings[0].message
