"""Find equations that compute in less than float64 from float64 inputs."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np


def narrowing(equation: Any) -> str:
    """A description of an equation that takes a 64-bit float and gives a narrower one; else empty."""
    inputs = [_width(var) for var in equation.invars]
    outputs = [(_width(var), var) for var in equation.outvars]
    narrow = [var for width, var in outputs if 0 < width < 64]
    if not narrow or max(inputs, default=0) < 64:
        return ""
    kind = "a cast" if equation.primitive.name == "convert_element_type" else equation.primitive.name
    return f"{kind} to {narrow[0].aval.dtype}"


def _width(var: Any) -> int:
    """Bits of a real number in a floating variable; 0 for anything else."""
    dtype = getattr(var.aval, "dtype", None)
    if dtype is None or not jnp.issubdtype(dtype, jnp.inexact):
        return 0
    return int(np.finfo(dtype).bits) if np.dtype(dtype).kind in "fc" else 8 * np.dtype(dtype).itemsize
