"""The primitives of random programs: the JAX text of each, and the same in duals of 60 digits.

An operation takes lists of duals (a scalar is a list of one, which repeats) and gives a list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import mpmath as mp

from fuzz.verdicts.duals import (
    UNIT,
    Dual,
    Outside,
    add,
    beside,
    chain,
    constant,
    divide,
    larger,
    multiply,
    scaled,
    shifted,
    singular,
    smaller,
    subtract,
    torn_at,
    total,
)

FLOAT32 = 2.0**-23
Vector = list[Dual]
Kind = Literal["map", "reduce", "vector", "spread", "stack"]
"""Element by element; vector to number; vector to vector of its length; number to vector; numbers to vector."""


@dataclass(frozen=True)
class Operation:
    """A primitive: ``text`` with ``{0}`` … for its operands and ``{c0}`` … for its constants."""

    text: str
    kind: Kind
    operands: int
    duals: Callable[[list[Vector], tuple[float, ...]], Vector]
    constants: int = 0


def smooth(
    value: Callable[[Any], Any], slope: Callable[[Any], Any], inside: Any = None, distance: Any = None
) -> Callable[[Dual], Dual]:
    """A smooth function of one number; ``distance`` is that to its singularity."""

    def apply(a: Dual) -> Dual:
        if inside is not None and not inside(a.v):
            raise Outside
        if abs(a.v) > 1e15:
            raise Outside
        found = chain(value(a.v), [(slope(a.v), a)], 2.0)
        return found if distance is None else singular(distance(a.v), a, found)

    return apply


def _same(x: Any) -> Any:
    return x


def _logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _softplus(a: Dual) -> Dual:
    raised = shifted(SMOOTH["exp"](a), 1.0)
    return SMOOTH["log"](raised)


def _root(a: Dual) -> Dual:
    if a.v < 0:
        raise Outside
    if a.v == 0:
        return torn_at(Dual(mp.mpf(0), {k: mp.mpf(0) for k in a.d}))
    return singular(a.v, a, chain(mp.sqrt(a.v), [(1 / (2 * mp.sqrt(a.v)), a)]))


def _cube_root(a: Dual) -> Dual:
    if a.v == 0:
        return torn_at(Dual(mp.mpf(0), {k: mp.mpf(0) for k in a.d}))
    root = mp.sign(a.v) * mp.cbrt(abs(a.v))
    return singular(a.v, a, chain(root, [(1 / (3 * root**2), a)], 2.0))


def _log_gamma(a: Dual) -> Dual:
    """Its rounding is that of the terms of Stirling's series, which cancel near 1 and 2."""
    found = smooth(mp.loggamma, mp.digamma, lambda x: 0 < x < 1e10, _same)(a)
    return replace(found, error=found.error + 8 * UNIT * (1 + float(a.v) * abs(float(mp.log(a.v)))))


SMOOTH: dict[str, Callable[[Dual], Dual]] = {
    "negative": smooth(lambda x: -x, lambda x: mp.mpf(-1)),
    "sin": smooth(mp.sin, mp.cos),
    "cos": smooth(mp.cos, lambda x: -mp.sin(x)),
    "exp": smooth(mp.exp, mp.exp, lambda x: x < 600),
    "log": smooth(mp.log, lambda x: 1 / x, lambda x: x > 0, _same),
    "tanh": smooth(mp.tanh, lambda x: mp.sech(x) ** 2 if abs(x) < 300 else mp.mpf(0)),
    "arctan": smooth(mp.atan, lambda x: 1 / (1 + x * x)),
    "sinh": smooth(mp.sinh, mp.cosh, lambda x: abs(x) < 600),
    "arcsinh": smooth(mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x)),
    "expm1": smooth(mp.expm1, mp.exp, lambda x: x < 600),
    "log1p": smooth(lambda x: mp.log(1 + x), lambda x: 1 / (1 + x), lambda x: x > -1, lambda x: 1 + x),
    "square": smooth(lambda x: x * x, lambda x: 2 * x),
    "reciprocal": smooth(lambda x: 1 / x, lambda x: -1 / x**2, lambda x: x != 0, _same),
    "rsqrt": smooth(lambda x: 1 / mp.sqrt(x), lambda x: -1 / (2 * x * mp.sqrt(x)), lambda x: x > 0, _same),
    "sigmoid": smooth(_logistic, lambda x: _logistic(x) * _logistic(-x), lambda x: abs(x) < 600),
    "gauss": smooth(lambda x: mp.exp(-x * x), lambda x: -2 * x * mp.exp(-x * x), lambda x: abs(x) < 20),
    "erf": smooth(mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x), lambda x: abs(x) < 20),
    "lgamma": _log_gamma,
    "softplus": _softplus,
    "sqrt": _root,
    "cbrt": _cube_root,
}


