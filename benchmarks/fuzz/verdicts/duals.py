"""Numbers of 60 digits with their first derivatives, and what stands in the way of a derivative.

Forward mode by hand (Griewank and Walther, Evaluating Derivatives, chapter 3), with a running first-order bound of the
rounding that the same operation in float64 adds (Higham, Accuracy and Stability of Numerical Algorithms, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import mpmath as mp

DIGITS = 60
UNIT = 2.0**-52
SMALLEST, LARGEST = mp.mpf("1e-280"), mp.mpf("1e280")
"""Beyond these float64 underflows or overflows somewhere on the way, and nothing can be said about its derivatives."""
Inputs = frozenset[int]
NONE: Inputs = frozenset()


class Outside(ArithmeticError):
    """An argument is outside the domain of an operation."""


@dataclass(frozen=True)
class Dual:
    """A value ``v`` and its derivative ``d`` by each input that it depends on.

    ``error`` bounds the rounding of the value in float64. ``near`` is how far each input may move, alone and to first
    order, until a kink or jump is met. ``kinked`` are the inputs along which the slopes of both sides may differ;
    ``torn`` those along which the value jumps or has an infinite slope; ``vague`` those of which float64 cannot say on
    which side of a boundary it is; ``narrowed`` those that went through float32.
    """

    v: Any
    d: dict[int, Any] = field(default_factory=dict)
    error: float = 0.0
    near: dict[int, float] = field(default_factory=dict)
    kinked: Inputs = NONE
    torn: Inputs = NONE
    vague: Inputs = NONE
    narrowed: Inputs = NONE


def constant(value: float) -> Dual:
    """A number that depends on no input."""
    return Dual(mp.mpf(value))


def variable(value: float, number: int) -> Dual:
    """One input."""
    return Dual(mp.mpf(value), {number: mp.mpf(1)})


def chain(value: Any, parts: Iterable[tuple[Any, Dual]], rounding: float = 1.0) -> Dual:
    """A smooth function of duals, from its value and its partial derivatives; it rounds to ``rounding`` units."""
    value = mp.mpf(value)
    if not mp.isfinite(value):
        raise Outside
    slopes: dict[int, Any] = {}
    error, near = rounding * UNIT * float(abs(value)), {}
    kinked, torn, vague, narrowed = NONE, NONE, NONE, NONE
    for partial, dual in parts:
        for k, slope in dual.d.items():
            slopes[k] = slopes.get(k, 0) + partial * slope
        error += float(abs(partial)) * dual.error
        near = nearest(near, dual.near)
        kinked |= dual.kinked if partial else NONE
        torn, vague, narrowed = torn | dual.torn, vague | dual.vague, narrowed | dual.narrowed
    if value and not SMALLEST < abs(value) < LARGEST:
        vague |= frozenset(slopes)
    return Dual(value, slopes, error, near, kinked, torn, vague, narrowed)


def nearest(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    """The smaller distance for each input."""
    return {**one, **{k: min(d, one.get(k, d)) for k, d in other.items()}}


def beside(gap: Dual, chosen: Dual, other: Dual) -> Dual:
    """``chosen``, on this side of a boundary where ``gap`` is 0 and behind which is ``other``."""
    ahead = {k: float(abs(gap.v / slope)) for k, slope in gap.d.items() if slope}
    near = nearest(nearest(chosen.near, gap.near), ahead)
    found = replace(chosen, near=near, torn=chosen.torn | gap.torn, vague=chosen.vague | gap.vague)
    inputs = frozenset(ahead) | frozenset(chosen.d) | frozenset(other.d)
    if gap.error and abs(gap.v) <= 4 * gap.error:
        return replace(found, vague=found.vague | inputs)
    if gap.v:
        return found
    if chosen.v != other.v:
        return replace(found, torn=found.torn | frozenset(ahead))
    both = chosen.kinked | other.kinked
    bent = {k for k in inputs if chosen.d.get(k, 0) != other.d.get(k, 0) and (k in ahead or k in gap.kinked)}
    return replace(found, kinked=both | bent, torn=found.torn | other.torn, vague=found.vague | other.vague)


def singular(distance: Any, a: Dual, found: Dual) -> Dual:
    """``found``, a function of ``a`` with a singularity so far away: vague where rounding may reach it."""
    return replace(found, vague=found.vague | frozenset(a.d)) if 4 * a.error > abs(distance) else found


def torn_at(dual: Dual) -> Dual:
    """The value 0 with an infinite slope there."""
    return replace(dual, torn=dual.torn | frozenset(dual.d))


def add(a: Dual, b: Dual) -> Dual:
    """a + b."""
    return chain(a.v + b.v, [(1, a), (1, b)])


def subtract(a: Dual, b: Dual, rounding: float = 1.0) -> Dual:
    """a - b; without rounding where it stands for the comparison of a and b."""
    return chain(a.v - b.v, [(1, a), (-1, b)], rounding)


def multiply(a: Dual, b: Dual) -> Dual:
    """a b."""
    return chain(a.v * b.v, [(b.v, a), (a.v, b)])


def divide(a: Dual, b: Dual) -> Dual:
    """a / b."""
    if not b.v:
        raise Outside
    return singular(b.v, b, chain(a.v / b.v, [(1 / b.v, a), (-a.v / b.v**2, b)]))


def scaled(factor: float, a: Dual) -> Dual:
    """A float times a."""
    return chain(mp.mpf(factor) * a.v, [(mp.mpf(factor), a)])


def shifted(a: Dual, offset: float) -> Dual:
    """A plus a float."""
    return chain(a.v + mp.mpf(offset), [(1, a)])


def larger(a: Dual, b: Dual) -> Dual:
    """max(a, b)."""
    gap = subtract(a, b, 0.0)
    return beside(gap, a, b) if gap.v >= 0 else beside(gap, b, a)


def smaller(a: Dual, b: Dual) -> Dual:
    """min(a, b)."""
    gap = subtract(a, b, 0.0)
    return beside(gap, b, a) if gap.v >= 0 else beside(gap, a, b)


def total(duals: list[Dual]) -> Dual:
    """The sum of many, which rounds like the sum of their magnitudes."""
    value = mp.fsum(a.v for a in duals)
    size = sum(float(abs(a.v)) for a in duals)
    found = chain(value, [(1, a) for a in duals], 0.0)
    return replace(found, error=found.error + UNIT * size)
