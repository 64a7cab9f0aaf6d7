"""Kinks, jumps, cusps, vertical tangents and edges are recognised by how one-sided slopes change from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradhook.comparison.judge import smoothness_code
from gradhook.model.results import Smoothness
from gradhook.numerics.finite_difference.richardson import StepTable
from gradhook.numerics.finite_difference.smoothness import read

Build = Callable[..., StepTable]


def _ramp(x: Any) -> Any:
    return np.maximum(x, 0)


SEEN: list[tuple[str, Any, float, Smoothness]] = [
    ("a sine", np.sin, 0.7, Smoothness.SMOOTH),
    ("a sine at its top", np.sin, np.pi / 2, Smoothness.SMOOTH),
    ("a constant", lambda x: 0 * x + 3, 0.7, Smoothness.SMOOTH),
    ("x|x|, whose second derivative jumps", lambda x: x * np.abs(x), 0.0, Smoothness.SMOOTH),
    ("a third power at zero", lambda x: x**3, 0.0, Smoothness.SMOOTH),
    ("abs", np.abs, 0.0, Smoothness.KINK),
    ("a ramp", _ramp, 0.0, Smoothness.KINK),
    ("abs on a slope", lambda x: np.abs(x - 0.5) + np.sin(x), 0.5, Smoothness.KINK),
    ("a clip at its bound", lambda x: np.clip(x, 0, 6), 6.0, Smoothness.KINK),
    ("a kink a thousandth away", _ramp, 1e-3, Smoothness.SMOOTH),
    ("a floor", np.floor, 3.0, Smoothness.JUMP),
    ("a sign", np.sign, 0.0, Smoothness.JUMP),
    ("a step that also bends", lambda x: np.where(x > 0, 1 + 3 * x, -x), 0.0, Smoothness.JUMP),
    ("a jump elsewhere", np.floor, 2.7, Smoothness.SMOOTH),
    ("a jump a thousandth away", lambda x: np.floor(x + 1e-3), 3.0, Smoothness.SMOOTH),
    ("a root of |x|", lambda x: np.sqrt(np.abs(x)), 0.0, Smoothness.CUSP),
    ("the power 2/3 of |x|", lambda x: np.abs(x) ** (2 / 3), 0.0, Smoothness.CUSP),
    ("a cubic root", np.cbrt, 0.0, Smoothness.VERTICAL),
    ("a signed square root", lambda x: np.sign(x) * np.sqrt(np.abs(x)), 0.0, Smoothness.VERTICAL),
    ("a square root at zero", np.sqrt, 0.0, Smoothness.EDGE),
    ("an arcsine at one", np.arcsin, 1.0, Smoothness.EDGE),
]


@pytest.mark.parametrize("name, function, x, shape", SEEN, ids=[row[0] for row in SEEN])
def test_shapes(table: Build, name: str, function: Any, x: float, shape: Smoothness) -> None:
    with np.errstate(all="ignore"):
        assert read(table(function, x)).smoothness[0, 0] == smoothness_code(shape)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
@pytest.mark.parametrize(
    "function, shape", [(np.abs, Smoothness.KINK), (np.sign, Smoothness.JUMP), (np.cbrt, Smoothness.VERTICAL)]
)
def test_shapes_do_not_depend_on_units(table: Build, function: Any, shape: Smoothness, factor: float) -> None:
    with np.errstate(all="ignore"):
        assert read(table(lambda x: factor * function(x), 0.0)).smoothness[0, 0] == smoothness_code(shape)


def test_one_sided_slopes_of_a_kink(table: Build) -> None:
    seen = read(table(lambda x: np.where(x > 0.5, 3 * (x - 0.5), x - 0.5), 0.5))
    assert seen.left[0, 0] == pytest.approx(1, rel=1e-6)
    assert seen.right[0, 0] == pytest.approx(3, rel=1e-6)


def test_each_output_has_its_own_shape(table: Build) -> None:
    seen = read(table(lambda x: np.stack([np.abs(x), np.sin(x), np.sign(x)], axis=-1), 0.0))
    assert list(seen.smoothness[0]) == [
        smoothness_code(Smoothness.KINK),
        smoothness_code(Smoothness.SMOOTH),
        smoothness_code(Smoothness.JUMP),
    ]


def test_finer_steps_see_that_a_jump_is_beside_the_point(table: Build) -> None:
    """They also see the finest quantum of a floor's argument; the shape is that at the finest steps."""
    for blocks, shape in ((1, Smoothness.JUMP), (2, Smoothness.SMOOTH), (3, Smoothness.SMOOTH)):
        seen = read(table(lambda x: np.floor(x + 1e-9) + np.sin(x), 3.0, blocks=blocks))
        assert seen.smoothness[0, 0] == smoothness_code(shape)


def test_every_shape_has_its_number() -> None:
    assert sorted(smoothness_code(shape) for shape in Smoothness) == list(range(len(Smoothness)))
