"""Where a nan or an infinity of a derivative program begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.probe import NonfiniteSource
from gradhook.numerics.jaxpr.nonfinite_source import nonfinite_source


def _gradient(function: Any, *x: float) -> NonfiniteSource | None:
    return nonfinite_source(jax.grad(lambda x: jnp.sum(function(x))), jnp.asarray(np.array(x)))


def _line(function: Callable[..., Any], offset: int = 1) -> int:
    return function.__code__.co_firstlineno + offset


def _masked(x: Any) -> Any:
    return jnp.where(x > 0, jnp.log(x), x)


def _norm(x: Any) -> Any:
    return jnp.linalg.norm(x) ** 2


def _elu(x: Any) -> Any:
    return jnp.where(x > 0, x, jnp.expm1(x))


def _ratio(x: Any) -> Any:
    return x * x / x


@jax.custom_jvp
def _ruled(x: Any) -> Any:
    return x * x


@_ruled.defjvp
def _rule(primals: Any, tangents: Any) -> Any:
    return _ruled(primals[0]), tangents[0] * (primals[0] ** 2 / primals[0])


@pytest.mark.parametrize(
    "function, x, cause",
    [
        (_masked, 0.0, "0 / 0 in an unselected branch of where()"),
        (_norm, 0.0, "sqrt or norm at 0, then 0 * inf"),
        (_elu, 800.0, "overflow, then 0 * inf in an unselected branch of where()"),
        (_ratio, 0.0, "a negative power of 0, then 0 * inf"),
    ],
)
def test_the_usual_causes(function: Any, x: float, cause: str) -> None:
    found = _gradient(function, x, x)
    assert found is not None and found.path == __file__
    assert (found.line, found.cause) == (_line(function), cause)


def test_inside_a_rule() -> None:
    found = _gradient(_ruled, 0.0)
    assert found is not None and (found.primitive, found.line) == ("div", _line(_rule, 2))


def test_inside_the_step_of_a_scan_that_begins_it() -> None:
    def step(carry: Any, y: Any) -> Any:
        return jnp.sqrt(carry - y), None

    found = _gradient(lambda x: jax.lax.scan(step, x, jnp.array([0.0, 1.0, 0.5]))[0], 1.0)
    assert found is not None and found.line == _line(step) and "sqrt" in found.cause


def test_inside_a_while_loop() -> None:
    def body(carry: Any) -> Any:
        return carry[0] + 1, jnp.sqrt(carry[1])

    def run(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c[0] < 3, body, (0, x))[1]

    found = nonfinite_source(lambda x: jax.jvp(run, (x,), (1.0,))[1], 0.0)
    assert found is not None and found.line == _line(body)


def test_inside_a_branch_and_back_through_its_residuals() -> None:
    def branch(x: Any) -> Any:
        return jnp.sqrt(x * x)

    found = _gradient(lambda x: jax.lax.cond(x[0] < 1, branch, lambda x: x, x), 0.0)
    assert found is not None and (found.line, found.cause) == (_line(branch), "sqrt or norm at 0, then 0 * inf")


def test_inside_a_checkpoint() -> None:
    found = _gradient(jax.checkpoint(_norm), 0.0)
    assert found is not None and found.line == _line(_norm)


def test_an_infinite_slope_is_no_nan() -> None:
    found = _gradient(lambda x: x**0.5, 0.0)
    assert found is not None and (found.primitive, found.cause) == ("pow", "a negative power of 0")


def test_a_finite_result_has_no_origin() -> None:
    assert _gradient(_masked, 1.0) is None


def test_a_nan_that_was_given_has_no_origin() -> None:
    assert nonfinite_source(lambda x: x * 2, jnp.array([jnp.nan])) is None


def test_masked_infinities_of_the_data_do_not_hide_the_equation() -> None:
    def probabilities(x: Any) -> Any:
        return jnp.exp(x - jnp.max(x))

    found = nonfinite_source(lambda x: probabilities(x)[0], jnp.full(2, -jnp.inf))
    assert found is not None and (found.primitive, found.line, found.cause) == (
        "sub",
        _line(probabilities),
        "inf - inf",
    )
