"""Does a function repeat something until floating numbers are close enough, and what does that leave open?"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from gradhook.numerics.held import Held
from gradhook.numerics.jaxprs import definition, equations, of_jax

LOOP = 5e-3
"""A loop that stops at a tolerance: its value is off by that, its slope by a multiple (3e-3 at 1e-4, 4e-6 at 1e-7)."""
CALLBACK = 5e-7
"""A callback, in which there may be such a loop."""
_SOLVERS = ("/scipy/sparse/", "/scipy/optimize/", "/experimental/ode")
"""What JAX itself iterates goes to the end of float64, but for its solvers, whose tolerance is the user's."""
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


def left_open(held: Held) -> float:
    """The relative error of the slope that a function's iterations may account for; 0 where nothing iterates."""
    if not held.traceable:
        return CALLBACK
    found = list(equations(held.jaxpr))
    if any(_stops(equation) for equation in found):
        return LOOP
    return CALLBACK if any("callback" in equation.primitive.name for equation in found) else 0.0


def loops_in(jaxpr: Any) -> float:
    """The same for the loops of any program: a derivative may have loops that its function has not."""
    return LOOP if any(_stops(equation) for equation in equations(jaxpr)) else 0.0


def _stops(equation: Any) -> bool:
    condition = equation.params.get("cond_jaxpr")
    if condition is None or not any(_compares(inside) for inside in equations(condition)):
        return False
    path = definition(condition)[1].replace("\\", "/")
    return not of_jax(path) or any(part in path for part in _SOLVERS)


def _compares(equation: Any) -> bool:
    if equation.primitive.name not in _COMPARISONS:
        return False
    return any(jnp.issubdtype(var.aval.dtype, jnp.inexact) for var in equation.invars)
