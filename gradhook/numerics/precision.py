"""Does a function compute in less than float64 inside, although its inputs are float64?"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from gradhook.numerics.held import Held
from gradhook.numerics.jaxprs import equations, placed

Narrowing = tuple[str, str, int]


def narrowings(held: Held) -> list[Narrowing]:
    """Equations that take a 64-bit float and give a narrower one: what happens, file, line."""
    if not held.traceable:
        return []
    found = [(*what, *here) for equation, here in placed(held.jaxpr) if (what := _narrowing(equation))]
    return list(dict.fromkeys(found))


def may_narrow(held: Held) -> bool:
    """Whether anything in the function may compute in less than float64, as far as its jaxpr tells."""
    if not held.traceable:
        return True
    return any("callback" in equation.primitive.name or _narrowing(equation) for equation in equations(held.jaxpr))


def _narrowing(equation: Any) -> tuple[str] | tuple[()]:
    inputs = [_width(var) for var in equation.invars]
    outputs = [(_width(var), var) for var in equation.outvars]
    narrow = [var for width, var in outputs if 0 < width < 64]
    if not narrow or max(inputs, default=0) < 64:
        return ()
    kind = "a cast" if equation.primitive.name == "convert_element_type" else equation.primitive.name
    return (f"{kind} to {narrow[0].aval.dtype}",)


def _width(var: Any) -> int:
    """Bits of a real number in a floating variable; 0 for anything else."""
    dtype = getattr(var.aval, "dtype", None)
    if dtype is None or not jnp.issubdtype(dtype, jnp.inexact):
        return 0
    return int(np.finfo(dtype).bits) if np.dtype(dtype).kind in "fc" else 8 * np.dtype(dtype).itemsize
