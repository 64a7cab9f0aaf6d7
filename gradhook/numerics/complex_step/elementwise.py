"""Elementwise primitives, special functions and factorisations, continued off the real axis.

``f(a + i h b) = f(a) + i h b f'(a)``; the formulas of f' are those of the NIST Digital Library of Mathematical
Functions (sections 4.7, 4.20, 4.24, 4.34, 4.37, 5.5, 7.2, 8.8, 8.17, 10.29), in a form that does not cancel.

The inputs are off by as many ulps as they have columns: backward stability (Higham 2002, theorems 8.5, 9.3 and 10.3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.complex_step.stepped import Rounding, Stepped, imag, is_stepped, nowhere, real
from gradhook.numerics.jaxpr import traverse

Rule = Callable[[Rounding, Any, list[Any]], list[Any]]
Derivative = Callable[[Any, Any], Any]
"""Of argument and value."""
_ROOT_PI = float(np.sqrt(np.pi))


def _exp_of_square(x: Any, sign: float) -> Any:
    """exp(sign x^2), accurate although x^2 is rounded: its leading part has a short root."""
    short = lax.reduce_precision(x, 8, 23)
    return jnp.exp(sign * short * short) * jnp.exp(sign * (x - short) * (x + short))


def _trigamma(x: Any, _: Any) -> Any:
    sine = jnp.sin(np.pi * (x - jnp.round(x)))
    mirrored = (np.pi / sine) ** 2 - lax.polygamma(jnp.ones_like(x), 1 - jnp.minimum(x, 0))
    return jnp.where(x > 0, lax.polygamma(jnp.ones_like(x), jnp.where(x > 0, x, 1)), mirrored)


def _sech_squared(x: Any, _: Any) -> Any:
    small = jnp.exp(-2 * jnp.abs(x)) if not jnp.iscomplexobj(x) else None
    return 1 / jnp.cosh(x) ** 2 if small is None else 4 * small / (1 + small) ** 2


def _of_asinh(x: Any, _: Any) -> Any:
    size = jnp.abs(x)
    return jnp.where(size > 1e100, 1 / size, 1 / jnp.sqrt(1 + x * x))


def _of_i1e(x: Any, y: Any) -> Any:
    return jnp.where(x == 0, 0.5, lax.bessel_i0e(x) - y * (jnp.sign(x) + 1 / jnp.where(x == 0, 1, x)))


DERIVATIVES: dict[str, Derivative] = {
    "exp": lambda x, y: y,
    "exp2": lambda x, y: y * np.log(2),
    "log": lambda x, y: 1 / x,
    "log1p": lambda x, y: 1 / (1 + x),
    "expm1": lambda x, y: jnp.exp(x),
    "sin": lambda x, y: jnp.cos(x),
    "cos": lambda x, y: -jnp.sin(x),
    "tan": lambda x, y: 1 + y * y,
    "asin": lambda x, y: 1 / jnp.sqrt((1 - x) * (1 + x)),
    "acos": lambda x, y: -1 / jnp.sqrt((1 - x) * (1 + x)),
    "atan": lambda x, y: 1 / (1 + x * x),
    "sinh": lambda x, y: jnp.cosh(x),
    "cosh": lambda x, y: jnp.sinh(x),
    "tanh": _sech_squared,
    "asinh": _of_asinh,
    "acosh": lambda x, y: 1 / (jnp.sqrt(x - 1) * jnp.sqrt(x + 1)),
    "atanh": lambda x, y: 1 / ((1 - x) * (1 + x)),
    "logistic": lambda x, y: y * lax.logistic(-x),
    "sqrt": lambda x, y: 0.5 / y,
    "rsqrt": lambda x, y: -0.5 * y / x,
    "cbrt": lambda x, y: y / (3 * x),
    "square": lambda x, y: 2 * x,
    "erf": lambda x, y: 2 / _ROOT_PI * _exp_of_square(x, -1),
    "erfc": lambda x, y: -2 / _ROOT_PI * _exp_of_square(x, -1),
    "erf_inv": lambda x, y: _ROOT_PI / 2 * _exp_of_square(y, 1),
    "lgamma": lambda x, y: lax.digamma(x),
    "digamma": _trigamma,
    "bessel_i0e": lambda x, y: lax.bessel_i1e(x) - jnp.sign(x) * y,
    "bessel_i1e": lambda x, y: jnp.where(
        x == 0, 0.5, lax.bessel_i0e(x) - y * (jnp.sign(x) + 1 / jnp.where(x == 0, 1, x))
    ),
}
_REAL_ONLY = {"asinh", "logistic", "cbrt", "erf", "erfc", "erf_inv", "lgamma", "digamma", "bessel_i0e", "bessel_i1e"}
_ABSOLUTE = {"erf_inv", "lgamma", "digamma", "bessel_i0e", "bessel_i1e"}
"""Those with zeros, or differences, near which XLA's polynomials are accurate only absolutely."""


