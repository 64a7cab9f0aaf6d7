"""Noise is measured: random noise by differences of high order, coarse formats by their quantum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradhook.numerics.finite_difference.noise import quantum, spread
from gradhook.numerics.finite_difference.richardson import Ladder

Build = Callable[..., Ladder]


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


def _single(function: Any) -> Any:
    return lambda x: function(np.asarray(x, dtype=np.float32)).astype(np.float64)


@pytest.mark.parametrize(
    "function, x, slope",
    [(_single(np.sin), 0.7, np.cos(0.7)), (lambda x: np.sin(x).astype(np.float32).astype(float), 0.7, np.cos(0.7))],
)
def test_single_precision_has_a_quantum(ladder: Build, function: Any, x: float, slope: float) -> None:
    found = quantum(ladder(function, x, blocks=3), np.array([[slope]]))[0, 0]
    assert 2.0**-26 < found < 2.0**-22


@pytest.mark.parametrize(
    "function, x, slope",
    [
        (np.sin, 0.7, np.cos(0.7)),
        (lambda x: 0 * x + 3, 0.7, 0.0),
        (lambda x: np.exp(-(x**2)), 40.0, 0.0),
        (lambda x: np.round(x), 2.3, 0.0),
    ],
)
def test_double_precision_has_none(ladder: Build, function: Any, x: float, slope: float) -> None:
    assert quantum(ladder(function, x, blocks=3), np.array([[slope]]))[0, 0] == 0


@pytest.mark.parametrize("x", [-1e-3, -2e-8, -1e-11])
def test_a_ramp_beside_its_kink_has_none(ladder: Build, x: float) -> None:
    """It stands still on one side of the point, and for small steps on the other: so far it looks quantised."""
    beside = ladder(lambda x: 1e6 * np.maximum(x, 0), x, blocks=3)
    assert quantum(beside, np.array([[5e5]]))[0, 0] == 0
