"""Rules as they are written in the wild, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Rule = Callable[[Any, Any, Any], tuple[Any, Any]]
"""The function itself, a point, a tangent: value and tangent."""


def ruled(value: Callable[[Any], Any], rule: Rule) -> Any:
    """A custom_jvp function of one array."""
    f = jax.custom_jvp(lambda x: value(x))

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return rule(f, primals[0], tangents[0])

    return f


def pulled(value: Callable[[Any], Any], backward: Callable[[Any, Any], Any]) -> Any:
    """A custom_vjp function of one array; ``backward`` takes the input and the cotangent."""
    f = jax.custom_vjp(lambda x: value(x))
    f.defvjp(lambda x: (f(x), x), lambda x, g: (backward(x, g),))
    return f


def straight(value: Callable[[Any], Any] = jnp.round) -> Any:
    """A straight-through estimator as it ought to be."""
    return ruled(value, lambda f, x, t: (f(x), t))


def identity(x: Any) -> Any:
    return x


def bump(x: Any) -> Any:
    """A spike's surrogate derivative."""
    return 1.0 / (1.0 + 10.0 * jnp.abs(x)) ** 2


def step(x: Any) -> Any:
    return (x >= 0).astype(x.dtype)
