"""GRD207: left of, on and right of each boundary."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.checks import grd207_boundaries as check
from gradhook.model.results import Verdict

X = uniform(4, low=-3, high=3)


def rounded(rule: Any) -> Any:
    """round with a rule that gives the tangent from the point and the tangent."""
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(lambda p, t: (f(p[0]), rule(p[0], t[0])))
    return f


def clipped(closed: bool) -> Any:
    return rounded(lambda x, t: jnp.where((abs(x) <= 1.25) if closed else (abs(x) < 1.25), t, 0.0))


@pytest.mark.parametrize("closed", [True, False])
def test_without_bounds_either_side_is_as_good(ask: Any, closed: bool) -> None:
    said = {"surrogate": True, "derivative_of": lambda x: jnp.clip(x, -1.25, 1.25)}
    assert ask(check, clipped(closed), X, **said).verdict is Verdict.PASS
    for bounds in ("closed", "open"):
        wanted = Verdict.PASS if (bounds == "closed") == closed else Verdict.FAIL
        assert ask(check, clipped(closed), X, bounds=bounds, **said).verdict is wanted


def test_bounds_need_no_declared_derivative(ask: Any) -> None:
    assert ask(check, clipped(False), X, surrogate=True, bounds="closed").verdict is Verdict.FAIL


def test_a_declared_rule_is_meant_to_the_last_bit(ask: Any) -> None:
    said = {"surrogate": True, "rule": lambda p, t: jnp.where(abs(p[0]) <= 1.25, t[0], 0.0)}
    assert ask(check, clipped(True), X, **said).verdict is Verdict.PASS
    outcome = ask(check, clipped(False), X, **said)
    assert "on x[0] = -1.25 the derivative of out[0] is 0, declared is 1" in outcome.findings[0].message


def test_the_note_is_a_table(ask: Any) -> None:
    note = ask(check, rounded(lambda x, t: t), X, surrogate=True).note
    assert "ties are rounded half to even" in note
    assert "x[0] = 0.5: value 0 | 0 | 1, derivative 1 | 1 | 1" in note


def test_ties_that_are_declared_otherwise(ask: Any) -> None:
    outcome = ask(check, rounded(lambda x, t: t), X, surrogate=True, ties="away")
    assert "half to even, declared is half away from zero" in outcome.findings[0].message


def test_no_boundary(ask: Any) -> None:
    f = jax.custom_jvp(jnp.tanh)
    f.defjvp(lambda p, t: (f(p[0]), t[0]))
    assert ask(check, f, normal(3), surrogate=True).note == "no boundary was found"


def test_a_tie_that_the_compiler_moves_by_a_bit_is_no_fault(ask: Any) -> None:
    """Under jit, XLA makes -3.5 of -4.2 / 1.2000000000000002, which is -3.4999999999999996."""

    def value(x: Any, s: Any) -> Any:
        return jnp.round(jnp.clip(x / s, -4.0, 3.0)) * s

    def slopes(x: Any, s: Any) -> tuple[Any, Any]:
        u = x / s
        return (u > -4) & (u < 3), jnp.where(u <= -4, -4.0, jnp.where(u >= 3, 3.0, jnp.round(u) - u))

    f = jax.custom_vjp(value)
    f.defvjp(
        lambda x, s: (f(x, s), (x, s)),
        lambda saved, g: (g * slopes(*saved)[0], jnp.sum(g * slopes(*saved)[1])),
    )
    said = {"forward": value, "rule": lambda p, t: slopes(*p)[0] * t[0] + slopes(*p)[1] * t[1], "modes": ("rev",)}
    outcome = ask(check, f, jnp.array([0.33, -0.9, 1.2, 5.0, -4.2]), 0.37, surrogate=True, **said)
    assert outcome.verdict is Verdict.PASS
    up = said | {"forward": lambda x, s: jnp.floor(jnp.clip(x / s, -4.0, 3.0) + 0.5) * s}
    assert ask(check, f, jnp.array([0.33, -0.9, 1.2, 5.0, -4.2]), 0.5, surrogate=True, **up).verdict is Verdict.FAIL


def test_beside_an_exact_cancellation_the_terms_are_the_measure(ask: Any) -> None:
    """The derivative 1 - x falls to 0 where the mask closes, and is summed in another way than the declared one."""

    def rule(factor: float) -> Any:
        f = jax.custom_jvp(lambda x: (x > 1).astype(x.dtype))
        f.defjvp(lambda p, t: (f(p[0]), jnp.where(p[0] < 1, factor * ((p[0] + 1) - 2 * p[0]), 0.0) * t[0]))
        return f

    said = {"rule": lambda p, t: jnp.maximum(0.0, 1 - p[0]) * t[0]}
    assert ask(check, rule(1.0), np.array([0.3, 0.7]), **said).verdict is Verdict.PASS
