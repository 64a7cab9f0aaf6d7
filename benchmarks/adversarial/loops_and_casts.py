"""Loops that stop at a tolerance, loops and casts beside what they have nothing to do with, and casts of data.

Truth: an implicit rule differentiates the equation that the loop solves; a wrong one multiplies that. A stop at 1e-3
leaves that much open, so an error below one per cent may be undecided (fu) where it goes through the loop only.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.sparse.linalg import cg
from sabotage import with_jvp, wrong

from gradhook import gradcheck, uniform


def newton(a, stop):
    """The square root of ``a``, from ``a``; the loop ends when the square is within ``stop``."""
    start = (a, jnp.abs(a * a - a) + 1.0)
    step = lambda s: (0.5 * (s[0] + a / s[0]), jnp.abs(s[0] * s[0] - a))  # noqa: E731
    return lax.while_loop(lambda s: s[1] > stop, step, start)[0]


def fixed_point(a, stop):
    """The x with x = cos(a * x), by iteration, which converges slowly."""
    step = lambda s: (jnp.cos(a * s[0]), jnp.abs(jnp.cos(a * s[0]) - s[0]))  # noqa: E731
    return lax.while_loop(lambda s: s[1] > stop, step, (jnp.ones_like(a), jnp.ones_like(a)))[0]


def root(stop, factor=1.0):
    """``newton`` with its implicit rule; truth: 1/(2*sqrt(a))."""
    return with_jvp(lambda a: newton(a, stop), lambda p, t: factor * 0.5 / jnp.sqrt(p[0]) * t[0])


def cosine(stop, factor=1.0):
    """``fixed_point`` with its implicit rule; truth: -x*sin(a*x)/(1 + a*sin(a*x))."""

    def rule(p, t):
        x = fixed_point(p[0], 1e-15)
        slope = -x * jnp.sin(p[0] * x) / (1 + p[0] * jnp.sin(p[0] * x))
        return factor * slope * t[0]

    return with_jvp(lambda a: fixed_point(a, stop), rule)


def cubic(stop, factor=1.0):
    """The x with x**3 + x = a by Newton's method; truth: 1/(3*x*x + 1)."""

    def solve(a):
        def step(s):
            d = (s[0] ** 3 + s[0] - a) / (3 * s[0] ** 2 + 1)
            return s[0] - d, d

        return lax.while_loop(lambda s: jnp.abs(s[1]) > stop, step, (jnp.ones_like(a), jnp.ones_like(a)))[0]

    return with_jvp(solve, lambda p, t: factor * t[0] / (3 * solve(p[0]) ** 2 + 1))


# Right implicit rules.
pu_newton_1e3 = gradcheck(args=(2.0,))(root(1e-3))
pu_newton_1e6 = gradcheck(args=(2.0,))(root(1e-6))
pu_newton_1e9 = gradcheck(args=(2.0,))(root(1e-9))
p_newton_1e12 = gradcheck(args=(2.0,))(root(1e-12))
p_newton_1e14 = gradcheck(args=(3.0,))(root(1e-14))
pu_cosine_1e3 = gradcheck(args=(0.7,))(cosine(1e-3))
pu_cosine_1e6 = gradcheck(args=(0.7,))(cosine(1e-6))
pu_cosine_1e9 = gradcheck(args=(0.7,))(cosine(1e-9))
pu_cosine_1e12 = gradcheck(args=(0.7,))(cosine(1e-12))
pu_cosine_1e14 = gradcheck(args=(0.7,))(cosine(1e-14))
pu_cubic_1e3 = gradcheck(args=(3.0,))(cubic(1e-3))
pu_cubic_1e6 = gradcheck(args=(3.0,))(cubic(1e-6))
pu_cubic_1e12 = gradcheck(args=(3.0,))(cubic(1e-12))

