"""Read the tolerance at which a loop stops, from its comparisons of floating numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.numerics.jaxpr import traverse

LARGEST = 0.1
"""A larger number with which a loop compares is no tolerance: it counts, or looks for something."""
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
_SCALING = frozenset({"mul", "div"})
_ARITHMETIC = frozenset({
    "convert_element_type", "broadcast_in_dim", "reshape", "squeeze", "copy", "copy_p", "neg", "abs", "add", "sub",
    "mul", "div", "pow", "integer_pow", "square", "sqrt", "exp", "exp2", "max", "min", "stop_gradient",
})  # fmt: skip
"""What a tolerance may be made by, of numbers that are written down."""
_SOLVERS = ("/scipy/sparse/", "/scipy/optimize/", "/experimental/ode")
"""What JAX itself iterates goes to the end of float64, but for its solvers, whose tolerance is the user's."""


@dataclass(frozen=True)
class Stop:
    """The stop of a loop: its tolerance, None where the equations do not give it away.

    ``mapped``: it runs until the last of several is done, and leaves those alone that are.
    """

    tolerance: float | None
    mapped: bool


def stops(equation: Any) -> bool:
    """Whether an equation is a loop whose user chose the tolerance at which it stops."""
    if equation.primitive.name != "while" or not is_users(equation.params["cond_jaxpr"]):
        return False
    compared = list(_compared(equation.params["cond_jaxpr"], []))
    return any(bound is None or bound <= LARGEST for bound in compared)


def is_users(condition: Any) -> bool:
    """Whether the user chooses the accuracy of a loop."""
    path = traverse.definition(condition)[1].replace("\\", "/")
    return not traverse.of_jax(path) or any(part in path for part in _SOLVERS)


def stop_of(condition: Any, values: Sequence[Any]) -> Stop:
    """The stop of a loop with this condition and these input values (None: unknown)."""
    bounds = [bound for bound in _compared(condition, values) if bound is not None and bound <= LARGEST]
    mapped = any(equation.primitive.name == "reduce_or" for equation in traverse.equations(condition))
    return Stop(max(bounds, default=None), mapped)


def _compared(jaxpr: Any, values: Sequence[Any]) -> list[float | None]:
    """The magnitude that floating numbers are compared with, for each comparison: a bound, or its factor."""
    body = traverse.open_jaxpr(jaxpr)
    known: dict[Any, Any] = dict(zip(body.invars, values, strict=False))
    known |= dict(zip(body.constvars, traverse.constants(jaxpr), strict=True))
    factors: dict[Any, float] = {}
    found: list[float | None] = []
    for equation in body.eqns:
        given = [value_of(atom, known) for atom in equation.invars]
        if equation.primitive.name in _COMPARISONS and any(map(traverse.is_inexact, equation.invars)):
            bounds = [_bound(a, v, factors) for a, v in zip(equation.invars, given, strict=True)]
            found.append(next((bound for bound in bounds if bound is not None), None))
        for part in traverse.inner(equation):
            fits = len(traverse.open_jaxpr(part).invars) == len(given)
            found += _compared(part, given if fits else [])
        known.update(zip(equation.outvars, evaluated(equation, given), strict=True))
        _scaled(equation, given, factors)
    return found


def _scaled(equation: Any, given: list[Any], factors: dict[Any, float]) -> None:
    """Remember a product of something unknown with a known number."""
    numbers = [number for number in map(_magnitude, given) if number is not None]
    if equation.primitive.name in _SCALING and len(numbers) == 1:
        factors[equation.outvars[0]] = numbers[0]


def _bound(atom: Any, value: Any, factors: dict[Any, float]) -> float | None:
    number = _magnitude(value)
    return number if number is not None or traverse.is_literal(atom) else factors.get(atom)


def _magnitude(value: Any) -> float | None:
    if value is None:
        return None
    size = float(np.max(np.abs(np.asarray(value, np.float64)), initial=0.0))
    return size if np.isfinite(size) else None


def value_of(atom: Any, known: dict[Any, Any]) -> Any:
    """The value of a small constant; None where it is unknown."""
    return atom.val if traverse.is_literal(atom) else known.get(atom)


def evaluated(equation: Any, given: Sequence[Any]) -> list[Any]:
    """The results of an equation whose inputs are all known numbers; None for each where that is not so."""
    unknown = [None] * len(equation.outvars)
    if equation.primitive.name not in _ARITHMETIC or any(value is None for value in given):
        return unknown
    if equation.outvars[0].aval.shape != ():
        return unknown
    try:
        with jax.ensure_compile_time_eval():
            return traverse.bind(equation, [jnp.asarray(value) for value in given])
    except Exception:  # what cannot be computed beforehand is not known
        return unknown
