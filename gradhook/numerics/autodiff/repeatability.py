"""Run a function twice, and look for random keys that are used twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import ADJOINT
from gradhook.comparison.probe import ConsistencyPair
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.programs import Clock, timed
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.traverse import equations


def repeated(held: FlatFunction, clock: Clock) -> list[ConsistencyPair]:
    """The value of a second trace and run beside that of the first, where they could differ."""
    x = jnp.asarray(held.point)
    if not held.traceable:
        first, second = (np.asarray(held.call(x), dtype=np.float64) for _ in range(2))
        return [ConsistencyPair("called again", None, second, first)]
    again = jax.make_jaxpr(lambda leaves: held.to_leaves(leaves))(held.inputs.structs())
    if not _calls_out(held) and _same_program(held.leaf_jaxpr, again):
        return []
    first, second = (timed(clock, lambda y: held.call(y), x) for _ in range(2))
    return [_rounded(ConsistencyPair("traced again", None, second, first), held)]


def _rounded(route: ConsistencyPair, held: FlatFunction) -> ConsistencyPair:
    """Add the rounding of the value where the two differ; callbacks may give other numbers on each run."""
    if not route.wrong(ADJOINT).any() or _calls_out(held):
        return route
    return replace(route, allowed=rounding.of(held.call, held.point))


def _calls_out(held: FlatFunction) -> bool:
    return any("callback" in equation.primitive.name for equation in equations(held.jaxpr))


def _same_program(one: Any, two: Any) -> bool:
    """Whether tracing twice gives the same equations and constants; then a run cannot differ, callbacks apart."""
    return str(one) == str(two) and _equal(one.consts, two.consts)


def _equal(one: list[Any], two: list[Any]) -> bool:
    if len(one) != len(two):
        return False
    return all(
        np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)
        for a, b in zip(one, two, strict=True)
        if not _is_key(a)
    )


def _is_key(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def reused_keys(held: FlatFunction) -> str:
    """The first line of JAX's error about a PRNG key that is used twice; empty if there is none."""
    if not held.traceable:
        return ""
    if not any(equation.primitive.name.startswith("random_") for equation in equations(held.jaxpr)):
        return ""
    try:
        with jax.debug_key_reuse(True):
            jax.jit(lambda y: held.call(y))(jnp.asarray(held.point))
    except jax.errors.KeyReuseError as error:
        return str(error).strip().splitlines()[0]
    return ""
