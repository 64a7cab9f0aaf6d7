"""Do the numbers behind an answer travel where pictures are wanted, and nowhere else?"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.checks import grd101_forward, grd102_reverse, grd103_second_order, grd207_boundaries
from gradhook.comparison.judge import Tolerance
from gradhook.model.results import Outcome, Verdict
from gradhook.model.trace import Curve
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.finite_difference.plot_data import LARGEST
from gradhook.numerics.function_probe import FunctionProbe


def asked(check: Any, function: Any, *args: Any, curves: bool = True, **said: Any) -> Outcome:
    check_options = CheckOptions(tolerance=Tolerance(), curves=curves, **said)
    outcome: Outcome = check.run(FunctionProbe(function, CheckCase("case", args), check_options, "seed", Clock()))
    return outcome


@jax.custom_jvp
def half(x: Any) -> Any:
    return jnp.sin(x)


@half.defjvp
def _half(primals: Any, tangents: Any) -> Any:
    return half(*primals), 0.5 * jnp.cos(primals[0]) * tangents[0]


X = np.array([0.3, 0.7])


def distance(curve: Curve, to: float) -> Any:
    return np.abs(np.array(curve.central) - to)


def test_nothing_is_kept_unasked() -> None:
    outcome = asked(grd101_forward, half, X, curves=False)
    assert (outcome.verdict, outcome.jacobian, outcome.findings[0].curve) == (Verdict.FAIL, None, None)
    assert asked(grd101_forward, jnp.sin, X, curves=False).curve is None


def test_a_wrong_claim_levels_off_where_the_truth_falls_to_rounding() -> None:
    outcome = asked(grd101_forward, half, X)
    curve = outcome.findings[0].curve
    assert curve is not None
    assert (curve.mode, curve.shape, curve.left) == ("fwd", "smooth", ())
    assert curve.of.startswith("d out[")
    assert list(curve.steps) == sorted(curve.steps, reverse=True)
    assert distance(curve, curve.claimed).min() > 0.3
    truth = 2 * curve.claimed
    assert abs(curve.measured - truth) <= curve.error
    falls = distance(curve, truth)
    assert 13 < falls[0] / falls[1] < 19
    assert (falls[9:] <= 8 * np.array(curve.noise)[9:]).all()


def test_a_failure_shows_the_whole_jacobian() -> None:
    jacobian = asked(grd102_reverse, half, X).jacobian
    assert jacobian is not None
    assert (jacobian.inputs, jacobian.outputs) == (("x[0]", "x[1]"), ("out[0]", "out[1]"))
    np.testing.assert_allclose(jacobian.claimed, np.diag(np.cos(X)) / 2, atol=1e-12)
    np.testing.assert_allclose(jacobian.measured, np.diag(np.cos(X)), atol=1e-9)


@pytest.mark.parametrize(("size", "shown"), [(20, True), (21, False)])
def test_a_large_jacobian_is_not_shown(size: int, shown: bool) -> None:
    assert (size * size <= LARGEST) is shown
    assert (asked(grd101_forward, half, np.full(size, 0.5)).jacobian is not None) is shown


def test_a_pass_shows_a_coordinate_and_no_jacobian() -> None:
    outcome = asked(grd101_forward, jnp.sin, X)
    assert outcome.verdict is Verdict.PASS
    assert outcome.curve is not None and "direction" not in outcome.curve.of
    assert outcome.jacobian is None


def test_combinations_of_many_outputs_have_their_own_ladder() -> None:
    weights = np.linspace(1.0, 2.0, 80)
    outcome = asked(grd102_reverse, lambda x: jnp.exp(x) * weights, np.array(0.25))
    curve = outcome.curve
    assert curve is not None and curve.of.startswith("d combination[")
    assert distance(curve, curve.claimed).min() <= 1e-6 * abs(curve.claimed)


def test_a_kink_has_two_sides() -> None:
    curve = asked(grd101_forward, jnp.abs, np.array(0.0)).findings[0].curve
    assert curve is not None and curve.shape == "kink"
    assert set(curve.left) == {-1.0} and set(curve.right) == {1.0}
    assert len(curve.left) == len(curve.right) == len(curve.steps)


def test_second_order_and_a_step_of_ones_own() -> None:
    curve = asked(grd103_second_order, jnp.sin, np.array(0.4), order=2, modes=("rev",)).curve
    assert curve is not None
    assert abs(curve.claimed + np.sin(0.4)) < 1e-12
    assert asked(grd101_forward, jnp.sin, X, step=1e-4).curve is None


def test_a_staircase_has_upright_risers() -> None:
    ste = jax.custom_jvp(lambda x: jnp.round(x))
    ste.defjvp(lambda primals, tangents: (ste(*primals), tangents[0]))
    said = {"surrogate": True, "forward": jnp.round, "derivative_of": lambda x: x}
    found = asked(grd207_boundaries, ste, np.array(0.25), **said).staircases
    assert asked(grd207_boundaries, ste, np.array(0.25), curves=False, **said).staircases == ()
    assert (found[0].input, found[0].output) == ("x", "out")
    at, value = np.array(found[0].at), np.array(found[0].value)
    assert (np.diff(at) >= 0).all() and set(found[0].slope) == {1.0}
    assert (np.diff(at)[np.diff(value) != 0] < 1e-12).all()
    assert len(np.unique(value)) == 2
