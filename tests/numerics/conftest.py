from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.judge import Measurement, Tolerance
from gradhook.numerics.finite_difference.adaptive import measure
from gradhook.numerics.finite_difference.richardson import LEVELS, Array, StepTable, steps
from gradhook.numerics.finite_difference.scales import StepLimits

Function = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture
def table() -> Callable[..., StepTable]:
    """The ladder of a numpy function at a point; the outputs are the last axis of what it returns, or one."""

    def build(
        function: Function, x: float, scale: float | None = None, floor: float = 0.0, blocks: int = 1
    ) -> StepTable:
        abscissa_scale, scales = np.array([abs(x)]), np.array([natural(x) if scale is None else scale])
        h = np.concatenate([steps(scales, 1 + n * LEVELS, abscissa_scale) for n in range(blocks)], axis=1)
        with np.errstate(all="ignore"):
            plus, minus = (_columns(function, x + side * h) for side in (1, -1))
            centre = _columns(function, np.array([[x]]))[0, 0]
        return StepTable(h, plus, minus, centre[None, :], abscissa_scale, np.full((1, len(centre)), floor))

    return build


def _columns(function: Function, x: Array) -> Array:
    values = np.asarray(function(x), dtype=np.float64)
    return values if values.ndim == 3 else values[..., None]


def natural(x: float) -> float:
    """The power of two not below the point's magnitude, nor below 1: the scale of a step."""
    return float(2.0 ** np.ceil(np.log2(max(1.0, abs(x)))))


@pytest.fixture
def along_axis() -> Callable[..., StepLimits]:
    """One line in the direction of growing ``x``, with so much room on both sides."""

    def build(x: float, back: float = np.inf, ahead: float = np.inf) -> StepLimits:
        return StepLimits(*(np.array([v]) for v in (natural(x), abs(x), back, ahead)))

    return build


@cache
def _line(function: Function) -> Callable[[float, Any], Any]:
    """The function at a point and steps from it, compiled once for all tests that measure it."""
    return jax.jit(lambda x, ts: jax.lax.map(lambda t: function(x + t), ts))


@pytest.fixture
def measured(along_axis: Callable[..., StepLimits]) -> Callable[..., Measurement]:
    """What is measured of a JAX function of one number, in the face of a claim."""

    def run(function: Function, x: float, claim: float, step: float | None = None, **room: float) -> Measurement:
        program = _line(function)

        def evaluate(t: Array) -> Array:
            return np.asarray(program(x, jnp.asarray(t[0])), dtype=np.float64).reshape(1, t.shape[1], -1)

        claims = [(slice(0, 1), np.array([[claim]]))]
        return measure(evaluate, along_axis(x, **room), claims, Tolerance(), step)

    return run
