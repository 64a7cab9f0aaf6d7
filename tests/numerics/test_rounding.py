"""The rounding of a number is how far it moves when what it is computed from does, in units of the last place."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.numerics.programs import Clock
from gradhook.numerics.rounding import moves, rounding, spread


def _of(function: Any, *x: float) -> Any:
    with jax.enable_x64(True):
        return rounding({"f": function}, (np.array(x),), Clock())["f"]


def test_a_well_conditioned_number_rounds_by_units_of_its_own() -> None:
    assert 0 < _of(jnp.sin, 0.7)[0] < 1e-13


def test_a_small_difference_of_large_numbers_rounds_by_theirs() -> None:
    found = _of(lambda x: (x[0] * 1e10 - x[1] * 1e10)[None], 0.7, 0.7)
    assert 1e-6 < found[0] < 1e-2


def test_each_number_has_its_own() -> None:
    large, small = _of(lambda x: x * jnp.array([1e12, 1.0]), 0.7, 0.7)
    assert small < 1e-13 < large


def test_a_jump_is_no_rounding() -> None:
    assert _of(jnp.round, 0.5, 1.5, 2.5).tolist() == [0, 0, 0]


@pytest.mark.parametrize("x", [np.nan, np.inf, 0.0])
def test_what_is_not_finite_allows_nothing(x: float) -> None:
    assert np.isfinite(_of(jnp.log, x, 2.0)).all()


def test_what_raises_allows_nothing() -> None:
    def broken(x: Any) -> Any:
        raise ValueError

    assert _of(broken, 1.0).tolist() == [0]


def test_a_point_that_is_not_finite_stays() -> None:
    rows = moves(np.array([np.inf, np.nan, 1.0]))
    assert (rows[:, 0] == np.inf).all() and np.isnan(rows[:, 1]).all()
    assert (rows[1:, 2] != 1).all() and np.abs(rows[:, 2] - 1).max() < 1e-15
    assert spread(rows)[2] > 0