# Wrong implicit rules: by more than one per cent, and below.
f_newton_1e3_half = gradcheck(args=(2.0,))(root(1e-3, 0.5))
f_newton_1e6_2percent = gradcheck(args=(2.0,))(root(1e-6, 1.02))
f_newton_1e12_2percent = gradcheck(args=(2.0,))(root(1e-12, 1.02))
fu_newton_1e12_1e3 = gradcheck(args=(2.0,))(root(1e-12, 1.001))
fu_newton_1e12_1e5 = gradcheck(args=(2.0,))(root(1e-12, 1 + 1e-5))
f_cosine_1e3_sign = gradcheck(args=(0.7,))(cosine(1e-3, -1.0))
f_cosine_1e6_2percent = gradcheck(args=(0.7,))(cosine(1e-6, 1.02))
f_cosine_1e14_2percent = gradcheck(args=(0.7,))(cosine(1e-14, 1.02))
fu_cosine_1e6_1e3 = gradcheck(args=(0.7,))(cosine(1e-6, 1.001))
fu_cosine_1e14_1e5 = gradcheck(args=(0.7,))(cosine(1e-14, 1 + 1e-5))
f_cubic_1e6_lost = gradcheck(args=(3.0,))(cubic(1e-6, 0.0))
fu_cubic_1e6_1e3 = gradcheck(args=(3.0,))(cubic(1e-6, 1.001))
fu_cubic_1e12_1e5 = gradcheck(args=(3.0,))(cubic(1e-12, 1 + 1e-5))

# Wrong by a thousandth, or by 1e-5, over loops that stop tightly: what the stop leaves open is far less.
f_newton_1e10_1e3 = gradcheck(args=(2.0,))(root(1e-10, 1.001))
f_newton_1e10_1e5 = gradcheck(args=(3.0,))(root(1e-10, 1 - 1e-5))
f_cosine_1e10_1e3 = gradcheck(args=(0.7,))(cosine(1e-10, 0.999))
f_cosine_1e10_1e5 = gradcheck(args=(0.7,))(cosine(1e-10, 1 + 1e-5))
f_cubic_1e10_1e3 = gradcheck(args=(3.0,))(cubic(1e-10, 1.001))
f_cubic_1e10_1e5 = gradcheck(args=(3.0,))(cubic(1e-10, 1 - 1e-5))
f_cosine_1e6_1e3_less = gradcheck(args=(0.7,))(cosine(1e-6, 0.999))


def relative(a, tolerance):
    """``newton`` with a stop relative to the argument; the tolerance is an operand of the condition."""
    start = (a, jnp.abs(a * a - a) + a)
    step = lambda s: (0.5 * (s[0] + a / s[0]), jnp.abs(s[0] * s[0] - a))  # noqa: E731
    return lax.while_loop(lambda s: s[1] > tolerance * jnp.abs(a), step, start)[0]


def small(stop, factor, scale=1.0):
    """The square root of a small multiple of ``a``, by a stop that is relative; truth: scale/(2*sqrt(scale*a))."""
    solve = jax.jit(relative)
    rule = lambda p, t: factor * 0.5 * scale / jnp.sqrt(scale * p[0]) * t[0]  # noqa: E731
    return with_jvp(lambda a: solve(scale * a, stop), rule)


p_relative_1e12 = gradcheck(args=(2.0,))(small(1e-12, 1.0))
pu_relative_1e10_small = gradcheck(args=(2.0,))(small(1e-10, 1.0, 1e-8))
f_relative_1e10_1e3 = gradcheck(args=(2.0,))(small(1e-10, 1.001))
f_relative_1e10_small_1e3 = gradcheck(args=(2.0,))(small(1e-10, 1.001, 1e-8))


def slow(stop, factor=1.0, times=1):
    """The x with x = 0.95*x + 0.05*cos(a*x), which takes hundreds of steps; truth as for ``cosine``."""

    def solve(a, stop):
        def step(s):
            x = 0.95 * s[0] + 0.05 * jnp.cos(a * s[0])
            return x, jnp.abs(x - s[0])

        return lax.while_loop(lambda s: s[1] > stop, step, (jnp.ones_like(a), jnp.ones_like(a)))[0]

    def rule(p, t):
        x = solve(p[0], 1e-15)
        return times * factor * -x * jnp.sin(p[0] * x) / (1 + p[0] * jnp.sin(p[0] * x)) * t[0]

    return with_jvp(lambda a: times * solve(a, stop), rule)


# A stop at 1e-4 leaves more than one per cent open, for convergence is slow: 40 times the last change and more.
pu_slow_1e3 = gradcheck(args=(0.7,))(slow(1e-3))
pu_slow_1e4 = gradcheck(args=(0.7,))(slow(1e-4))
pu_slow_1e7 = gradcheck(args=(0.7,))(slow(1e-7))
pu_slow_1e7_large = gradcheck(args=(0.7,))(slow(1e-7, times=1e6))
pu_slow_1e7_small = gradcheck(args=(0.7,))(slow(1e-7, times=1e-6))
f_slow_1e4_half = gradcheck(args=(0.7,))(slow(1e-4, 0.5))
f_slow_1e10_1e3 = gradcheck(args=(0.7,))(slow(1e-10, 1.001))
f_slow_1e10_1e3_large = gradcheck(args=(0.7,))(slow(1e-10, 1.001, times=1e6))


