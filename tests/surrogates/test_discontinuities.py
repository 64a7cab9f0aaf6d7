"""Are boundaries found to the last bit, shown in a table, and roundings told apart?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.comparison.surrogate_probe import Sweep
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

ROUNDINGS = {
    "even": jnp.round,
    "away": jax.lax.round,
    "up": lambda x: jnp.where(x == 0.49999999999999994, 0.0, jnp.floor(x + 0.5)),
    "down": lambda x: jnp.where(x == -0.49999999999999994, -0.0, jnp.ceil(x - 0.5)),
}


def sweep(value: Callable[[Any], Any], slope: Callable[[Any], Any], low: float, high: float) -> Sweep:
    f = jax.custom_jvp(lambda x: value(x))
    f.defjvp(lambda p, t: (f(p[0]), slope(p[0]) * t[0]))
    check_options = CheckOptions(surrogate=True, rule=lambda p, t: slope(p[0]) * t[0])
    probe = FunctionProbe(f, CheckCase("case", (uniform(3, low=low, high=high),)), check_options, "seed", Clock())
    found, *_ = probe.rule_probe().sweeps()  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("name", ROUNDINGS)
def test_roundings_are_told_apart(name: str) -> None:
    assert sweep(ROUNDINGS[name], jnp.ones_like, -3, 3).ties == name


@pytest.mark.parametrize("value", [jnp.floor, jnp.sign, jnp.sin, lambda x: jnp.round(x) ** 2])
def test_what_rounds_no_halves_has_no_ties(value: Any) -> None:
    assert sweep(value, jnp.ones_like, -3, 3).ties == ""


@pytest.mark.parametrize("place", [0.1, -1.7320508075688772, 2.0, 1e-3])
def test_a_jump_is_found_to_the_last_bit(place: float) -> None:
    (found,) = sweep(lambda x: jnp.where(x >= place, 5.0, jnp.sin(x)), jnp.cos, -3, 3).discontinuities
    left, on, right = found.at
    changes = [a < place <= b for a, b in ((left, on), (on, right))]
    assert sum(changes) == 1
    assert np.nextafter(left, np.inf) == on and np.nextafter(on, np.inf) == right


@pytest.mark.parametrize("closed", [True, False])
def test_a_saturation_bound_is_open_or_closed(closed: bool) -> None:
    inside = (lambda x: jnp.abs(x) <= 1.25) if closed else (lambda x: jnp.abs(x) < 1.25)
    found = sweep(jnp.tanh, lambda x: jnp.where(inside(x), 1.0, 0.0), -3, 3).discontinuities
    assert [b.at[1] for b in found] == [-1.25, 1.25]
    assert [b.closed for b in found] == [closed, closed]


def test_a_steep_slope_is_no_boundary() -> None:
    assert (
        sweep(
            lambda x: jnp.tanh(1e6 * x), lambda x: 1e6 / jnp.cosh(jnp.clip(1e6 * x, -300, 300)) ** 2, -3, 3
        ).discontinuities
        == ()
    )


def sweeps(f: Callable[..., Any], *args: Any) -> dict[str, Sweep]:
    probe = FunctionProbe(f, CheckCase("case", args), CheckOptions(surrogate=True), "seed", Clock())
    return {found.input: found for found in probe.rule_probe().sweeps()}  # type: ignore[union-attr]


def test_every_argument_and_several_of_its_elements_are_moved() -> None:
    found = sweeps(lambda *xs: sum(x.sum() for x in xs), *[uniform(5, low=-3, high=3)] * 6)
    assert list(found) == [f"xs[{k}][{i}]" for k in range(6) for i in (0, 2, 4)]


def test_of_very_many_arguments_the_first_elements_are_moved_first() -> None:
    found = sweeps(lambda tree: sum(x.sum() for x in tree), [uniform(5, low=-3, high=3)] * 20)
    assert {f"tree[{k}][0]" for k in range(20)} < set(found) and len(found) == 24


def test_a_jump_of_a_later_element_of_the_last_argument_is_found() -> None:
    offsets = jnp.array([0.0, 0.25, 0.5])
    found = sweeps(lambda a, b, c, d, x: jnp.sign(x - offsets) + a + b + c + d, *[1.0] * 4, uniform(3, low=-2, high=2))
    assert [found[f"x[{k}]"].discontinuities[0].at[1] for k in range(3)] == [0.0, 0.25, 0.5]


def test_both_parts_of_a_complex_argument_are_moved() -> None:
    found = sweeps(lambda z: jnp.sign(z.real - 0.5) + 1j * jnp.sign(z.imag + 0.25), normal(2, dtype="complex128"))
    places = {name: [b.at[1] for b in sweep.discontinuities] for name, sweep in found.items()}
    assert places == {"z[0].real": [0.5], "z[1].real": [0.5], "z[0].imag": [-0.25], "z[1].imag": [-0.25]}


def test_elements_that_are_alike_are_told_once(contract: Any) -> None:
    options = {"derivative_of": lambda x: x, "args": (uniform(5, low=-1, high=1),)}
    alike = jax.custom_jvp(jnp.sign)
    alike.defjvp(lambda p, t: (alike(p[0]), t[0]))
    (note,) = [outcome.note for outcome in contract(lambda x: alike(x), **options)["GRD207"]]
    assert note.count("derivative") == 1 and "x[0] = 0" in note
