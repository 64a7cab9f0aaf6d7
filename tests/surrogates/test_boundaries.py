"""Are boundaries found to the last bit, shown in a table, and roundings told apart?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import uniform
from gradhook.contracts import Sweep
from gradhook.numerics.demands import Demands, Situation
from gradhook.numerics.instruments import Instruments
from gradhook.numerics.programs import Clock

ROUNDINGS = {
    "even": jnp.round,
    "away": jax.lax.round,
    "up": lambda x: jnp.where(x == 0.49999999999999994, 0.0, jnp.floor(x + 0.5)),
    "down": lambda x: jnp.where(x == -0.49999999999999994, -0.0, jnp.ceil(x - 0.5)),
}


def sweep(value: Callable[[Any], Any], slope: Callable[[Any], Any], low: float, high: float) -> Sweep:
    f = jax.custom_jvp(lambda x: value(x))
    f.defjvp(lambda p, t: (f(p[0]), slope(p[0]) * t[0]))
    demands = Demands(surrogate=True, rule=lambda p, t: slope(p[0]) * t[0])
    probe = Instruments(f, Situation("case", (uniform(3, low=low, high=high),)), demands, "seed", Clock())
    (found,) = probe.rulebook().sweeps()  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("name", ROUNDINGS)
def test_roundings_are_told_apart(name: str) -> None:
    assert sweep(ROUNDINGS[name], jnp.ones_like, -3, 3).ties == name


@pytest.mark.parametrize("value", [jnp.floor, jnp.sign, jnp.sin, lambda x: jnp.round(x) ** 2])
def test_what_rounds_no_halves_has_no_ties(value: Any) -> None:
    assert sweep(value, jnp.ones_like, -3, 3).ties == ""


@pytest.mark.parametrize("place", [0.1, -1.7320508075688772, 2.0, 1e-3])
def test_a_jump_is_found_to_the_last_bit(place: float) -> None:
    (found,) = sweep(lambda x: jnp.where(x >= place, 5.0, jnp.sin(x)), jnp.cos, -3, 3).boundaries
    left, on, right = found.at
    changes = [a < place <= b for a, b in ((left, on), (on, right))]
    assert sum(changes) == 1
    assert np.nextafter(left, np.inf) == on and np.nextafter(on, np.inf) == right


@pytest.mark.parametrize("closed", [True, False])
def test_a_saturation_bound_is_open_or_closed(closed: bool) -> None:
    inside = (lambda x: jnp.abs(x) <= 1.25) if closed else (lambda x: jnp.abs(x) < 1.25)
    found = sweep(jnp.tanh, lambda x: jnp.where(inside(x), 1.0, 0.0), -3, 3).boundaries
    assert [b.at[1] for b in found] == [-1.25, 1.25]
    assert [b.closed for b in found] == [closed, closed]


def test_a_steep_slope_is_no_boundary() -> None:
    assert (
        sweep(
            lambda x: jnp.tanh(1e6 * x), lambda x: 1e6 / jnp.cosh(jnp.clip(1e6 * x, -300, 300)) ** 2, -3, 3
        ).boundaries
        == ()
    )
