"""Directions stay in the domain of their inputs, and adding a step along them loses nothing."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradhook
from gradhook.annotations.inputs import Spec
from gradhook.comparison.judge import Tolerance
from gradhook.execution.worker.examine import examine
from gradhook.model.results import CheckSettings, ClaimKind, Target
from gradhook.numerics.finite_difference.adaptive import measure
from gradhook.numerics.finite_difference.directions import FULL, choose, combination, dense, weights
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.flatten import FlatLayout, LeafInfo, vector_of
from gradhook.numerics.sampling import generator, sample


def _space(*shapes: tuple[int, ...]) -> FlatLayout:
    return FlatLayout(tuple(LeafInfo(f"x{n}", shape, "float64") for n, shape in enumerate(shapes)))


def _drawn(*specs: Spec) -> tuple[FlatLayout, Array]:
    random = generator("test", *specs)
    values = [sample(spec, random) for spec in specs]
    leaves = (LeafInfo(f"x{n}", spec.shape, "float64", spec) for n, spec in enumerate(specs))
    space = FlatLayout(tuple(leaves))
    return space, vector_of(space, values)


def test_few_inputs_each_have_a_direction_of_their_own() -> None:
    space = _space((2,), ())
    chosen = choose(space, np.array([1.0, 2.0, 3.0]), generator("a"))
    assert (chosen.vectors[:3] == np.eye(3)).all()
    assert [str(label) for label in chosen.labels] == ["x0[0]", "x0[1]", "x1", "direction[0]", "direction[1]"]
    assert (chosen.vectors[3:] != 0).all()


@pytest.mark.parametrize("size, count", [(FULL, FULL + 2), (FULL + 1, 4)])
def test_many_inputs_are_moved_together(size: int, count: int) -> None:
    chosen = choose(_space((size,)), np.ones(size), generator("a"))
    assert chosen.vectors.shape == (count, size)
    assert {label.leaf for label in chosen.labels} == ({"x0", "direction"} if size <= FULL else {"direction"})


def test_the_scale_of_a_line_is_that_of_its_point() -> None:
    limits = choose(_space((3,)), np.array([0.3, -5.0, 1e-9]), generator("a")).limits
    assert list(limits.scale[:3]) == [1.0, 8.0, 1.0]
    assert list(limits.abscissa_scale[:3]) == [0.3, 5.0, 1e-9]
    assert np.isinf(limits.max_step_forward).all() and np.isinf(limits.max_step_backward).all()


def test_what_is_not_finite_stays_where_it_is() -> None:
    chosen = choose(_space((3,)), np.array([1.0, np.inf, np.nan]), generator("a"))
    assert (chosen.vectors[:, 1:] == 0).all()
    assert [str(label) for label in chosen.labels] == ["x0[0]", "direction[0]", "direction[1]"]
    assert choose(_space((1,)), np.array([np.nan]), generator("a")).vectors.shape == (0, 1)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=6), st.integers(0, 10))
def test_entries_of_a_dense_direction_are_of_the_size_of_each_element(values: list[float], level: int) -> None:
    values = [v for v in values if v == 0 or abs(v) > 2**-8] or [1.0]
    point = np.array(values)
    vector = dense(_space((len(values),)), point, generator(level))
    own = 2.0 ** np.ceil(np.log2(np.maximum(1.0, np.abs(point))))
    assert ((np.abs(vector) >= 0.75 * own) & (np.abs(vector) <= 1.25 * own)).all()


def test_the_entries_of_a_dense_direction_have_full_precision_and_follow_the_seed() -> None:
    space, point = _space((50,)), np.ones(50)
    vector = dense(space, point, generator("a"))
    assert len(set(np.abs(vector))) == 50 and (vector != vector.astype(np.float32)).all()
    assert (vector > 0).any() and (vector < 0).any()
    assert (vector != dense(space, point, generator("b"))).all()


def test_a_dense_direction_is_in_proportion_to_each_element() -> None:
    vector = dense(_space((2,), (2,)), np.array([1.0, 1000.0, 0.5, 0.25]), generator("a"))
    assert abs(vector[1]) >= 768
    assert (np.abs(vector[[0, 2, 3]]) <= 1.25).all()


def test_combinations_of_outputs() -> None:
    assert list(combination(1, generator("a"))) == [1.0]
    assert (combination(9, generator("a")) != 0).all()
    assert weights(FULL, generator("a")).shape == (0, FULL)
    assert weights(FULL + 1, generator("a")).shape == (4, FULL + 1)


SPECS = [
    gradhook.normal(3),
    gradhook.uniform(2, 2, low=-3, high=3),
    gradhook.uniform(3, low=0, high=1e-6),
    gradhook.uniform(70, low=5, high=6),
    gradhook.positive(4),
    gradhook.spd(3),
    gradhook.spd(2, 2),
    gradhook.spd(9),
    gradhook.simplex(4),
    gradhook.simplex(2, 3),
    gradhook.simplex(70),
]


def _is_inside(values: Array, spec: Spec) -> bool:
    shaped = values.reshape(-1, *spec.shape)
    if spec.kind == "spd":
        assert np.allclose(shaped, np.swapaxes(shaped, -1, -2), rtol=0, atol=1e-12)
        return bool((np.linalg.eigvalsh(shaped) > 0).all())
    if spec.kind == "simplex":
        assert np.allclose(shaped.sum(axis=-1), 1, rtol=0, atol=1e-6)
    return bool((shaped >= spec.low).all() and (shaped <= spec.high).all())


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}{spec.shape}")
def test_no_point_of_any_ladder_leaves_the_domain(spec: Spec) -> None:
    space, point = _drawn(spec)
    chosen = choose(space, point, generator("a"))
    visited: list[Array] = []

    def evaluate(t: Array) -> Array:
        points = point + t[:, :, None] * chosen.vectors[:, None, :]
        visited.append(points)
        return np.sin(points).sum(axis=-1, keepdims=True)

    wrong = chosen.vectors @ np.cos(point)[:, None] + 1
    measure(evaluate, chosen.limits, [(slice(0, 1), wrong)], Tolerance())
    assert len(visited) >= 3  # the finer ladders and the noise probes ran as well
    assert all(_is_inside(points, spec) for points in visited)


@given(st.floats(-100, 100, width=32), st.floats(2**-10, 100, width=32), st.integers(1, 5))
@settings(max_examples=30)
def test_bounds_hold_for_any_interval(low: float, length: float, size: int) -> None:
    spec = gradhook.uniform(size, low=low, high=low + length)
    space, point = _drawn(spec)
    chosen = choose(space, point, generator("a"))
    for t in (chosen.limits.max_step_forward, -chosen.limits.max_step_backward):
        assert _is_inside(point + t[:, None] * chosen.vectors * (1 - 1e-12), spec)


def test_the_function_itself_never_sees_a_point_outside() -> None:
    """With what the function does at run time, the whole way from the annotation on."""
    seen: list[Any] = []

    def eager(x: Any) -> Any:
        if float(jnp.sum(x)) > -1:  # cannot be traced
            seen.append(np.asarray(x))
        return jnp.sum(jnp.sqrt(x))

    target = Target("m", "eager", "m.py", 1, 1, ClaimKind.EXACT, "/project")
    options = {"args": (gradhook.uniform(3, low=0, high=1e-4),), "modes": ("fwd",)}
    examine(eager, target, options, CheckSettings(), lambda case: None)
    assert len(seen) > 20
    assert all((x >= 0).all() and (x <= 1e-4).all() for x in seen)
