"""Two numbers that differ are never printed alike; a 0 has no sign, a bar below all numbers is 0."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.digits import bar, needed, number, pair

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(numbers, st.integers(1, 5))
def test_neighbours_are_told_apart(value: float, steps: int) -> None:
    other = value
    for _ in range(steps):
        other = math.nextafter(other, 2.0)
    one, two = pair(value, other)
    assert (one == two) == (value == other)


@given(numbers, numbers)
def test_no_more_digits_than_it_takes(one: float, other: float) -> None:
    digits = needed(one, other)
    assert digits == 9 or f"{one:.9g}" == f"{other:.9g}"


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (1.0, 2.0, ("1", "2")),
        (0.753577684111, 0.753577684222, ("0.753577684111", "0.753577684222")),
        (1 / 3, 1 / 3, ("0.333333333", "0.333333333")),
        (-0.0, 1.0, ("0", "1")),
        (-0.0, 0.0, ("-0", "0")),
        (math.nan, 1.0, ("nan", "1")),
    ],
)
def test_pairs(one: float, other: float, shown: tuple[str, str]) -> None:
    assert pair(one, other) == shown


def test_a_zero_has_no_sign_and_a_bar_one_digit() -> None:
    assert (number(-0.0), bar(2e-322), bar(1.26e-11)) == ("0", "0", "1e-11")