def gradients(tolerance, factor=1.0):
    """A linear system by conjugate gradients; truth: the solution of the same system with the tangent."""
    matrix = jnp.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]])
    solve = lambda b: cg(lambda v: matrix @ v, b, tol=tolerance)[0]  # noqa: E731
    return with_jvp(solve, lambda p, t: factor * jnp.linalg.solve(matrix, t[0]))


RIGHT_SIDE = np.array([1.0, 2.3, -0.7])
pu_gradients_1e2 = gradcheck(args=(RIGHT_SIDE,))(gradients(1e-2))
pu_gradients_1e10 = gradcheck(args=(RIGHT_SIDE,))(gradients(1e-10))
f_gradients_1e10_1e3 = gradcheck(args=(RIGHT_SIDE,))(gradients(1e-10, 1.001))


def each(stop, factor=1.0):
    """Several fixed points under ``vmap``: the loop runs until the last is done, and leaves alone what is."""
    solve = cosine(stop, factor)
    return lambda a: jnp.sum(jax.vmap(solve)(a))


SEVERAL = np.array([0.7, 0.2, 0.9])
pu_each_1e3 = gradcheck(args=(SEVERAL,))(each(1e-3))
pu_each_1e8 = gradcheck(args=(SEVERAL,))(each(1e-8))
f_each_1e10_1e3 = gradcheck(args=(SEVERAL,))(each(1e-10, 1.001))


def bisected(stop, factor=1.0):
    """The square root of ``a`` by halving an interval; truth: 1/(2*sqrt(a))."""

    def step(a, s):
        middle = 0.5 * (s[0] + s[1])
        low = middle * middle < a
        return jnp.where(low, middle, s[0]), jnp.where(low, s[1], middle)

    def solve(a):
        start = (jnp.zeros_like(a), a + 1.0)
        low, high = lax.while_loop(lambda s: s[1] - s[0] > stop, lambda s: step(a, s), start)
        return 0.5 * (low + high)

    return with_jvp(solve, lambda p, t: factor * 0.5 / jnp.sqrt(p[0]) * t[0])


pu_bisected_1e3 = gradcheck(args=(2.0,))(bisected(1e-3))
pu_bisected_1e10 = gradcheck(args=(2.0,))(bisected(1e-10))
f_bisected_1e14_lost = gradcheck(args=(2.0,))(bisected(1e-14, 0.0))

# The rule itself solves by a loop that stops sooner than that of the function: right to 1e-6, or off by 2 per cent.
loose = with_jvp(lambda a: newton(a, 1e-14), lambda p, t: 0.5 * newton(1 / p[0], 1e-6) * t[0])
pu_loose_rule = gradcheck(args=(2.0,))(loose)
f_loose_rule_2percent = gradcheck(args=(2.0,))(
    with_jvp(lambda a: newton(a, 1e-14), lambda p, t: 0.51 * newton(1 / p[0], 1e-6) * t[0])
)

# A loop beside an argument or an output that has nothing to do with it.
beside = with_jvp(lambda a, b: newton(a, 1e-12) + 1e-3 * b, lambda p, t: t[0] * 0.5 / jnp.sqrt(p[0]) + 0 * t[1])
f_beside_small_lost = gradcheck(args=(2.0, 1.0))(beside)
f_beside_sin_3e3 = gradcheck(args=(2.0, 1.0))(lambda a, b: root(1e-12)(a) + wrong(jnp.sin, 0, 1.003)(b))
f_beside_squares_lost = gradcheck(args=(2.0, 1.0))(
    lambda a, y: 1e3 * root(1e-12)(a) + wrong(lambda y: y * y, 0, 0.0)(y)
)
p_beside_sin = gradcheck(args=(2.0, 1.0))(lambda a, b: root(1e-12)(a) + jnp.sin(b))


def counted():
    """Four halvings, counted in floating point."""
    return lax.while_loop(lambda s: s[0] < 3.5, lambda s: (s[0] + 1.0, s[1] * 0.5), (0.0, 1.0))[1]


