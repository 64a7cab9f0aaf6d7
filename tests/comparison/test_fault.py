"""A fault planted into random derivatives is named for what it is; what is wrong at random has no name."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.comparison.fault import Numbers, fault
from gradhook.comparison.judge import Array
from gradhook.comparison.probe import ALONG, Label

BAR = 1e-11
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 4)


def drawn(seed: int, *shape: int) -> Array:
    """Different numbers between 0.5 and 2 in magnitude, of either sign."""
    generator, count = np.random.default_rng(seed), math.prod(shape)
    spread = (np.arange(count) + generator.uniform(0.1, 0.9, count)) / count
    return np.asarray(generator.permutation(0.5 * 4**spread).reshape(shape) * generator.choice([-1, 1], shape))


def labels(leaf: str, *shape: int) -> tuple[Label, ...]:
    return tuple(Label(leaf, index) for index in np.ndindex(*shape))


def of(claimed: Array, reference: Array, inputs: tuple[Label, ...], outputs: tuple[Label, ...] = ()) -> Numbers:
    """Numbers of a scalar function (or of outputs with names), known to a bar relative to each."""
    claimed, reference = (np.reshape(a, (len(inputs), -1)).astype(float) for a in (claimed, reference))
    bar = BAR * np.maximum(np.abs(claimed), np.abs(reference))
    return Numbers(claimed, reference, bar, np.abs(claimed - reference) > bar, inputs, outputs or (Label("out"),))


def jittered(values: Array, seed: int) -> Array:
    """The values with rounding of their own, a tenth of what is allowed."""
    return np.asarray(values * (1 + 0.1 * BAR * np.random.default_rng(seed + 1).uniform(-1, 1, np.shape(values))))


FACTORS = [
    (9, "9 times too large in all {} elements"),
    (2, "2 times too large in all {} elements"),
    (128, "128 times too large in all {} elements"),
    (0.5, "half of what it should be in all {} elements"),
    (1 / 3, "1/3 of what it should be in all {} elements"),
    (1.5, "3/2 times what it should be in all {} elements"),
    (-1, "the sign is wrong in all {} elements"),
    (-2, "-2 times what it should be in all {} elements"),
    (2 * math.pi, "2 pi times what it should be in all {} elements"),
    (math.pi / 180, "pi/180 of what it should be in all {} elements"),
    (1.2345678, "1.23457 times what it should be in all {} elements"),
    (1.000001, "1.000001 times what it should be in all {} elements"),
    (2.0000001, "2.0000001 times what it should be in all {} elements"),
    (0.999999, "0.999999 of what it should be in all {} elements"),
]


@pytest.mark.parametrize(("factor", "words"), FACTORS)
@given(seeds, sizes)
def test_a_factor(factor: float, words: str, seed: int, n: int) -> None:
    truth = drawn(seed, n, n + 1)
    found = fault(of(jittered(factor * truth, seed), truth, labels("w", n, n + 1)), "w", "out")
    assert found == words.format(n * (n + 1))


@given(seeds, sizes)
def test_a_factor_in_some_elements_is_told_as_that(seed: int, n: int) -> None:
    truth = drawn(seed, n + 1)
    claimed = np.append(2 * truth[:-1], truth[-1])
    assert (
        fault(of(claimed, truth, labels("x", n + 1)), "x", "out") == f"2 times too large in all {n} elements that fail"
    )


def test_elements_that_are_0_do_not_speak_against_a_factor() -> None:
    truth = np.array([0.0, 1.1, 0.0, 0.7])
    assert fault(of(3 * truth, truth, labels("x", 4)), "x", "out") == "3 times too large in all 2 elements"


@pytest.mark.parametrize(
    ("factor", "words"),
    [(2, "2 times too large"), (0.5, "half of what it should be"), (-1, "the sign is wrong"),
     (math.pi, "pi times what it should be"), (1.2345678, ""), (97, ""), (5 / 7, "")],
)  # fmt: skip
@given(seeds)
def test_a_single_element_has_only_a_plain_factor(factor: float, words: str, seed: int) -> None:
    truth = drawn(seed, 1)
    assert fault(of(factor * truth, truth, labels("x", 1)), "x", "out") == words


def test_equal_elements_count_as_one() -> None:
    assert fault(of(1.2345678 * np.ones(6), np.ones(6), labels("x", 6)), "x", "out") == ""
    assert fault(of(3 * np.ones(6), np.ones(6), labels("x", 6)), "x", "out") == "3 times too large in all 6 elements"


@given(seeds, sizes)
def test_a_gradient_of_a_square_matrix_that_is_transposed(seed: int, n: int) -> None:
    truth = drawn(seed, n, n)
    found = fault(of(jittered(truth.T, seed), truth, labels("w", n, n)), "w", "out")
    assert found == "transposed: each element is what its mirror image should be"


@given(seeds, sizes)
def test_a_jacobian_that_is_transposed(seed: int, n: int) -> None:
    truth = drawn(seed, n, n)
    found = fault(of(jittered(truth.T, seed), truth, labels("x", n), labels("out", n)), "x", "out")
    assert found == "transposed: each element is what its mirror image should be"


def test_a_symmetric_matrix_is_its_own_transpose_so_nothing_is_said_of_it() -> None:
    truth = np.array([[1.1, 0.3], [0.3, 0.7]])
    wrong = truth + np.array([[0, 0.123], [0.456, 0]])
    assert fault(of(wrong, truth, labels("w", 2, 2)), "w", "out") == ""


@given(seeds, sizes)
def test_exchanged_arguments(seed: int, n: int) -> None:
    x, y = drawn(seed, n), drawn(seed + 1, n)
    numbers = of(np.concatenate([y, x]), np.concatenate([x, y]), (*labels("x", n), *labels("y", n)))
    words = "the derivatives of x and y are exchanged"
    assert (fault(numbers, "x", "out"), fault(numbers, "y", "out")) == (words, words)


@given(seeds)
def test_two_wrong_signs_are_no_exchange(seed: int) -> None:
    x = drawn(seed, 3)
    numbers = of(np.concatenate([-x, x]), np.concatenate([x, -x]), (*labels("x", 3), *labels("y", 3)))
    assert fault(numbers, "x", "out") == "the sign is wrong in all 3 elements"


@given(seeds, sizes)
def test_the_derivative_of_another_argument(seed: int, n: int) -> None:
    x, y = drawn(seed, n), drawn(seed + 1, n)
    numbers = of(np.concatenate([y, y]), np.concatenate([x, y]), (*labels("x", n), *labels("y", n)))
    assert fault(numbers, "x", "out") == "this is the derivative of y"


@given(seeds, sizes)
def test_a_missing_term(seed: int, n: int) -> None:
    x, y = drawn(seed, n), drawn(seed + 1, n)
    inputs = (*labels("x", n), *labels("y", n))
    numbers = of(np.concatenate([x, 0 * y]), np.concatenate([x, y]), inputs)
    assert fault(numbers, "y", "out") == "the term of y is missing, the other arguments are right"
    numbers = of(np.concatenate([x * y, 0 * y]), np.concatenate([x, y]), inputs)
    assert fault(numbers, "y", "out") == "the term of y is missing"
    numbers = of(0 * x, x, labels("x", n))
    assert fault(numbers, "x", "out") == f"nothing arrives from x: the claim is 0 in all {n} elements"


@given(seeds, sizes, st.sampled_from([-1.0, 2.5, 0.125]))
def test_a_constant_offset(seed: int, n: int, constant: float) -> None:
    truth = np.linspace(0.3, 0.9, n) + 0.01 * drawn(seed, n)
    found = fault(of(truth + constant, truth, labels("x", n)), "x", "out")
    assert found == f"off by the same {constant:+g} in all {n} elements"


@given(seeds, sizes)
def test_what_is_wrong_at_random_has_no_name(seed: int, n: int) -> None:
    both = (*labels("x", n, n), *labels("y", n, n))
    numbers = of(drawn(seed, 2 * n * n), drawn(seed + 1, 2 * n * n), both)
    assert (fault(numbers, "x", "out"), fault(numbers, "y", "out")) == ("", "")


@given(seeds, sizes)
def test_one_element_out_of_the_pattern_is_enough_against_it(seed: int, n: int) -> None:
    truth = drawn(seed, n, n)
    for claimed in (2 * truth, truth.T.copy(), truth + 1):
        claimed[0, 1] += 1e-6 + 0.37 * abs(claimed[0, 1])
        assert fault(of(claimed, truth, labels("w", n, n)), "w", "out") == ""


def test_a_factor_within_a_coarse_bar_is_not_read() -> None:
    truth = np.array([1.0, 1.5])
    coarse = replace(of(2 * truth, truth, labels("x", 2)), bar=1e-3 * truth[:, None])
    assert fault(coarse, "x", "out") == ""


def test_directions_are_called_directions() -> None:
    along = (Label("x", (0,), ALONG), Label("x", (1,), ALONG))
    numbers = of(np.array([2.2, 1.0]), np.array([1.1, 0.5]), along)
    assert fault(numbers, "x", "out") == "2 times too large in all 2 directions"


def test_what_is_not_finite_has_no_name() -> None:
    numbers = of(np.array([np.inf, 2.0]), np.array([1.0, 1.5]), labels("x", 2))
    assert fault(replace(numbers, wrong=np.ones((2, 1), dtype=bool)), "x", "out") == ""
