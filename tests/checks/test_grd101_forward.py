"""GRD101: forward mode against differences, element by element."""

from __future__ import annotations

import statistics
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, positive, simplex, spd, uniform
from gradhook.checks import grd101_forward as check
from gradhook.model.results import Verdict


@jax.custom_jvp
def _product(x: Any, y: Any) -> Any:
    return x * jnp.sin(y)


@_product.defjvp
def _product_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return _product(x, y), dx * jnp.sin(y) - dy * x * jnp.cos(y)  # the sign of dy is wrong on purpose


def _off_by_a_millionth_in_one(rule_for: int) -> Any:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.exp(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        factor = jnp.ones_like(primals[0]).at[rule_for].add(1e-6)
        return jnp.exp(primals[0]), jnp.exp(primals[0]) * tangents[0] * factor

    return lambda x: f(x)


def _loop(x: Any) -> Any:
    return jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0]


RIGHT: list[tuple[Any, tuple[Any, ...]]] = [
    (lambda x: jnp.sum(jnp.sin(x) * jnp.exp(-x * x)), (normal(3),)),
    (lambda x, y: x @ y, (normal(2, 3), normal(3))),
    (lambda x: jax.nn.logsumexp(x), (normal(5),)),
    (lambda a, b: jnp.linalg.solve(a, b), (spd(3), normal(3))),
    (lambda p: -jnp.sum(p * jnp.log(p)), (simplex(4),)),
    (lambda a: jnp.linalg.slogdet(a)[1], (spd(3),)),
    (lambda x: jnp.cumprod(x), (positive(4),)),
    (lambda x: jnp.sqrt(jnp.sum(x**2)), (normal(3),)),
    (lambda r, t: jnp.stack([r * jnp.cos(t), r * jnp.sin(t)]), (positive(), uniform(low=0.0, high=6.0))),
    (lambda z: jnp.abs(z) ** 2 + (z * z).real, (normal(2, dtype="complex128"),)),
]


@pytest.fixture(scope="module")
def resolutions() -> list[float]:
    return []


@pytest.mark.parametrize("function, args", RIGHT)
def test_right_functions_of_many_kinds(ask: Any, resolutions: list[float], function: Any, args: Any) -> None:
    outcome = ask(check, function, *args)
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())
    resolutions.append(outcome.resolution)


def test_the_resolution_is_fine(ask: Any, resolutions: list[float]) -> None:
    if len(resolutions) < len(RIGHT):  # this test alone, or spread over processes
        resolutions[:] = [ask(check, function, *args).resolution for function, args in RIGHT]
    assert statistics.median(resolutions) <= 1e-9
    assert max(resolutions) <= 1e-7


def test_a_wrong_sign_in_the_second_argument(ask: Any) -> None:
    outcome = ask(check, lambda x, y: _product(x, y), 2.0, 0.5)
    (finding,) = outcome.findings
    assert (outcome.verdict, finding.leaf, finding.mode, finding.code) == (Verdict.FAIL, "y", "fwd", "GRD101")
    assert finding.claimed == pytest.approx(-2 * np.cos(0.5)) and finding.measured == pytest.approx(2 * np.cos(0.5))


@pytest.mark.parametrize("place", [0, 3])
def test_one_element_wrong_by_a_millionth(ask: Any, place: int) -> None:
    (finding,) = ask(check, _off_by_a_millionth_in_one(place), normal(4)).findings
    assert (finding.verdict, finding.index, finding.output) == (Verdict.FAIL, (place,), f"out[{place}]")


def test_one_of_many_elements_wrong_by_a_millionth(ask: Any) -> None:
    outcome = ask(check, _off_by_a_millionth_in_one(77), normal(100))
    assert outcome.verdict is Verdict.FAIL
    assert {f.output for f in outcome.findings} == {"out[77]"}


def test_forward_mode_that_was_not_claimed(ask: Any) -> None:
    assert ask(check, jnp.sin, 0.5, modes=("rev",)).verdict is Verdict.SKIP


def test_forward_mode_that_does_not_exist(ask: Any) -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.sin(x)

    f.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))
    skipped = ask(check, f, 0.5)
    assert skipped.verdict is Verdict.SKIP and "no forward rule" in skipped.note
    assert ask(check, f, 0.5, modes=("fwd",)).verdict is Verdict.FAIL


def test_a_loop_has_forward_mode(ask: Any) -> None:
    assert ask(check, _loop, 1.1).verdict is Verdict.PASS


def test_a_claim_that_cancels_to_0_is_noise_and_no_fault(ask: Any) -> None:
    """JAX's 1 - tanh**2 is 0 at 25, where the derivative is 7.7e-22: less than the terms round by."""
    outcome = ask(check, jnp.tanh, np.array([0.3, 25.0, -30.0]))
    assert outcome.verdict is Verdict.UNDECIDED and {f.code for f in outcome.findings} == {"GRD405"}


def test_a_claim_of_0_is_wrong_where_nothing_cancels(ask: Any) -> None:
    dead = jax.custom_jvp(lambda x: 1e-20 * jnp.sin(x))
    dead.defjvp(lambda primals, tangents: (dead(*primals), 0.0 * tangents[0]))
    assert ask(check, dead, 0.7).verdict is Verdict.FAIL


def test_a_small_derivative_that_does_not_cancel_passes(ask: Any) -> None:
    """The cosine of pi / 2, rounded, is 6e-17: that is right to the last digit."""
    assert ask(check, jnp.sin, np.pi / 2).verdict is Verdict.PASS
