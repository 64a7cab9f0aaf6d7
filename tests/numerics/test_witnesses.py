"""Proofs of 0 and the complex step, asked of a function as the checks ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd101_forward, grd102_reverse, grd103_second_order
from gradhook.model.results import Outcome, Verdict
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

PASS, FAIL, UNDECIDED = Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED
Function = Callable[..., Any]


def probe(function: Function, *args: Any, **said: Any) -> FunctionProbe:
    return FunctionProbe(function, CheckCase("case", args), CheckOptions(**said), "seed", Clock())


def forward(function: Function, *args: Any, **said: Any) -> Outcome:
    return grd101_forward.run(probe(function, *args, **said))


def wrong_in(function: Function, argument: int, factor: float) -> Function:
    """A function whose rule multiplies the part of one argument by a factor, on purpose."""
    rule = jax.custom_jvp(function)

    @rule.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        scaled = tuple(t * factor if k == argument else t for k, t in enumerate(tangents))
        return jax.jvp(function, primals, scaled)

    return rule


def independent(function: Function, *args: Any) -> list[list[bool]]:
    asked = probe(function, *args)
    coordinates = sum(np.size(arg) for arg in args)
    return asked.independent((), "fwd")[:coordinates].tolist()  # type: ignore[no-any-return]


def test_what_no_nan_reaches_is_independent() -> None:
    assert independent(lambda x, y: jnp.stack([jnp.sin(x), y * y, 0 * x + y]), 0.5, 2.0) == [
        [False, True, False],
        [True, False, False],
    ]
    assert independent(lambda x: jnp.stack([x[1], x[0]]), np.array([0.5, 2.0])) == [[True, False], [False, True]]
    assert independent(lambda x: jnp.stack([jax.lax.stop_gradient(x), 3.0]), 0.5) == [[False, True]]


def test_a_value_that_rounding_hides_is_not_independent() -> None:
    assert independent(lambda x, y: 1e20 * y + x, 0.5, 2.0) == [[False], [False]]


OPAQUE: list[tuple[str, Function]] = [
    ("a comparison", lambda x: jnp.where(x > 1, x, 3.0)),
    ("a sorting", lambda x: jnp.sort(jnp.stack([x, 3.0]))[1] * 0 + 3),
    ("a callback", lambda x: 0 * jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct((), np.float64), x)),
]


@pytest.mark.parametrize("name, function", OPAQUE, ids=[row[0] for row in OPAQUE])
def test_what_may_hide_a_nan_proves_nothing(name: str, function: Function) -> None:
    assert independent(lambda x: function(x), 0.5) == [[False]]


WITHOUT_FLOW: list[tuple[str, Function]] = [
    ("a maximum of a decision", lambda x: jnp.stack([3.0, jnp.float64(x < 1)])[0]),
    ("a cast to an integer", lambda x: jnp.float64(x.astype(int) * 0)),
    ("a loop until", lambda x: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (0, x))[0] + 0.0),
]


@pytest.mark.parametrize("name, function", WITHOUT_FLOW, ids=[row[0] for row in WITHOUT_FLOW])
def test_no_floating_data_flows_through_a_decision_or_an_integer(name: str, function: Function) -> None:
    assert independent(lambda x: function(x), 0.5) == [[True]]


def test_what_cannot_be_traced_proves_nothing_and_has_no_complex_step() -> None:
    asked = probe(lambda x: 3.0 * jnp.ones(2) if float(x) > 0 else x * jnp.ones(2), 0.5)
    assert not asked.independent((), "fwd").any()
    assert asked.witness((), "fwd") is None


def test_the_complex_step_of_a_study() -> None:
    asked = probe(lambda x: jnp.stack([jnp.sin(x[0]) * x[1], jnp.log(1 + jnp.exp(x[1]))]), np.array([0.7, -34.0]))
    found, directions = asked.witness((), "fwd"), asked.comparison().directions  # type: ignore[union-attr]
    jacobian = np.array([[np.cos(0.7) * -34.0, np.sin(0.7)], [0.0, np.exp(-34.0)]])
    assert found is not None
    assert (np.abs(found.value - directions @ jacobian.T) <= 4 * found.error + 1e-30).all()


def test_combinations_of_many_outputs_have_a_complex_step_too() -> None:
    asked = probe(lambda x: jnp.exp(x) * jnp.arange(1.0, 101.0), 0.25)
    found, comparison = asked.witness((), "rev"), asked.comparison()
    assert found is not None and found.value.shape == (3, 4)
    assert found.value == pytest.approx(comparison.autodiff["rev"], rel=1e-12)  # type: ignore[union-attr]


def test_the_complex_step_of_a_derivative() -> None:
    asked = probe(lambda x: x**3, 2.0, order=2)
    found, comparison = asked.witness(("fwd",), "fwd"), asked.comparison(("fwd",))
    assert found is not None
    assert found.value == pytest.approx(comparison.autodiff["fwd"], rel=1e-13)  # type: ignore[union-attr]


DROWNED: list[tuple[str, Function, int, float]] = [
    ("a lost slope of 1e-4 under 1e10", lambda x, y: 1e10 * x + 1e-4 * y, 1, 0.0),
    ("a lost slope of 1e-9 under 1e6", lambda x, y: 1e6 * x + 1e-9 * y, 1, 0.0),
    ("off by 1e-5", lambda x, y: 1e6 * x + 1e-3 * y, 1, 1 + 1e-5),
    ("off by 1e-6", lambda x, y: 1e6 * x + 1e-2 * jnp.sin(y), 1, 1 + 1e-6),
    ("the wrong sign", lambda x, y: 1e3 * x + 1e-12 * y, 1, -1.0),
    ("half", lambda x, y: 1e6 * x + 1e-8 * y, 1, 0.5),
]


@pytest.mark.parametrize("name, function, argument, factor", DROWNED, ids=[row[0] for row in DROWNED])
def test_a_small_element_beside_a_large_one(name: str, function: Function, argument: int, factor: float) -> None:
    outcome = forward(wrong_in(function, argument, factor), 1.0, 1.0)
    assert (outcome.verdict, [f.leaf for f in outcome.findings]) == (FAIL, ["y"])
    right = forward(function, 1.0, 1.0)
    assert right.verdict is PASS and right.resolution is not None and right.resolution < 1e-9


def test_a_forgotten_term_under_a_large_loss() -> None:
    def loss(a: Any, b: Any) -> Any:
        return jnp.sum((1e3 * a * jnp.linspace(0.0, 1.0, 1000) + 20.0) ** 2) + 1e-6 * jax.lax.stop_gradient(b) ** 2

    outcome = forward(loss, 2.0, 3.0)
    assert (outcome.verdict, [f.leaf for f in outcome.findings]) == (FAIL, ["b"])


CANCELLED: list[tuple[str, Function, float]] = [
    ("a binary cross entropy", lambda z: -jnp.log(1 - jax.nn.sigmoid(z)), -34.0),
    ("a softplus", lambda x: jnp.log(1 + jnp.exp(x)), -32.0),
    ("a small root", lambda c: (-1e6 + jnp.sqrt(1e12 - 4 * c)) / 2, 1.0),
    ("a sagitta", lambda d: jnp.sqrt(4.096e13 + d * d) - 6.4e6, 1.0),
    ("an error function", lambda x: 1 - jax.scipy.special.erf(x), 5.8),
    ("1 - cos(x)", lambda x: 1 - jnp.cos(x), 1e-4),
]


@pytest.mark.parametrize("name, function, x", CANCELLED, ids=[row[0] for row in CANCELLED])
def test_a_small_difference_of_large_terms(name: str, function: Function, x: float) -> None:
    assert forward(lambda x: function(x), x).verdict is PASS
    for factor in (0.0, -1.0, 1 + 1e-5):
        assert forward(wrong_in(lambda x: function(x), 0, factor), x).verdict is FAIL


@pytest.mark.parametrize("x", [-1e-12, -1e-9, -1e-5, -1e-3, -0.1, -3.0])
def test_a_ramp_left_of_its_kink(x: float) -> None:
    ramp = lambda x: jnp.maximum(x, 0.0)  # noqa: E731
    assert forward(ramp, x).verdict is PASS
    for slope in (1.0, 0.5):
        rule = jax.custom_jvp(ramp)
        rule.defjvp(lambda p, t, slope=slope, rule=rule: (rule(*p), slope * t[0]))
        assert forward(rule, x).verdict is FAIL


@pytest.mark.parametrize("distance", [5e-15, 1e-14, 2e-14])
def test_the_mean_of_both_slopes_beside_a_kink_is_no_pass(distance: float) -> None:
    bent = lambda x, y: jnp.abs(x - 1.0 - distance) + y  # noqa: E731
    assert forward(wrong_in(bent, 0, 0.0), 1.0, 1.0).verdict is not PASS
    assert forward(lambda x: jnp.max(x), np.array([1.0, 1.0 + distance, 0.2])).verdict is not FAIL
    assert forward(lambda x: jnp.clip(x, 0.0, 0.3) ** 2, 0.3 - distance).verdict is not FAIL


def test_a_second_derivative_is_measured_on_its_own_scale() -> None:
    plain = lambda x: 1e6 * x + 5e-5 * x * x  # noqa: E731
    lost = jax.custom_jvp(plain)
    lost.defjvp(lambda p, t: (lost(p[0]), (1e6 + jax.lax.stop_gradient(1e-4 * p[0])) * t[0]))
    assert grd103_second_order.run(probe(lost, 1.0, order=2)).verdict is FAIL
    assert grd103_second_order.run(probe(plain, 1.0, order=2)).verdict is PASS


@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("function", [jnp.exp, jnp.sin])
def test_a_step_of_the_user_s_accuses_no_right_derivative(function: Function, step: float) -> None:
    """Its truncation belongs to the bar."""
    total = lambda x: jnp.sum(function(x))  # noqa: E731
    assert forward(total, normal(3), step=step).verdict is PASS
    assert forward(wrong_in(total, 0, 1.01), normal(3), step=step).verdict is FAIL


@pytest.mark.parametrize("x", [1e10, 1e12, 1e13, 1e14, 1e15])
def test_a_sine_too_far_out_accuses_nobody(x: float) -> None:
    assert forward(lambda x: jnp.sin(x), x).verdict is not FAIL


def test_single_precision_kept_by_a_rule_shows_in_a_draw() -> None:
    @jax.custom_vjp
    def cube(x: Any) -> Any:
        return x * x * x

    def backward(kept: Any, g: Any) -> Any:
        return (3 * kept.astype(g.dtype) ** 2 * g,)

    cube.defvjp(lambda x: (cube(x), x.astype(jnp.float32)), backward)
    assert grd102_reverse.run(probe(cube, normal(3))).verdict is FAIL