def _absolute(a: Dual) -> Dual:
    flipped = SMOOTH["negative"](a)
    return beside(a, a, flipped) if a.v >= 0 else beside(a, flipped, a)


def _floor(a: Dual) -> Dual:
    low = mp.floor(a.v)
    gap = replace(a, v=a.v - mp.nint(a.v))
    here = Dual(low, {k: mp.mpf(0) for k in a.d}, narrowed=a.narrowed)
    return beside(gap, here, constant(float(low) - 1))


def _narrow(a: Dual) -> Dual:
    """Read as the number before it is rounded to float32; its inputs are marked."""
    if a.v and not 1e-30 < abs(a.v) < 1e30:
        raise Outside
    return replace(a, error=a.error + FLOAT32 * float(abs(a.v)), narrowed=a.narrowed | frozenset(a.d))


def _where(test: Dual, edge: float, yes: Dual, no: Dual) -> Dual:
    gap = subtract(test, constant(edge), 0.0)
    return beside(gap, yes, no) if gap.v > 0 else beside(gap, no, yes)


def _power(a: Dual, exponent: float) -> Dual:
    if a.v <= 0:
        raise Outside
    found = chain(a.v ** mp.mpf(exponent), [(exponent * a.v ** (mp.mpf(exponent) - 1), a)], 2.0)
    return singular(a.v, a, found)


def _whole_power(a: Dual, exponent: float) -> Dual:
    n = int(exponent)
    if n < 0 and not a.v:
        raise Outside
    found = chain(a.v**n, [(n * a.v ** (n - 1), a)], abs(n))
    return singular(a.v, a, found) if n < 0 else found


def _angle(y: Dual, x: Dual) -> Dual:
    size = x.v**2 + y.v**2
    if not size or (x.v < 0 and abs(y.v) <= 1e-6 * abs(x.v)):
        raise Outside
    return chain(mp.atan2(y.v, x.v), [(x.v / size, y), (-y.v / size, x)], 2.0)


def _log_sum(*parts: Dual) -> Dual:
    top = max(a.v for a in parts)
    shares = [mp.exp(a.v - top) for a in parts]
    whole = mp.fsum(shares)
    return chain(top + mp.log(whole), [(s / whole, a) for s, a in zip(shares, parts, strict=True)], 2.0)


def _softmax(parts: Vector) -> Vector:
    log_sum = _log_sum(*parts)
    return [SMOOTH["exp"](subtract(a, log_sum)) for a in parts]


def _hypot(a: Dual, b: Dual) -> Dual:
    return _root(add(multiply(a, a), multiply(b, b)))


def _product(parts: Vector) -> Dual:
    found = parts[0]
    for part in parts[1:]:
        found = multiply(found, part)
    return found


def _fold(parts: Vector, step: Callable[[Dual, Dual], Dual]) -> Dual:
    found = parts[0]
    for part in parts[1:]:
        found = step(found, part)
    return found


def _sorted(parts: Vector) -> Vector:
    order = sorted(parts, key=lambda a: a.v)
    found = []
    for k, part in enumerate(order):
        for other in (*order[max(k - 1, 0) : k], *order[k + 1 : k + 2]):
            part = beside(subtract(order[k], other, 0.0), part, other)
        found.append(part)
    return found


def _running(parts: Vector, step: Callable[[Dual, Dual], Dual]) -> Vector:
    found = parts[:1]
    for part in parts[1:]:
        found.append(step(found[-1], part))
    return found


