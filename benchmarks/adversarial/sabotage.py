"""Functions whose rules are wrong in one stated way, and functions with a given rule.

Each tangent is made wrong linearly, so that JAX can transpose the rule; the value is that of the function itself.
A rule gets the positional arguments alone: ``jax.custom_jvp(jnp.round)`` would hand it the defaults of ``decimals``
as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

F = Callable[..., Any]


def with_jvp(f: F, rule: F) -> F:
    """Give ``f`` the derivative ``rule(primals, tangents)``."""
    wrapped = jax.custom_jvp(lambda *args: f(*args))
    wrapped.defjvp(lambda primals, tangents: (wrapped(*primals), rule(primals, tangents)))
    return wrapped


def with_vjp(f: F, backward: F, saved: F | None = None) -> F:
    """Give ``f`` the VJP ``backward(saved(*arguments), cotangent)``; by default the arguments are saved."""
    wrapped = jax.custom_vjp(lambda *args: f(*args))
    wrapped.defvjp(lambda *args: (wrapped(*args), saved(*args) if saved else args), backward)
    return wrapped


def with_slopes(f: F, *slopes: Any) -> F:
    """Claim these numbers for the derivatives of a scalar by each argument, whatever the point."""
    return with_jvp(f, lambda _, tangents: sum(jnp.vdot(s, t) for s, t in zip(slopes, tangents, strict=True)))


def wrong(f: F, k: int, factor: Any) -> F:
    """Multiply the derivative by argument ``k`` by ``factor``."""

    def scale(index: int, tangent: Any) -> Any:
        return jax.tree.map(lambda t: t * factor, tangent) if index == k else tangent

    def rule(primals: Any, tangents: Any) -> Any:
        return jax.jvp(f, primals, tuple(scale(i, t) for i, t in enumerate(tangents)))[1]

    return with_jvp(f, rule)


def wrong_leaf(f: F, name: str, factor: float) -> F:
    """Multiply the derivative by one leaf of a dict by ``factor``."""

    def rule(primals: Any, tangents: Any) -> Any:
        return jax.jvp(f, primals, ({**tangents[0], name: tangents[0][name] * factor},))[1]

    return with_jvp(f, rule)


def wrong_element(f: F, k: int, factor: float) -> F:
    """Multiply the derivative by element ``k`` of the only array by ``factor``."""
    return with_jvp(f, lambda p, t: jax.jvp(f, p, (t[0].at[k].multiply(factor),))[1])


def swapped(f: F, i: int, j: int) -> F:
    """Exchange the derivatives by elements ``i`` and ``j`` of the only array."""

    def rule(primals: Any, tangents: Any) -> Any:
        t = tangents[0]
        return jax.jvp(f, primals, (t.at[i].set(t[j]).at[j].set(t[i]),))[1]

    return with_jvp(f, rule)


def raised(f: F, by: float, *places: int) -> F:
    """Add ``by`` to the derivatives by some elements of the only array."""
    return with_jvp(f, lambda p, t: jax.jvp(f, p, t)[1] + by * sum(t[0][k] for k in places))
