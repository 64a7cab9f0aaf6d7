"""Primitives that decide, cut off or choose: the real parts decide, as they do on the real axis.

At a point where a step along the direction would decide otherwise no derivative can be read off, so it is unknown.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.complex_step.elementwise import Rule
from gradhook.numerics.complex_step.stepped import Rounding, Stepped, imag, is_stepped, nowhere, real
from gradhook.numerics.jaxpr import traverse


def step(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """floor, ceil, round and sign: 0 but where they jump."""
    (x,) = values
    (y,) = traverse.bind(equation, [x.real])
    name = equation.primitive.name
    doubled = 2 * x.real if name == "round" else x.real
    jumps = x.real == 0 if name == "sign" else (doubled == jnp.floor(doubled))
    jumps = jumps & (x.real != jnp.floor(x.real)) if name == "round" else jumps
    return [Stepped(y, nowhere(jumps & (x.imag != 0), jnp.zeros(y.shape)))]


def compare(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Compare the real parts; undecided where they are equal and part along the direction."""
    a, b = values
    (y,) = traverse.bind(equation, [real(a), real(b)])
    return [Stepped(y, nowhere((real(a) == real(b)) & (imag(a) != imag(b)), jnp.zeros(y.shape)))]


def logical(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """and, or, xor, not: undecided where an operand is."""
    result = traverse.bind(equation, [real(value) for value in values])[0]
    return [Stepped(result, sum((imag(value) for value in values[1:]), imag(values[0])))]


def larger(a: Any, b: Any, sign: float = 1.0) -> Any:
    """The larger of two values (the smaller, for sign -1), without a derivative where they tie and part."""
    first = sign * real(a) > sign * real(b)
    tie = (real(a) == real(b)) & (imag(a) != imag(b))
    value = jnp.maximum(real(a), real(b)) if sign > 0 else jnp.minimum(real(a), real(b))
    return Stepped(value, nowhere(tie, jnp.where(first, imag(a), imag(b))))


def extreme(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """max and min."""
    a, b = values
    return [larger(a, b, 1.0 if equation.primitive.name == "max" else -1.0)]


def clamp(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Between two bounds."""
    low, x, high = values
    return [larger(larger(x, low), high, -1.0)]


def select(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """One of several values, unknown where the choice is."""
    which, *cases = values
    (y,) = traverse.bind(equation, [real(which), *map(real, cases)])
    change = lax.select_n(real(which), *[imag(case) for case in cases])
    return [Stepped(y, change if not is_stepped(which) else change + which.imag)]


def convert(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Another type; integers and booleans jump, narrow floats lose what a step shows."""
    (x,) = values
    (y,) = traverse.bind(equation, [x.real])
    if jnp.issubdtype(y.dtype, jnp.inexact) or not jnp.issubdtype(x.real.dtype, jnp.inexact):
        return [Stepped(y, x.imag.astype(np.complex128) if jnp.iscomplexobj(y) else x.imag.real)]
    jumps = x.real == 0 if y.dtype == np.bool_ else (x.real == jnp.trunc(x.real)) & (x.real != 0)
    return [Stepped(y, nowhere(jumps & (x.imag != 0), jnp.zeros(y.shape)))]


RULES: dict[str, Rule] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "eq_to", "lt_to", "le_to"), compare),
    **dict.fromkeys(("and", "or", "xor", "not"), logical),
    **dict.fromkeys(("floor", "ceil", "round", "sign"), step),
    **dict.fromkeys(("max", "min"), extreme),
    "clamp": clamp,
    "select_n": select,
    "convert_element_type": convert,
}
