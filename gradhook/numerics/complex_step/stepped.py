"""Values a little off the real axis, and arithmetic whose rounding can be varied.

``Stepped(a, b)`` stands for ``a + i h b`` as h tends to 0: products of two imaginary parts, which a step of 1e-100
rounds away, are left out from the start, so no h is too large for an input of 1e-300 and the real parts are those of
the function itself (Martins, Sturdza and Alonso 2003, section 2.3, show both to be the same arithmetic).
An imaginary part of nan stands for an unknown derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

EPS = 2.0**-52
_ODD = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio (Knuth, The Art of Computer Programming, vol. 3, 6.4): its multiples spread evenly."""


@dataclass(frozen=True)
class Stepped:
    """An array that depends on the input.

    ``imag`` is float64 or complex128, of the shape of ``real``. That of booleans and integers is 0, or nan where a
    step along the direction would change them.
    """

    real: Any
    imag: Any


jax.tree_util.register_dataclass(Stepped, data_fields=["real", "imag"], meta_fields=[])


@dataclass(frozen=True)
class Rounding:
    """Random rounding (Parker 1997): results are off by up to an ulp, by nothing where the seed is 0.

    The sign and size are a hash of the value's bits, the seed and the operation: equal operations on equal values round
    alike, as they do in the machine.
    """

    seed: Any
    _operations: Iterator[int] = field(default_factory=lambda: count(1))

    def off(self, value: Any, ulps: float = 1.0, short_is_exact: bool = False) -> Any:
        """The value times 1 plus up to so many ulps; infinities and zeros stay.

        ``short_is_exact`` leaves alone what has at most 14 bits after its first: a product so short is not rounded.
        """
        if value.dtype == np.complex128:
            return lax.complex(self.off(value.real, ulps), self.off(value.imag, ulps))
        if value.dtype != np.float64:
            return value
        return value * (1 + self._draw(value, short_is_exact) * (ulps * EPS))

    def off_absolutely(self, value: Any, ulps: float) -> Any:
        """The value plus up to so many ulps of 1 or of the value, whichever is larger."""
        return value + self._draw(value, False) * (ulps * EPS) * jnp.maximum(jnp.abs(value), 1)

    def _draw(self, value: Any, short_is_exact: bool) -> Any:
        factor = next(self._operations) * _ODD * 2 + _ODD
        factor = (factor << 26 if short_is_exact else factor) % 2**64
        key = self.seed * np.array(factor, np.uint64).astype(np.int64)
        return (lax.bitcast_convert_type(value, np.int64) * key).astype(np.float64) * 2.0**-63


def real(value: Any) -> Any:
    """The real part of a stepped value; any other value itself."""
    return value.real if isinstance(value, Stepped) else value


def imag(value: Any) -> Any:
    """The imaginary part; zeros for what does not depend on the input."""
    return value.imag if isinstance(value, Stepped) else jnp.zeros(np.shape(value), tangent_dtype(value))


def is_stepped(value: Any) -> bool:
    """Whether a value depends on the input."""
    return isinstance(value, Stepped)


def stepped(value: Any) -> Stepped:
    """The value as one that may depend on the input."""
    return value if isinstance(value, Stepped) else Stepped(jnp.asarray(value), imag(value))


def unknown(value: Any) -> Stepped:
    """A value with an unknown derivative."""
    return Stepped(real(value), jnp.full(np.shape(real(value)), np.nan, tangent_dtype(real(value))))


def tangent_dtype(value: Any) -> Any:
    """The type of the imaginary part of a value."""
    return np.complex128 if jnp.issubdtype(jnp.result_type(value), jnp.complexfloating) else np.float64


def nowhere(flags: Any, derivative: Any) -> Any:
    """The derivative, but unknown where flagged."""
    return jnp.where(flags, np.nan, derivative)


def spoilt(result: Any, *deciders: Any) -> Any:
    """A result, with an unknown derivative if that of any number which chose or placed it is unknown."""
    bad = [jnp.sum(decider.imag) for decider in deciders if is_stepped(decider)]
    if not bad:
        return result
    return Stepped(real(result), imag(result) + sum(bad[1:], bad[0]))