def counted_by_int():
    """The same, counted in integers."""
    return lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * 0.5), (0, 1.0))[1]


@gradcheck(args=(0.7,))
def f_counter_3e3(x):
    return wrong(jnp.sin, 0, 1.003)(x) + lax.stop_gradient(counted())


@gradcheck(args=(0.7,))
def f_counter_1e2(x):
    return wrong(jnp.sin, 0, 1.01)(x) + lax.stop_gradient(counted())


@gradcheck(args=(0.7,))
def f_int_counter_3e3(x):
    return wrong(jnp.sin, 0, 1.003)(x) + lax.stop_gradient(counted_by_int())


@gradcheck(args=(0.7,))
def f_fori_3e3(x):
    return wrong(jnp.sin, 0, 1.003)(x) + lax.stop_gradient(lax.fori_loop(0, 4, lambda i, s: s * 0.5, 1.0))


@gradcheck(args=(0.7, 1.0))
def f_counter_other_output(x, y):
    count = lax.while_loop(lambda s: s < 3.5, lambda s: s + 1.0, 0.0)
    return wrong(jnp.sin, 0, 1.004)(x), y * count


@gradcheck(args=(0.7, 1.0))
def p_counter_other_output(x, y):
    count = lax.while_loop(lambda s: s < 3.5, lambda s: s + 1.0, 0.0)
    return jnp.sin(x), y * count


@gradcheck(args=(1.1,))
def p_fori_product(x):
    return lax.fori_loop(0, 10, lambda i, s: s * jnp.sin(x) + x, x)


@gradcheck(args=(1.1,))
def p_scan_sum(x):
    return lax.scan(lambda c, k: (c * 0.5 + jnp.sin(k * x), None), 0.0, jnp.arange(5.0))[0]


f_scan_1e5 = gradcheck(args=(1.1,))(
    lambda x: lax.scan(lambda c, k: (c * 0.5 + wrong(jnp.sin, 0, 1 + 1e-5)(k * x), None), 0.0, jnp.arange(5.0))[0]
)


# Casts that feed a comparison only.
@gradcheck(args=(0.7,))
def f_mask_1e4(x):
    return wrong(jnp.sin, 0, 1.0001)(x) * jnp.where(x.astype(jnp.float32) > 0, 1.0, 2.0)


@gradcheck(args=(0.7,))
def f_mask_bf16_1e6(x):
    return wrong(jnp.sin, 0, 1 + 1e-6)(x) * jnp.where(x.astype(jnp.bfloat16) > 0, 1.0, 2.0)


@gradcheck(args=(0.7,))
def f_mask_argmax_1e6(x):
    scores = jnp.stack([x, 2 * x]).astype(jnp.float32)
    return wrong(jnp.sin, 0, 1 + 1e-6)(x) * (1.0 + jnp.argmax(scores))


@gradcheck(args=(0.7,))
def p_mask(x):
    return jnp.sin(x) * jnp.where(x.astype(jnp.float32) > 0, 1.0, 2.0)


@gradcheck(args=(1e-4,))
def p_mask_cancels(x):
    return (1 - jnp.cos(x)) * jnp.where(x.astype(jnp.float32) > 0, 1.0, 2.0)


# Casts of data.
@gradcheck(args=(0.7,))
def fu_cast_other_output(x):
    return wrong(jnp.sin, 0, 1.0001)(x), jnp.sum(x.astype(jnp.float32)).astype(jnp.float64)


@gradcheck(args=(uniform(3, low=0.5, high=1.5),))
def f_cast_2percent(x):
    return wrong(lambda x: jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype), 0, 1.02)(x)


@gradcheck(args=(uniform(3, low=0.5, high=1.5),))
def fu_cast_1e5(x):
    return wrong(lambda x: jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype), 0, 1 + 1e-5)(x)


@gradcheck(args=(uniform(3, low=0.5, high=1.5),))
def pu_cast(x):
    return jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype)


@gradcheck(args=(np.array([0.7, 0.9]), 1.3))
def f_cast_beside_1e5(x, y):
    return jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype), wrong(jnp.sin, 0, 1 + 1e-5)(y)


@gradcheck(args=(np.array([0.7, 0.9]), 1.3))
def fu_cast_added_1e5(x, y):
    return jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype) + wrong(jnp.sin, 0, 1 + 1e-5)(y)
