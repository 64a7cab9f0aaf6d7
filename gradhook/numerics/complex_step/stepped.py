"""Values a little off the real axis, their arithmetic, and the results of a jaxpr that depend on its inputs.

``Stepped(a, b)`` stands for ``a + i h b`` as h tends to 0: products of two imaginary parts, which a step of 1e-100
rounds away, are left out from the start, so no h is too large for an input of 1e-300 and the real parts are those of
the function itself (Martins, Sturdza and Alonso 2003, section 2.3, show both to be the same arithmetic).
An imaginary part of nan stands for an unknown derivative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.jaxpr import traverse

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


def are_whole(*arrays: Any) -> Any:
    """Whether all numbers of all arrays are whole, so that their sums and products are exact."""
    return jnp.stack([jnp.all(array == jnp.round(array)) for array in arrays]).all()


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


CALLS = ("pjit", "jit", "closed_call", "core_call", "checkpoint", "remat", "remat2", "custom_vmap_call", "remat_call")
PLAIN = frozenset({"argmax", "argmin", "is_finite", "zeros_like"})
"""Primitives whose results count as fixed: they are constant almost everywhere."""
Moves = list[bool]


def called(equation: Any) -> Any | None:
    """The jaxpr that an equation runs on its very inputs; the code under a custom rule counts as that."""
    code = traverse.primal_code(equation)
    if code is None and equation.primitive.name in CALLS:
        return next(traverse.inner(equation), None)
    if code is None and hasattr(equation.params.get("_prim"), "expand"):
        return _expanded(equation)
    return code


def _expanded(equation: Any) -> Any:
    """The jaxpr of a primitive composed of others (``searchsorted`` since JAX 0.12)."""
    made = equation.params["_prim"]

    def flat(*values: Any) -> list[Any]:
        return jax.tree.leaves(made.expand(*jax.tree.unflatten(made.in_tree, values)))

    def blank(var: Any) -> Any:
        return jax.eval_shape(lambda: jax.numpy.zeros(var.aval.shape, var.aval.dtype))

    return jax.make_jaxpr(flat)(*map(blank, equation.invars))


def moves(jaxpr: Any, inputs: Sequence[bool]) -> Moves:
    """Flags of the outputs of a jaxpr that depend on moving inputs."""
    body = traverse.open_jaxpr(jaxpr)
    moving = {var for var, moved in zip(body.invars, inputs, strict=True) if moved}
    for equation in body.eqns:
        found = of_equation(equation, [_is_in(atom, moving) for atom in equation.invars])
        moving.update(var for var, moved in zip(equation.outvars, found, strict=True) if moved)
    return [_is_in(atom, moving) for atom in body.outvars]


def of_equation(equation: Any, inputs: Sequence[bool]) -> Moves:
    """Flags of the outputs of an equation that depend on moving inputs."""
    name, code = equation.primitive.name, called(equation)
    if not any(inputs) or name in PLAIN:
        return [False] * len(equation.outvars)
    if code is not None:
        return moves(code, inputs)
    if name == "cond":
        return (
            _any(moves(branch, inputs[1:]) for branch in equation.params["branches"])
            if not inputs[0]
            else _all(equation)
        )
    if name == "scan":
        carry, rest = of_scan(equation, inputs)
        return carry + rest
    if name == "while":
        carry = of_while(equation, inputs)
        return _all(equation) if is_tested(equation, inputs, carry) else carry
    if name == "sort":
        return list(inputs)
    return _all(equation)


def of_scan(equation: Any, inputs: Sequence[bool]) -> tuple[Moves, Moves]:
    """Flags of a scan's carries and stacked outputs that depend on moving inputs, after any number of steps."""
    constants, carries = traverse.scan_counts(equation)
    carry = list(inputs[constants : constants + carries])
    while True:
        out = moves(equation.params["jaxpr"], [*inputs[:constants], *carry, *inputs[constants + carries :]])
        new = _any([carry, out[:carries]])
        if new == carry:
            return carry, out[carries:]
        carry = new


def of_while(equation: Any, inputs: Sequence[bool]) -> Moves:
    """Flags of the carries of a while loop that depend on moving inputs, after any number of steps."""
    before, constants = equation.params["cond_nconsts"], equation.params["body_nconsts"]
    carry = list(inputs[before + constants :])
    while True:
        new = _any([carry, moves(equation.params["body_jaxpr"], [*inputs[before : before + constants], *carry])])
        if new == carry:
            return carry
        carry = new


def is_tested(equation: Any, inputs: Sequence[bool], carry: Moves) -> bool:
    """Whether the number of turns of a while loop depends on the input."""
    before = equation.params["cond_nconsts"]
    return any(moves(equation.params["cond_jaxpr"], [*inputs[:before], *carry]))


def _is_in(atom: Any, moving: set[Any]) -> bool:
    return not traverse.is_literal(atom) and atom in moving


def _all(equation: Any) -> Moves:
    return [True] * len(equation.outvars)


def _any(lists: Any) -> Moves:
    return [any(column) for column in zip(*lists, strict=True)]