def _repeat(a: Dual, count: float, step: Callable[[Dual], Dual]) -> Dual:
    for _ in range(int(count)):
        a = step(a)
    return a


def _newton(a: Dual, count: float) -> Dual:
    if a.v <= 0:
        raise Outside
    return _repeat(a, count, lambda c: scaled(0.5, add(c, divide(a, c))))


def _scan(parts: Vector, decay: float, bend: Callable[[Dual], Dual]) -> Dual:
    carry = constant(0.0)
    for part in parts:
        carry = bend(add(scaled(decay, carry), part))
    return carry


def one(function: Callable[..., Dual]) -> Callable[[list[Vector], tuple[float, ...]], Vector]:
    """An operation on numbers as one on vectors, element by element; constants come last."""

    def apply(operands: list[Vector], constants: tuple[float, ...]) -> Vector:
        length = max(map(len, operands))
        return [function(*(v[k % len(v)] for v in operands), *constants) for k in range(length)]

    return apply


def whole(function: Callable[..., Dual | Vector]) -> Callable[[list[Vector], tuple[float, ...]], Vector]:
    """An operation on whole vectors."""

    def apply(operands: list[Vector], constants: tuple[float, ...]) -> Vector:
        found = function(*operands, *constants)
        return found if isinstance(found, list) else [found]

    return apply


