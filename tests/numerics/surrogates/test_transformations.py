"""Compositions that a rule is called in, and those that its own code forbids."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe


def _iterated(a: Any) -> Any:
    """The x with x = 0.95 x + 0.05 cos(a x); for a large ``a`` no x is ever reached."""

    def step(s: Any) -> Any:
        x = 0.95 * s[0] + 0.05 * jnp.cos(a * s[0])
        return x, jnp.abs(x - s[0])

    return jax.lax.while_loop(lambda s: s[1] > 1e-9, step, (jnp.ones_like(a), jnp.ones_like(a)))[0]


def _ruled(function: Any, slope: Any) -> Any:
    made = jax.custom_jvp(function)
    made.defjvp(lambda primals, tangents: (made(*primals), slope(*primals) * tangents[0]))
    return made


@pytest.mark.parametrize(
    "function, nests",
    [
        (_ruled(jnp.sin, jnp.cos), True),
        (_ruled(lambda a: 1e6 * _iterated(a), lambda a: 1.0 + 0 * a), False),
        (_ruled(lambda a: 2 * a, lambda a: 1.0 + 0 * _iterated(a)), False),
    ],
    ids=["plain", "a loop in the function", "a loop in the rule"],
)
def test_only_a_function_that_ends_is_called_on_its_own_output(function: Any, nests: bool) -> None:
    probe = FunctionProbe(function, CheckCase("scalar", (0.7,)), CheckOptions(), "test", Clock()).rule_probe()
    assert probe is not None
    assert ("jvp of two nested calls" in {pair.name for pair in probe.composition()}) is nests
