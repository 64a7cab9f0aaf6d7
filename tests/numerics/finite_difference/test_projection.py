"""Functions of very many numbers: followed along few directions, seen through a sample, searched by bisection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, positive, simplex
from gradhook.checks import grd101_forward, grd102_reverse, grd103_second_order
from gradhook.model.results import Verdict
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.finite_difference.projection import FOLLOWED, GROUPS, MANY, SAMPLED, entry, project, weights
from gradhook.numerics.function import bind_arguments, flatten_function
from gradhook.numerics.function_probe import CheckCase, CheckOptions, FunctionProbe
from gradhook.numerics.sampling import generator

SIZE = 3000


def probe(function: Callable[..., Any], *args: Any, **said: Any) -> FunctionProbe:
    return FunctionProbe(function, CheckCase("batch", args), CheckOptions(**said), "seed", Clock())


def off_by(fault: float, place: int) -> Callable[..., Any]:
    """sum(sin(x)) with a rule that is wrong in one element, on purpose."""

    @jax.custom_jvp
    def total(x: Any) -> Any:
        return jnp.sum(jnp.sin(x))

    total.defjvp(lambda p, t: (total(p[0]), jnp.sum(jnp.cos(p[0]).at[place].mul(1 + fault) * t[0])))
    return total


def test_weights_are_the_same_for_numpy_and_jax_and_hardly_two_are_equal() -> None:
    ours, theirs = weights(np, 5, 5000, 3), weights(jnp, 5, 5000, jnp.uint32(3))
    np.testing.assert_array_equal(ours, np.asarray(theirs))
    assert len(np.unique(np.abs(ours))) > 4990
    assert np.abs(ours).min() >= 0.75 and np.abs(ours).max() <= 1.25
    assert 0.45 < (ours > 0).mean() < 0.55
    assert not np.array_equal(ours, weights(np, 5, 5000, 4))


@pytest.mark.parametrize("function", [lambda x: jnp.sum(jnp.sin(x) * x), lambda x: jnp.sin(x) * x])
def test_a_right_function_of_many_numbers_passes(function: Callable[[Any], Any]) -> None:
    seen = probe(function, normal(SIZE))
    for check in (grd101_forward, grd102_reverse):
        outcome = check.run(seen)
        assert outcome.verdict is Verdict.PASS
        assert outcome.resolution is not None and outcome.resolution < 1e-6
    comparison = seen.comparison()
    error, value = comparison.measured.error[:FOLLOWED], comparison.measured.value[:FOLLOWED]  # type: ignore[union-attr]
    assert (error < 1e-8 * np.abs(value)).all()  # the balanced direction moves some inputs by very little


@pytest.mark.parametrize("place", [0, 1234, SIZE - 1])
def test_one_wrong_element_among_many_is_found_and_named(place: int) -> None:
    outcome = grd102_reverse.run(probe(off_by(1e-3, place), normal(SIZE)))
    assert outcome.verdict is Verdict.FAIL
    finding = outcome.findings[0]
    assert (finding.leaf, finding.index) == ("x", (place,))
    assert "found by bisection" in finding.message


def test_many_outputs_are_sampled_and_combined() -> None:
    held = flatten_function(jnp.sin, bind_arguments(jnp.sin, (normal(SIZE),), {}, None, generator("x")))
    seen = project(held, held.call, "seed")
    assert SIZE >= MANY
    assert len(seen.outputs) == SAMPLED + len(seen.weights)
    assert len(seen.operands) == FOLLOWED


def test_no_evaluation_leaves_the_domain_of_many_inputs() -> None:
    smallest = []

    def log_sum(x: Any) -> Any:
        jax.debug.callback(lambda low: smallest.append(float(low)), jnp.min(x))
        return jnp.sum(jnp.log(x))

    comparison = probe(log_sum, positive(300)).comparison()
    assert (comparison.measured.accepted).all()  # type: ignore[union-attr]
    assert min(smallest) > 0


def test_directions_of_a_large_simplex_keep_the_sum() -> None:
    held = flatten_function(jnp.sum, bind_arguments(jnp.sum, (simplex(200),), {}, None, generator("x")))
    seen = project(held, held.call, "seed")
    for row in range(FOLLOWED):
        assert abs(seen.direction(row).sum()) < 1e-12


def test_an_entry_is_what_the_direction_holds() -> None:
    held = flatten_function(jnp.sum, bind_arguments(jnp.sum, (normal(200),), {}, None, generator("x")))
    seen = project(held, held.call, "seed")
    whole = seen.direction(2)
    assert [entry(held, seen, 2, k) for k in (0, 7, 199)] == [whole[0], whole[7], whole[199]]


def leaves(*sizes: int) -> Any:
    """A view of a function of several arrays of normal numbers."""
    total = lambda *parts: sum(jnp.sum(part) for part in parts)  # noqa: E731
    held = flatten_function(
        total, bind_arguments(total, tuple(normal(size) for size in sizes), {}, None, generator("x"))
    )
    return project(held, held.call, "seed")


def test_each_leaf_has_a_direction_of_its_own() -> None:
    seen = leaves(50, 1, 49)
    assert [str(label) for label in seen.directions.labels][:2] == ["direction[0]", "direction[1]"]
    alone = np.stack([seen.direction(row) for row in range(2, 5)])
    assert [label.moves_many for label in seen.directions.labels[2:]] == [True, False, True]
    for row, part in enumerate((slice(0, 50), slice(50, 51), slice(51, 100))):
        assert (alone[row, part] != 0).all() and (np.delete(alone[row], np.r_[part]) == 0).all()


def test_many_leaves_are_moved_in_groups_that_cover_all() -> None:
    seen = leaves(*[2] * 100)
    assert len(seen.directions.labels) == 2 + GROUPS
    alone = np.stack([seen.direction(row) for row in range(2, 2 + GROUPS)])
    assert ((alone != 0).sum(axis=0) == 1).all()


def test_directions_follow_the_seed() -> None:
    held = flatten_function(jnp.sum, bind_arguments(jnp.sum, (normal(200),), {}, None, generator("x")))
    one, other = (np.stack([project(held, held.call, s).direction(row) for row in range(4)]) for s in ("1", "2"))
    assert (one != other).all()
    assert len(np.unique(np.abs(one[:, [20, 22, 60, 64]]))) == 16


@pytest.mark.parametrize("factor", [0.0, -1.0, 1 + 1e-4])
@pytest.mark.parametrize("large, small", [(1e5, 1e-6), (1e3, 1e-4)])
def test_a_leaf_of_small_gradient_is_tested_on_its_own_scale(large: float, small: float, factor: float) -> None:
    @jax.custom_jvp
    def part(b: Any) -> Any:
        return small * jnp.sum(jnp.sin(b))

    part.defjvp(lambda p, t: (part(p[0]), factor * small * jnp.sum(jnp.cos(p[0]) * t[0])))
    for rule, verdict in ((part, Verdict.FAIL), (lambda b: small * jnp.sum(jnp.sin(b)), Verdict.PASS)):
        outcome = grd101_forward.run(
            probe(lambda a, b, f=rule: large * jnp.sum(jnp.sin(a)) + f(b), normal(50), normal(50))
        )
        assert outcome.verdict is verdict
        assert all(finding.leaf.startswith("b") for finding in outcome.findings)


@pytest.mark.parametrize("one, other", [(20, 22), (60, 64), (69, 86)])
def test_two_elements_that_are_exchanged_are_found(one: int, other: int) -> None:
    @jax.custom_jvp
    def total(x: Any) -> Any:
        return jnp.sum(jnp.sin(x))

    def rule(p: Any, t: Any) -> Any:
        slope = jnp.cos(p[0])
        return total(p[0]), jnp.sum(slope.at[one].set(slope[other]).at[other].set(slope[one]) * t[0])

    total.defjvp(rule)
    assert grd101_forward.run(probe(total, normal(100))).verdict is Verdict.FAIL


def test_memory_and_text_stay_small_for_a_large_input() -> None:
    seen = probe(lambda x: jnp.sum(x * x), normal(10**6))
    comparison = seen.comparison()
    assert comparison.measured.value.shape == (FOLLOWED + 1, 1)  # type: ignore[union-attr]


def stopped(x: Any) -> Any:
    """sum(sin(x) x), of which only the first derivative is right."""
    return jnp.sum(jnp.sin(x) * x)


stopped = jax.custom_jvp(stopped)
stopped.defjvp(
    lambda p, t: (stopped(p[0]), jnp.sum(jax.lax.stop_gradient(jnp.cos(p[0]) * p[0] + jnp.sin(p[0])) * t[0]))
)


@pytest.mark.parametrize("function, verdict", [(lambda x: jnp.sum(jnp.sin(x) * x), "pass"), (stopped, "fail")])
def test_second_derivatives_of_a_function_of_many_numbers(function: Callable[[Any], Any], verdict: str) -> None:
    """Along each followed direction the first derivative has a value of its own, from which differences are taken."""
    assert grd103_second_order.run(probe(function, normal(SIZE), order=2)).verdict == verdict