def function(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """A primitive of ``DERIVATIVES``."""
    name, (value,) = equation.primitive.name, values
    x = real(value)
    (y,) = traverse.bind(equation, [x])
    round_off = rounding.off_absolutely if name in _ABSOLUTE else rounding.off
    y = round_off(y, 4.0)
    if not is_stepped(value):
        return [y]
    if jnp.iscomplexobj(x) and name in _REAL_ONLY:
        return [Stepped(y, jnp.full_like(y, np.nan))]
    return [Stepped(y, round_off(DERIVATIVES[name](x, y), 4.0) * value.imag)]


def add(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Sums and differences: rounded once in each part."""
    a, b = values
    minus = equation.primitive.name == "sub"
    (y,) = traverse.bind(equation, [real(a), real(b)])
    parts = [] if not is_stepped(a) else [a.imag]
    parts += [] if not is_stepped(b) else [-b.imag if minus else b.imag]
    change = parts[0] if len(parts) == 1 else rounding.off(parts[0] + parts[1])
    return [Stepped(_rounded_sum(rounding, y, real(a), -real(b) if minus else real(b)), change)]


def fixed_sum(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """A sum that does not depend on the input."""
    a, b = values[0], -values[1] if equation.primitive.name == "sub" else values[1]
    (y,) = traverse.bind(equation, values)
    return [_rounded_sum(rounding, y, a, b)]


def _rounded_sum(rounding: Rounding, total: Any, a: Any, b: Any) -> Any:
    """The total of two, off only where it is rounded (Knuth's TwoSum): it may be an index.

    The barriers keep XLA from simplifying (a + b) - a to b.
    """
    kept: Callable[[Any], Any] = lax.optimization_barrier
    second = kept(kept(total) - a)
    first = kept(total - second)
    return jnp.where((a - first) + (b - second) == 0, total, rounding.off(total))


def mul(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Products; both terms of the derivative are rounded, for they may cancel."""
    a, b = values
    (y,) = traverse.bind(equation, [real(a), real(b)])
    terms = [one.imag * real(other) for one, other in ((a, b), (b, a)) if is_stepped(one)]
    if any(_is_power_of_two(atom) for atom in equation.invars):
        return [Stepped(y, terms[0])]
    return [Stepped(rounding.off(y, 1, True), _total(rounding, terms))]


def div(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Quotients: (a' - y b') / b."""
    a, b = values
    (y,) = traverse.bind(equation, [real(a), real(b)])
    if not jnp.issubdtype(y.dtype, jnp.inexact):
        return [Stepped(y, nowhere((imag(a) != 0) | (imag(b) != 0), jnp.zeros(y.shape)))]
    y = rounding.off(y, 1, True)
    terms = ([a.imag] if is_stepped(a) else []) + ([-rounding.off(y * b.imag)] if is_stepped(b) else [])
    return [Stepped(y, rounding.off(sum(terms[1:], terms[0]) / real(b)))]


def integer_pow(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """x^n with n in the equation."""
    x, n = values[0], equation.params["y"]
    (y,) = traverse.bind(equation, [x.real])
    slope = n * x.real ** (n - 1) if n else jnp.zeros_like(x.real)
    return [Stepped(rounding.off(y, 4), rounding.off(slope, 4) * x.imag)]


def power(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """x^e; where the exponent moves, for a positive base, or a base of 0 under a positive exponent."""
    x, e = values
    (y,) = traverse.bind(equation, [real(x), real(e)])
    base, exponent = real(x), jnp.asarray(real(e)).astype(real(x).dtype)
    terms = []
    if is_stepped(x):
        slope = jnp.where(exponent == 0, 0, exponent * lax.pow(base, exponent - 1))
        terms.append(rounding.off(slope, 4) * x.imag)
    if is_stepped(e):
        slope = rounding.off(jnp.log(base), 4) * rounding.off(y, 4)
        flat = (e.imag == 0) | ((base == 0) & (exponent > 0))
        terms.append(jnp.where(flat, 0.0, jnp.where(base > 0, slope * e.imag, np.nan)))
    return [Stepped(rounding.off(y, 4), _total(rounding, terms))]


def atan2(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """The angle: (x y' - y x') / (x^2 + y^2), scaled so that squares stay in range."""
    b, a = values
    (angle,) = traverse.bind(equation, [real(b), real(a)])
    size = jnp.maximum(jnp.abs(real(a)), jnp.abs(real(b)))
    x, y = real(a) / size, real(b) / size
    terms = ([x * b.imag] if is_stepped(b) else []) + ([-y * a.imag] if is_stepped(a) else [])
    return [Stepped(rounding.off(angle, 4), _total(rounding, terms) / (x * x + y * y) / size)]


def remainder(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """a - trunc(a / b) b; it jumps at multiples of b but 0."""
    a, b = values
    (y,) = traverse.bind(equation, [real(a), real(b)])
    turns = jnp.round((real(a) - y) / real(b))
    terms = ([imag(a)] if is_stepped(a) else []) + ([-turns * b.imag] if is_stepped(b) else [])
    change = _total(rounding, terms)
    return [Stepped(y, nowhere((y == 0) & (real(a) != 0) & (change != 0), change))]


def absolute(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """The distance from 0, without a derivative there."""
    (x,) = values
    (y,) = traverse.bind(equation, [x.real])
    if jnp.iscomplexobj(x.real):
        turned = x.real / y
        change = rounding.off(turned.real * x.imag.real) + rounding.off(turned.imag * x.imag.imag)
        return [Stepped(rounding.off(y, 4), change)]
    return [Stepped(y, nowhere((x.real == 0) & (x.imag != 0), jnp.sign(x.real) * x.imag))]


def _total(rounding: Rounding, terms: list[Any]) -> Any:
    rounded = [rounding.off(term) for term in terms]
    return sum(rounded[1:], rounded[0])


def _is_power_of_two(atom: Any) -> bool:
    return traverse.is_literal(atom) and np.ndim(atom.val) == 0 and abs(np.frexp(np.real(atom.val))[0]) == 0.5


RULES: dict[str, Rule] = {
    **dict.fromkeys(DERIVATIVES, function),
    **dict.fromkeys(("add", "sub", "add_any"), add),
    "mul": mul,
    "div": div,
    "integer_pow": integer_pow,
    "pow": power,
    "atan2": atan2,
    "rem": remainder,
    "abs": absolute,
}


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


SPECIAL: dict[str, Rule] = dict.fromkeys(_DERIVATIVES, last_argument)


def cholesky(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """L' = L Phi(L^-1 A' L^-T); Phi halves the diagonal of the lower triangle (Murray 2016, equation 8)."""
    a = _off(rounding, values[0])
    (y,) = traverse.bind(equation, [a.real])
    if jnp.iscomplexobj(y):
        return [Stepped(y, jnp.full_like(y, np.nan))]
    # The primitive reads the lower triangle only.
    lower = jnp.tril(a.imag)
    moved = lower + jnp.swapaxes(jnp.tril(a.imag, -1), -1, -2)
    half = lax.linalg.triangular_solve(y, moved, left_side=True, lower=True)
    both = lax.linalg.triangular_solve(y, half, left_side=False, lower=True, transpose_a=True)
    phi = jnp.tril(both) - 0.5 * both * jnp.eye(y.shape[-1])
    return [Stepped(y, jnp.tril(jnp.tril(y) @ phi))]


def lu(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """P A = L U: L' = L tril(F, -1) and U' = triu(F) U with F = L^-1 P A' U^-1."""
    a = _off(rounding, values[0])
    y, *rest = traverse.bind(equation, [a.real])
    rows, columns = y.shape[-2:]
    if rows != columns or len(rest) != 2:
        return [Stepped(y, jnp.full_like(y, np.nan)), *rest]
    moved = jnp.take_along_axis(a.imag, rest[1][..., None], axis=-2)
    lower = jnp.tril(y, -1) + jnp.eye(rows, dtype=y.dtype)
    half = lax.linalg.triangular_solve(y, moved, left_side=True, lower=True, unit_diagonal=True)
    both = lax.linalg.triangular_solve(y, half, left_side=False, lower=False)
    return [Stepped(y, jnp.tril(lower @ jnp.tril(both, -1), -1) + jnp.triu(jnp.triu(both) @ jnp.triu(y))), *rest]


def triangular_solve(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """op(A) X = B: X' solves op(A) X' = B' - op(A') X, and likewise on the right."""
    a, b = _off(rounding, values[0]), values[1]
    params = equation.params
    x = rounding.off(traverse.bind(equation, [real(a), real(b)])[0])
    right = imag(b)
    if is_stepped(a):
        moved = jnp.tril(a.imag) if params["lower"] else jnp.triu(a.imag)
        moved = moved - moved * jnp.eye(moved.shape[-1]) if params["unit_diagonal"] else moved
        moved = jnp.swapaxes(moved, -1, -2) if params["transpose_a"] else moved
        moved = jnp.conj(moved) if params["conjugate_a"] else moved
        right = right - rounding.off(moved @ x if params["left_side"] else x @ moved, float(moved.shape[-1]))
    (change,) = traverse.bind(equation, [real(a), right])
    return [Stepped(x, rounding.off(change))]


def _off(rounding: Rounding, value: Any) -> Any:
    ulps = float(value.real.shape[-1]) if is_stepped(value) else float(value.shape[-1])
    if not is_stepped(value):
        return rounding.off(value, ulps)
    return Stepped(rounding.off(value.real, ulps), rounding.off(value.imag, ulps))


FACTORISATIONS: dict[str, Rule] = {"cholesky": cholesky, "lu": lu, "triangular_solve": triangular_solve}
