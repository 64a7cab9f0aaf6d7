"""The ladder, its extrapolation, and the error bar that comes with it: arithmetic on arrays, no JAX."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.numerics.finite_difference.richardson import (
    EPS,
    LEVELS,
    RATIO,
    StepTable,
    fixed_step,
    richardson_central,
    richardson_one_sided,
    steps,
)

Build = Callable[..., StepTable]
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
    found = steps(np.array([1.0, 8.0]), 1, np.zeros(2))
    assert found.shape == (2, LEVELS)
    assert np.allclose(found[:, 0], [0.18310546875, 8 * 0.18310546875], rtol=0)
    assert (found[:, :-1] / found[:, 1:] == RATIO).all()
    assert (steps(np.array([1.0]), 1 + LEVELS, np.zeros(1))[0, 0] == found[0, -1] / RATIO).all()


@given(st.integers(-3, 30), st.floats(2.0**-20, 1.0, width=32))
def test_a_step_from_a_point_of_single_precision_is_exact(exponent: int, fraction: float) -> None:
    scale = 2.0**exponent
    h = steps(np.array([scale]), 1, np.array([scale]))[0]
    assert ((fraction * scale + h) - fraction * scale == h).all()
    assert (fraction * scale - (fraction * scale - h) == h).all()


@given(st.floats(2.0**-20, 2.0**30, width=32), st.sampled_from([-1, 1]), st.integers(0, 2))
def test_finer_steps_are_rounded_until_they_are_exact(size: float, sign: int, block: int) -> None:
    x, scale = sign * size, 2.0 ** np.ceil(np.log2(max(1.0, size)))
    h = steps(np.array([scale]), 1 + block * LEVELS, np.array([size]))[0]
    assert ((x + h) - x == h).all() and (x - (x - h) == h).all()


@pytest.mark.parametrize("function, x, truth", SMOOTH)
def test_central_slope_of_a_smooth_function(table: Build, function: Any, x: float, truth: float) -> None:
    slope = richardson_central(table(function, x))
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
    h = steps(np.array([2.0 ** np.ceil(np.log2(max(1.0, abs(x))))]), 1, np.array([abs(x)]))
    values = [cubic(x + side * h)[..., None] for side in (1, -1)]
    slope = richardson_central(StepTable(h, *values, np.array([[cubic(x)]]), np.array([abs(x)]), np.zeros((1, 1))))
    assert slope.accepted.all()
    assert abs(slope.value[0, 0] - cubic.deriv()(x)) <= slope.error[0, 0] + 8 * EPS * abs(cubic.deriv()(x))


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_coarse_steps_that_agree_prove_nothing(table: Build, blocks: int) -> None:
    """Coarse differences of sin(1e6 x) all say about 0."""
    slope = richardson_central(table(lambda x: np.sin(1e6 * x), 0.7, blocks=blocks))
    truth = 1e6 * np.cos(1e6 * 0.7)
    assert abs(slope.value[0, 0] - truth) <= slope.error[0, 0] or not slope.accepted[0, 0]
    assert blocks == 1 or slope.error[0, 0] <= 1e-6 * abs(truth)


def test_a_whole_block_that_agrees_proves_nothing(table: Build) -> None:
    """A bell a picometre wide is flat to all steps of the first block."""
    bell = table(lambda x: np.exp(-((x / 1e-12) ** 2)), 1e-12, blocks=1)
    assert richardson_central(bell).value[0, 0] == 0
    whole = richardson_central(table(lambda x: np.exp(-((x / 1e-12) ** 2)), 1e-12, blocks=3))
    assert abs(whole.value[0, 0] + 2e12 / np.e) <= whole.error[0, 0] <= 1e-6 * 2e12


@pytest.mark.parametrize("x", [0.1, -0.2865402102470398, 0.2488, 0.3056, 1.0, 3.7, 1e5 + 0.3])
def test_steps_that_do_not_move_the_point_say_nothing(table: Build, x: float) -> None:
    fine = table(np.sin, x, blocks=3)
    assert 0 < fine.resolvable.sum() < 3 * LEVELS
    slope = richardson_central(fine)
    assert slope.accepted[0, 0] and abs(slope.value[0, 0] - np.cos(x)) <= slope.error[0, 0] < 1e-6


def test_blocks_of_a_ladder(table: Build) -> None:
    whole, first = table(np.sin, 0.7, blocks=2), table(np.sin, 0.7)
    assert (whole.coarsest().plus == first.plus).all() and whole.steps.shape == (1, 2 * LEVELS)
    second = dataclasses.replace(
        whole, steps=whole.steps[:, LEVELS:], plus=whole.plus[:, LEVELS:], minus=whole.minus[:, LEVELS:]
    )
    joined = first.extended(second)
    assert (joined.plus == whole.plus).all() and (joined.steps == whole.steps).all()


@pytest.mark.parametrize("power", [4, 8, 12])
def test_steps_that_are_no_powers_of_two_see_a_period_that_is_one(table: Build, power: int) -> None:
    rate = 2 * np.pi * 2.0**power
    slope = richardson_central(table(lambda x: np.sin(rate * x), 0.5))
    assert abs(slope.value[0, 0] - rate * np.cos(rate * 0.5)) <= slope.error[0, 0]


def test_every_output_has_its_own_bar(table: Build) -> None:
    def three(x: Any) -> Any:
        return np.stack([np.sin(x), np.sin(x) + 1e8, np.floor(1e9 * x)], axis=-1)

    slope = richardson_central(table(three, 0.7))
    fine, shifted, rough = slope.error[0]
    assert fine < 1e-11 < 1e-9 < shifted < 1e-3 < rough
    assert (np.abs(slope.value[0, :2] - np.cos(0.7)) <= slope.error[0, :2]).all()


@pytest.mark.parametrize("side, truth", [(+1, 2.0), (-1, -1.0)])
def test_one_sided_slopes_tell_a_kink_apart(table: Build, side: int, truth: float) -> None:
    kink = table(lambda x: np.where(x > 0.5, 2 * (x - 0.5), 0.5 - x), 0.5)
    slope = richardson_one_sided(kink, side)
    assert abs(slope.value[0, 0] - truth) <= slope.error[0, 0] < 1e-8


def test_a_one_sided_slope_needs_its_own_side_only(table: Build) -> None:
    edge = table(lambda x: np.where(x < 0, np.nan, np.exp(x)), 0.0)
    ahead, back = richardson_one_sided(edge, +1), richardson_one_sided(edge, -1)
    assert abs(ahead.value[0, 0] - 1) <= ahead.error[0, 0] < 1e-8
    assert not back.accepted.any()


def test_an_infinite_value_at_a_finer_step_contradicts(table: Build) -> None:
    def pole(x: Any) -> Any:
        return np.where(np.abs(x - 0.7) < 1e-4, np.inf, np.sin(x))

    with np.errstate(invalid="ignore"):
        assert not richardson_central(table(pole, 0.7)).accepted.any()


def test_a_measured_noise_widens_the_bar(table: Build) -> None:
    rounding = richardson_central(table(np.sin, 0.7)).error[0, 0]
    noisy = richardson_central(table(np.sin, 0.7, floor=1e-8)).error[0, 0]
    assert noisy > 1e3 * rounding


def test_plain_slope_is_one_central_difference(table: Build) -> None:
    first = table(np.exp, 0.5)
    h = first.steps[0, 0]
    same = dataclasses.replace(
        first,
        steps=np.full_like(first.steps, h),
        plus=np.broadcast_to(first.plus[:, :1], first.plus.shape),
        minus=np.broadcast_to(first.minus[:, :1], first.minus.shape),
    )
    slope = fixed_step(same)
    assert slope.value[0, 0] == (np.exp(0.5 + h) - np.exp(0.5 - h)) / (2 * h)
    assert slope.error[0, 0] < 1e-13  # rounding alone: the truncation of about 1e-2 is the user's choice
