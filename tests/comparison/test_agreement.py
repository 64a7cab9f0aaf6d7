"""Two arrays that must be equal to rounding are compared element by element, each on its own scale."""

from __future__ import annotations

import numpy as np
import pytest

from gradhook.comparison.agreement import differ, farthest

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (NAN, NAN, False),
        (INF, INF, False),
        (-INF, -INF, False),
        (INF, -INF, True),
        (NAN, 1.0, True),
        (1.0, NAN, True),
        (INF, 1.0, True),
        (INF, NAN, True),
        (1.0, 1.0 + 1e-12, False),
        (1.0, 1.0 + 1e-8, True),
        (1e-300, 1.01e-300, True),
        (0.0, -0.0, False),
        (0.0, 1e-300, True),
    ],
)
def test_a_pair(one: float, other: float, differs: bool) -> None:
    assert differ(np.array([one]), np.array([other]), 1e-10).tolist() == [differs]


@pytest.mark.parametrize("beside", [1e30, INF, -INF, NAN])
def test_what_stands_beside_an_element_is_no_yardstick(beside: float) -> None:
    one, other = np.array([beside, 1.0, 1.0]), np.array([beside, 1.01, 1.0])
    assert differ(one, other, 1e-10).tolist() == [False, True, False]


@pytest.mark.parametrize(("allowed", "differs"), [(0.0, True), (0.1, False), (NAN, True), (INF, True)])
def test_what_is_allowed_counts_where_it_is_a_number(allowed: float, differs: bool) -> None:
    assert differ(np.ones(1), np.full(1, 1.05), 1e-10, np.array([allowed])).tolist() == [differs]


def test_the_farthest_is_that_on_the_own_scale() -> None:
    one, other = np.array([[1e12, 1.0, NAN]]), np.array([[1e12 + 1, 2.0, NAN]])
    assert farthest(one, other, differ(one, other, 1e-14)) == (0, 1)
