"""Special functions of several arguments, continued off the real axis in the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.complex_step.elementwise import Rule
from gradhook.numerics.complex_step.stepped import Rounding, Stepped, is_stepped, real
from gradhook.numerics.jaxpr import traverse


def _gamma_density(a: Any, x: Any) -> Any:
    return jnp.exp((a - 1) * jnp.log(x) - x - lax.lgamma(a))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    scale = lax.lgamma(a + b) - lax.lgamma(a) - lax.lgamma(b)
    return jnp.exp((a - 1) * jnp.log(x) + (b - 1) * jnp.log1p(-x) + scale)


_DERIVATIVES: dict[str, Callable[..., Any]] = {
    "polygamma": lambda m, x: lax.polygamma(m + 1, x),
    "igamma": _gamma_density,
    "igammac": lambda a, x: -_gamma_density(a, x),
    "regularized_incomplete_beta": _beta_density,
}


def last_argument(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """A primitive of ``_DERIVATIVES``; its density has large exponents, hence the many ulps."""
    *parameters, x = values
    (y,) = traverse.bind(equation, [real(value) for value in values])
    y = rounding.off(y, 64.0)
    if any(map(is_stepped, parameters)):
        return [Stepped(y, jnp.full(y.shape, np.nan))]
    slope = rounding.off(_DERIVATIVES[equation.primitive.name](*parameters, x.real), 256.0)
    return [Stepped(y, slope * x.imag)]


RULES: dict[str, Rule] = dict.fromkeys(_DERIVATIVES, last_argument)
