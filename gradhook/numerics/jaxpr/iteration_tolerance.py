"""The error of a slope that loops which stop at a tolerance account for."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradhook.comparison.judge import Array
from gradhook.numerics.jaxpr.dependence import Dependence
from gradhook.numerics.jaxpr.flows import is_inexact, is_users
from gradhook.numerics.jaxpr.traverse import equations

LOOP = 5e-3
"""A loop that stops at a tolerance: its value is off by that, its slope by a multiple (3e-3 at 1e-4, 4e-6 at 1e-7)."""
CALLBACK = 5e-7
"""A callback, in which there may be such a loop."""
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


def iteration_error(found: Dependence) -> Array:
    """The relative error of the slope from iterations, for each pair of leaves; 0 outside of them."""
    return np.where(found.through_loop, LOOP, np.where(found.unseen, CALLBACK, 0.0))


def loops_in(jaxpr: Any) -> float:
    """The relative error from loops in any program: a derivative may have loops that its function lacks."""
    return LOOP if any(_stops(equation) for equation in equations(jaxpr)) else 0.0


def _stops(equation: Any) -> bool:
    condition = equation.params.get("cond_jaxpr")
    return condition is not None and any(_compares(inside) for inside in equations(condition)) and is_users(condition)


def _compares(equation: Any) -> bool:
    return equation.primitive.name in _COMPARISONS and any(map(is_inexact, equation.invars))
