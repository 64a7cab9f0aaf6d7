"""Does a function repeat something until floating numbers satisfy a condition, as solvers do?"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from gradhook.numerics.held import Held
from gradhook.numerics.jaxprs import equations

_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


def iterates(held: Held) -> bool:
    """Whether there is a loop that stops by what floating numbers are, or a callback, in which there may be one."""
    if not held.traceable:
        return True
    return any("callback" in equation.primitive.name or _stops(equation) for equation in equations(held.jaxpr))


def _stops(equation: Any) -> bool:
    condition = equation.params.get("cond_jaxpr")
    return condition is not None and any(_compares(inside) for inside in equations(condition))


def _compares(equation: Any) -> bool:
    if equation.primitive.name not in _COMPARISONS:
        return False
    return any(jnp.issubdtype(var.aval.dtype, jnp.inexact) for var in equation.invars)