_UNARY = {
    **{name: f"jnp.{name}({{0}})" for name in SMOOTH},
    "negative": "-{0}",
    "rsqrt": "jax.lax.rsqrt({0})",
    "sigmoid": "jax.nn.sigmoid({0})",
    "softplus": "jnp.log(1 + jnp.exp({0}))",
    "gauss": "jnp.exp(-{0} * {0})",
    "erf": "jax.scipy.special.erf({0})",
    "lgamma": "jax.scipy.special.gammaln({0})",
}
_ZERO = constant(0.0)
OPERATIONS: dict[str, Operation] = {
    **{name: Operation(text, "map", 1, one(SMOOTH[name])) for name, text in _UNARY.items()},
    "abs": Operation("jnp.abs({0})", "map", 1, one(_absolute)),
    "relu": Operation("jax.nn.relu({0})", "map", 1, one(lambda a: larger(a, _ZERO))),
    "floor": Operation("jnp.floor({0})", "map", 1, one(_floor)),
    "float32": Operation("({0}).astype(jnp.float32).astype(jnp.float64)", "map", 1, one(_narrow)),
    "scale": Operation("{c0} * {0}", "map", 1, one(lambda a, c: scaled(c, a)), 1),
    "shift": Operation("({0} + {c0})", "map", 1, one(shifted), 1),
    "power": Operation("{0} ** {c0}", "map", 1, one(_power), 1),
    "whole_power": Operation("{0} ** {i0}", "map", 1, one(_whole_power), 1),
    "at_least": Operation("jnp.maximum({0}, {c0})", "map", 1, one(lambda a, c: larger(a, constant(c))), 1),
    "at_most": Operation("jnp.minimum({0}, {c0})", "map", 1, one(lambda a, c: smaller(a, constant(c))), 1),
    "clip": Operation(
        "jnp.clip({0}, {c0}, {c1})", "map", 1,
        one(lambda a, low, high: smaller(larger(a, constant(low)), constant(high))), 2,
    ),
    "add": Operation("({0} + {1})", "map", 2, one(add)),
    "subtract": Operation("({0} - {1})", "map", 2, one(subtract)),
    "multiply": Operation("{0} * {1}", "map", 2, one(multiply)),
    "divide": Operation("{0} / {1}", "map", 2, one(divide)),
    "maximum": Operation("jnp.maximum({0}, {1})", "map", 2, one(larger)),
    "minimum": Operation("jnp.minimum({0}, {1})", "map", 2, one(smaller)),
    "arctan2": Operation("jnp.arctan2({0}, {1})", "map", 2, one(_angle)),
    "logaddexp": Operation("jnp.logaddexp({0}, {1})", "map", 2, one(_log_sum)),
    "hypot": Operation("jnp.sqrt({0} * {0} + {1} * {1})", "map", 2, one(_hypot)),
    "where": Operation(
        "jnp.where({0} > {c0}, {1}, {2})", "map", 3, one(lambda t, yes, no, c: _where(t, c, yes, no)), 1
    ),
    "where32": Operation(
        "jnp.where(({0}).astype(jnp.float32) > {c0}, {1}, {2})", "map", 3,
        one(lambda t, yes, no, c: _where(replace(_narrow(t), narrowed=t.narrowed), c, yes, no)), 1,
    ),
    "sum": Operation("jnp.sum({0})", "reduce", 1, whole(total)),
    "mean": Operation("jnp.mean({0})", "reduce", 1, whole(lambda v: divide(total(v), constant(len(v))))),
    "prod": Operation("jnp.prod({0})", "reduce", 1, whole(_product)),
    "max": Operation("jnp.max({0})", "reduce", 1, whole(lambda v: _fold(v, larger))),
    "min": Operation("jnp.min({0})", "reduce", 1, whole(lambda v: _fold(v, smaller))),
    "logsumexp": Operation("jax.nn.logsumexp({0})", "reduce", 1, whole(lambda v: _log_sum(*v))),
    "norm": Operation(
        "jnp.sqrt(jnp.sum({0} * {0}))", "reduce", 1, whole(lambda v: _root(total([multiply(a, a) for a in v])))
    ),
    "item": Operation("{0}[{i0} % {0}.size]", "reduce", 1, whole(lambda v, k: v[int(k) % len(v)]), 1),
    "dot": Operation(
        "jnp.dot({0}, {1})", "reduce", 2, whole(lambda a, b: total([multiply(*p) for p in zip(a, b, strict=True)]))
    ),
    "scan": Operation(
        "jax.lax.scan(lambda c, w: ({c0} * c + w, None), jnp.zeros(()), {0})[0]", "reduce", 1,
        whole(lambda v, decay: _scan(v, decay, lambda c: c)), 1,
    ),
    "scan_tanh": Operation(
        "jax.lax.scan(lambda c, w: (jnp.tanh({c0} * c + w), None), jnp.zeros(()), {0})[0]", "reduce", 1,
        whole(lambda v, decay: _scan(v, decay, SMOOTH["tanh"])), 1,
    ),
    "sort": Operation("jnp.sort({0})", "vector", 1, whole(_sorted)),
    "cumsum": Operation("jnp.cumsum({0})", "vector", 1, whole(lambda v: _running(v, add))),
    "softmax": Operation("jax.nn.softmax({0})", "vector", 1, whole(_softmax)),
    "spread": Operation(
        "{0} * jnp.arange(1, {i0}) / 64", "spread", 1,
        whole(lambda v, stop: [scaled(k / 64, v[0]) for k in range(1, int(stop))]), 1,
    ),
    "pair": Operation("jnp.stack([{0}, {1}])", "stack", 2, whole(lambda a, b: [*a, *b])),
    "triple": Operation("jnp.stack([{0}, {1}, {2}])", "stack", 3, whole(lambda a, b, c: [*a, *b, *c])),
    "loop": Operation(
        "jax.lax.fori_loop(0, {i1}, lambda i, c: c + {c0} * jnp.sin(c), {0})", "map", 1,
        one(lambda a, k, n: _repeat(a, n, lambda c: add(c, scaled(k, SMOOTH["sin"](c))))), 2,
    ),
    "loop_newton": Operation(
        "jax.lax.fori_loop(0, {i0}, lambda i, c: 0.5 * (c + {0} / c), {0})", "map", 1, one(_newton), 1
    ),
    "loop_logistic": Operation(
        "jax.lax.fori_loop(0, {i1}, lambda i, c: {c0} * c * (1 - c), {0})", "map", 1,
        one(lambda a, k, n: _repeat(a, n, lambda c: multiply(scaled(k, c), subtract(constant(1.0), c)))), 2,
    ),
}  # fmt: skip
"""Element-wise, reducing and shaping primitives by name."""
