"""Values under ``stop_gradient`` that are meant to be constants."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.model.errors import GradhookError
from gradhook.numerics.function import bind_arguments, flatten_function
from gradhook.numerics.jaxpr.custom_rules import FrozenFunction, freeze_stopped_values
from gradhook.numerics.sampling import generator

POINT = np.array([0.5, -2.0])
STEP = np.array([0.25, 0.5])


def _frozen(function: Any) -> FrozenFunction:
    return freeze_stopped_values(
        flatten_function(function, bind_arguments(function, (POINT,), {}, None, generator("test")))
    )


def _stopped(x: Any) -> Any:
    return x * jax.lax.stop_gradient(jnp.sin(x))


def _branched(x: Any) -> Any:
    return jax.lax.cond(x[0] > 0, _stopped, lambda x: jax.lax.stop_gradient(x) * 3, x)


@pytest.mark.parametrize(
    "function",
    [_stopped, jax.jit(_stopped), jax.checkpoint(_stopped), _branched],
    ids=["plain", "jit", "checkpoint", "cond"],
)
def test_the_value_of_the_base_point_stays(function: Any) -> None:
    found = _frozen(function)
    moved = np.asarray(found.held.call(jnp.asarray(POINT + STEP)))
    np.testing.assert_allclose(moved, (POINT + STEP) * np.sin(POINT), rtol=1e-15)
    assert found.places == ((__file__, _stopped.__code__.co_firstlineno + 1),)


def test_each_call_of_a_jitted_function_has_its_own_value() -> None:
    inner = jax.jit(_stopped)
    moved = _frozen(lambda x: inner(x) + inner(2 * x)).held.call(jnp.asarray(POINT + STEP))
    expected = (POINT + STEP) * (np.sin(POINT) + 2 * np.sin(2 * POINT))
    np.testing.assert_allclose(np.asarray(moved), expected, rtol=1e-15)


def test_the_derivative_is_the_same() -> None:
    found = _frozen(_stopped)
    given = jax.jvp(found.held.call, (jnp.asarray(POINT),), (jnp.asarray(STEP),))[1]
    np.testing.assert_allclose(given, np.sin(POINT) * STEP, rtol=1e-15)


def test_what_a_rule_stops_is_the_rules_own() -> None:
    @jax.custom_jvp
    def ruled(x: Any) -> Any:
        return x + jax.lax.stop_gradient(x)

    ruled.defjvps(lambda tangent, _, x: 2 * tangent)
    found = _frozen(ruled)
    assert found.places == ()
    np.testing.assert_array_equal(found.held.call(jnp.asarray(POINT + STEP)), 2 * (POINT + STEP))


def test_a_value_that_changes_from_step_to_step_cannot_be_held() -> None:
    def looped(x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (_stopped(c), None), x, None, length=2)[0]

    with pytest.raises(GradhookError, match=r"inside a scan at test_stop_gradient\.py"):
        _frozen(looped)
