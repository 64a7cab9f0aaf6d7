"""The ladder, its extrapolation, and the error bar that comes with it: arithmetic on arrays, no JAX."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.numerics.differences import (
    EPS,
    LEVELS,
    RATIO,
    Ladder,
    central_slope,
    one_sided_slope,
    plain_slope,
    steps,
)

Build = Callable[..., Ladder]
SMOOTH: list[tuple[Any, float, float]] = [
    (np.sin, 0.7, np.cos(0.7)),
    (np.exp, -3.0, np.exp(-3.0)),
    (lambda x: x**3, 1.5, 6.75),
    (lambda x: 0 * x + 3, 0.7, 0.0),
    (lambda x: 2 * x, 1e6, 2.0),
    (np.log, 3.0, 1 / 3),
    (lambda x: 1e200 * np.cos(x), 2.0, -1e200 * np.sin(2.0)),
]


def test_steps_shrink_by_the_ratio_from_a_fifth_of_the_scale() -> None:
    found = steps(np.array([1.0, 8.0]))
    assert found.shape == (2, LEVELS)
    assert np.allclose(found[:, 0], [0.18310546875, 8 * 0.18310546875], rtol=0)
    assert (found[:, :-1] / found[:, 1:] == RATIO).all()


@given(st.integers(-3, 30), st.floats(2.0**-20, 1.0, width=32))
def test_a_step_from_a_point_of_single_precision_is_exact(exponent: int, fraction: float) -> None:
    scale = 2.0**exponent
    h = steps(np.array([scale]))[0]
    assert ((fraction * scale + h) - fraction * scale == h).all()
    assert (fraction * scale - (fraction * scale - h) == h).all()


@pytest.mark.parametrize("function, x, truth", SMOOTH)
def test_central_slope_of_a_smooth_function(ladder: Build, function: Any, x: float, truth: float) -> None:
    slope = central_slope(ladder(function, x))
    assert slope.accepted.all()
    assert abs(slope.value[0, 0] - truth) <= slope.error[0, 0]
    assert slope.error[0, 0] <= 1e-10 * max(1.0, abs(truth))


@given(
    st.lists(st.floats(-10, 10), min_size=4, max_size=4),
    st.floats(-4, 4, width=32),
    st.integers(-40, 40),
)
def test_the_bar_of_a_cubic_holds_at_any_scale(coefficients: list[float], x: float, exponent: int) -> None:
    cubic = np.polynomial.Polynomial(np.array(coefficients) * 2.0**exponent)
    h = steps(np.array([max(1.0, 2.0 ** np.ceil(np.log2(max(1.0, abs(x)))))]))
    values = [cubic(x + side * h)[..., None] for side in (1, -1)]
    slope = central_slope(Ladder(h, *values, np.array([cubic(x)]), np.array([abs(x)]), np.zeros((1, 1))))
    assert slope.accepted.all()
    assert abs(slope.value[0, 0] - cubic.deriv()(x)) <= slope.error[0, 0] + 8 * EPS * abs(cubic.deriv()(x))


def test_two_coarse_steps_that_agree_prove_nothing(ladder: Build) -> None:
    # sin(1e6 x): the coarse differences all say about 0.
    slope = central_slope(ladder(lambda x: np.sin(1e6 * x), 0.7))
    truth = 1e6 * np.cos(1e6 * 0.7)
    assert not slope.accepted[0, 0] or abs(slope.value[0, 0] - truth) <= slope.error[0, 0]


@pytest.mark.parametrize("power", [4, 8, 12])
def test_steps_that_are_no_powers_of_two_see_a_period_that_is_one(ladder: Build, power: int) -> None:
    rate = 2 * np.pi * 2.0**power
    slope = central_slope(ladder(lambda x: np.sin(rate * x), 0.5))
    assert abs(slope.value[0, 0] - rate * np.cos(rate * 0.5)) <= slope.error[0, 0]


def test_every_output_has_its_own_bar(ladder: Build) -> None:
    def three(x: Any) -> Any:
        return np.stack([np.sin(x), np.sin(x) + 1e8, np.floor(1e9 * x)], axis=-1)

    slope = central_slope(ladder(three, 0.7))
    fine, shifted, rough = slope.error[0]
    assert fine < 1e-11 < 1e-9 < shifted < 1e-3 < rough
    assert (np.abs(slope.value[0, :2] - np.cos(0.7)) <= slope.error[0, :2]).all()


@pytest.mark.parametrize("side, truth", [(+1, 2.0), (-1, -1.0)])
def test_one_sided_slopes_tell_a_kink_apart(ladder: Build, side: int, truth: float) -> None:
    kink = ladder(lambda x: np.where(x > 0.5, 2 * (x - 0.5), 0.5 - x), 0.5)
    slope = one_sided_slope(kink, side)
    assert abs(slope.value[0, 0] - truth) <= slope.error[0, 0] < 1e-8


def test_a_one_sided_slope_needs_its_own_side_only(ladder: Build) -> None:
    edge = ladder(lambda x: np.where(x < 0, np.nan, np.exp(x)), 0.0)
    ahead, back = one_sided_slope(edge, +1), one_sided_slope(edge, -1)
    assert abs(ahead.value[0, 0] - 1) <= ahead.error[0, 0] < 1e-8
    assert not back.accepted.any()


def test_an_infinite_value_at_a_finer_step_contradicts(ladder: Build) -> None:
    def pole(x: Any) -> Any:
        return np.where(np.abs(x - 0.7) < 1e-4, np.inf, np.sin(x))

    with np.errstate(invalid="ignore"):
        assert not central_slope(ladder(pole, 0.7)).accepted.any()


def test_steps_below_the_last_place_say_nothing(ladder: Build) -> None:
    fine = ladder(np.sin, 1e6, scale=2.0**-10)
    assert 0 < fine.resolvable.sum() < LEVELS
    slope = central_slope(fine)
    assert abs(slope.value[0, 0] - np.cos(1e6)) <= slope.error[0, 0]


def test_a_measured_noise_widens_the_bar(ladder: Build) -> None:
    rounding = central_slope(ladder(np.sin, 0.7)).error[0, 0]
    noisy = central_slope(ladder(np.sin, 0.7, floor=1e-8)).error[0, 0]
    assert noisy > 1e3 * rounding


def test_plain_slope_is_one_central_difference(ladder: Build) -> None:
    first = ladder(np.exp, 0.5)
    h = first.steps[0, 0]
    same = dataclasses.replace(
        first,
        steps=np.full_like(first.steps, h),
        plus=np.broadcast_to(first.plus[:, :1], first.plus.shape),
        minus=np.broadcast_to(first.minus[:, :1], first.minus.shape),
    )
    slope = plain_slope(same)
    assert slope.value[0, 0] == (np.exp(0.5 + h) - np.exp(0.5 - h)) / (2 * h)
    assert slope.error[0, 0] < 1e-13  # rounding alone: the truncation of about 1e-2 is the user's choice
