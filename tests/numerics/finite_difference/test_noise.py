"""Noise is measured: random noise by differences of high order, coarse formats by their grain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradhook.numerics.finite_difference.richardson import StepTable
from gradhook.numerics.finite_difference.scales import grain, motionless, spread, stuck

Build = Callable[..., StepTable]


@pytest.mark.parametrize("sigma", [1e-12, 1e-6, 10.0])
def test_random_noise_is_recovered(sigma: float) -> None:
    random = np.random.default_rng(0)
    t = np.arange(23) * 1e-6
    values = np.sin(t) * sigma + sigma * random.standard_normal((50, 23))
    found = spread(values[:, :, None])
    assert found.shape == (50, 1)
    assert np.median(found) == pytest.approx(sigma, rel=0.3)


def test_a_smooth_function_has_rounding_only() -> None:
    x = 0.7 + np.arange(-11, 12) * 2.0**-20
    assert spread(np.sin(x)[None, :, None])[0, 0] < 1e-15
    assert spread(np.polynomial.Polynomial([1, 2, 3, 4, 5, 6])(x - 0.7)[None, :, None])[0, 0] < 1e-15


def test_undefined_values_count_as_no_noise() -> None:
    assert spread(np.full((1, 23, 1), np.nan))[0, 0] == 0


def test_neighbours_inside_a_grain_are_stuck() -> None:
    t = np.arange(23.0)
    values = np.stack([np.floor(t / 4), np.floor(t), 0 * t], axis=-1)[None]
    assert list(stuck(values)[0]) == [True, False, True]


def _single(function: Any) -> Any:
    return lambda x: function(np.asarray(x, dtype=np.float32)).astype(np.float64)


@pytest.mark.parametrize("function", [_single(np.sin), lambda x: np.sin(x).astype(np.float32).astype(float)])
def test_single_precision_has_a_grain(table: Build, function: Any) -> None:
    found = grain(table(function, 0.7, blocks=3))[0, 0]
    assert 2.0**-26 < found < 2.0**-22


@pytest.mark.parametrize(
    "function, x, unit",
    [
        (lambda z: -np.log(1 - 1 / (1 + np.exp(-z))), -34.0, 2.0**-53),
        (lambda x: np.log(1 + np.exp(x)), -32.0, 2.0**-52),
        (lambda x: 1 - np.cos(x), 1e-4, 2.0**-53),
        (lambda d: np.sqrt(4.096e13 + d * d) - 6.4e6, 1.0, 2.0**-30),
    ],
)
def test_the_grain_of_a_small_difference_is_a_unit_of_its_terms(
    table: Build, function: Any, x: float, unit: float
) -> None:
    """Up to the first change that a step makes, which is a few units where that step is large."""
    assert 0.99 * unit <= grain(table(function, x, blocks=3))[0, 0] <= 16 * unit


@pytest.mark.parametrize(
    "function, x",
    [
        (np.sin, 0.7),
        (lambda x: 2 * x, 1e6),
        (lambda x: np.sin(x) + x**3, -0.2865402102470398),
        (np.abs, 0.0),
        (lambda x: 0 * x + 3, 0.7),
        (lambda x: np.exp(-(x**2)), 40.0),
        (lambda x: 0 * x, 2.3),
    ],
)
def test_what_moves_on_every_step_or_on_none_has_no_grain(table: Build, function: Any, x: float) -> None:
    assert grain(table(function, x, blocks=3))[0, 0] == 0


@pytest.mark.parametrize("x", [-1e-3, -2e-8, -1e-11])
def test_a_plateau_is_as_uncertain_as_the_first_change_beyond_it(table: Build, x: float) -> None:
    """Beside the kink of a ramp nothing moves for small steps; the first change is one to beyond the kink."""
    beside = table(lambda x: 1e6 * np.maximum(x, 0), x, blocks=3)
    steps = beside.steps[0]
    beyond = steps[steps > -x].min()
    assert grain(beside)[0, 0] == pytest.approx(1e6 * (beyond + x), rel=1e-6)


@pytest.mark.parametrize(
    "function, x, still",
    [
        (lambda x: 0 * x + 3, 0.7, True),
        (lambda x: np.round(x / 8), 0.2, True),
        (np.round, 2.3, False),
        (np.sin, 0.7, False),
        (lambda x: np.where(x == 0.7, np.nan, np.nan), 0.7, True),
    ],
)
def test_whether_any_step_changes_the_value(table: Build, function: Any, x: float, still: bool) -> None:
    assert motionless(table(function, x))[0, 0] == still
