"""Kinks, jumps, cusps, vertical tangents and edges are recognised by how one-sided slopes change from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradhook.model.results import Shape
from gradhook.numerics.finite_difference.richardson import Ladder
from gradhook.numerics.finite_difference.smoothness import number, read

Build = Callable[..., Ladder]


def _ramp(x: Any) -> Any:
    return np.maximum(x, 0)


SEEN: list[tuple[str, Any, float, Shape]] = [
    ("a sine", np.sin, 0.7, Shape.SMOOTH),
    ("a sine at its top", np.sin, np.pi / 2, Shape.SMOOTH),
    ("a constant", lambda x: 0 * x + 3, 0.7, Shape.SMOOTH),
    ("x|x|, whose second derivative jumps", lambda x: x * np.abs(x), 0.0, Shape.SMOOTH),
    ("a third power at zero", lambda x: x**3, 0.0, Shape.SMOOTH),
    ("abs", np.abs, 0.0, Shape.KINK),
    ("a ramp", _ramp, 0.0, Shape.KINK),
    ("abs on a slope", lambda x: np.abs(x - 0.5) + np.sin(x), 0.5, Shape.KINK),
    ("a clip at its bound", lambda x: np.clip(x, 0, 6), 6.0, Shape.KINK),
    ("a kink a thousandth away", _ramp, 1e-3, Shape.SMOOTH),
    ("a floor", np.floor, 3.0, Shape.JUMP),
    ("a sign", np.sign, 0.0, Shape.JUMP),
    ("a step that also bends", lambda x: np.where(x > 0, 1 + 3 * x, -x), 0.0, Shape.JUMP),
    ("a jump elsewhere", np.floor, 2.7, Shape.SMOOTH),
    ("a jump a thousandth away", lambda x: np.floor(x + 1e-3), 3.0, Shape.SMOOTH),
    ("a root of |x|", lambda x: np.sqrt(np.abs(x)), 0.0, Shape.CUSP),
    ("the power 2/3 of |x|", lambda x: np.abs(x) ** (2 / 3), 0.0, Shape.CUSP),
    ("a cubic root", np.cbrt, 0.0, Shape.VERTICAL),
    ("a signed square root", lambda x: np.sign(x) * np.sqrt(np.abs(x)), 0.0, Shape.VERTICAL),
    ("a square root at zero", np.sqrt, 0.0, Shape.EDGE),
    ("an arcsine at one", np.arcsin, 1.0, Shape.EDGE),
]


@pytest.mark.parametrize("name, function, x, shape", SEEN, ids=[row[0] for row in SEEN])
def test_shapes(ladder: Build, name: str, function: Any, x: float, shape: Shape) -> None:
    with np.errstate(all="ignore"):
        assert read(ladder(function, x)).shape[0, 0] == number(shape)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
@pytest.mark.parametrize("function, shape", [(np.abs, Shape.KINK), (np.sign, Shape.JUMP), (np.cbrt, Shape.VERTICAL)])
def test_shapes_do_not_depend_on_units(ladder: Build, function: Any, shape: Shape, factor: float) -> None:
    with np.errstate(all="ignore"):
        assert read(ladder(lambda x: factor * function(x), 0.0)).shape[0, 0] == number(shape)


def test_one_sided_slopes_of_a_kink(ladder: Build) -> None:
    seen = read(ladder(lambda x: np.where(x > 0.5, 3 * (x - 0.5), x - 0.5), 0.5))
    assert seen.left[0, 0] == pytest.approx(1, rel=1e-6)
    assert seen.right[0, 0] == pytest.approx(3, rel=1e-6)


def test_each_output_has_its_own_shape(ladder: Build) -> None:
    seen = read(ladder(lambda x: np.stack([np.abs(x), np.sin(x), np.sign(x)], axis=-1), 0.0))
    assert list(seen.shape[0]) == [number(Shape.KINK), number(Shape.SMOOTH), number(Shape.JUMP)]


def test_finer_steps_see_that_a_jump_is_beside_the_point(ladder: Build) -> None:
    """They also see the finest quantum of a floor's argument; the shape is that at the finest steps."""
    for blocks, shape in ((1, Shape.JUMP), (2, Shape.SMOOTH), (3, Shape.SMOOTH)):
        seen = read(ladder(lambda x: np.floor(x + 1e-9) + np.sin(x), 3.0, blocks=blocks))
        assert seen.shape[0, 0] == number(shape)


def test_every_shape_has_its_number() -> None:
    assert sorted(number(shape) for shape in Shape) == list(range(len(Shape)))
