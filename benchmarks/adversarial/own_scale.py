"""Small derivatives beside large values and large derivatives: each element is judged on its own scale.

Truth: every function is a sum of terms ``scale * elementary(argument)``, so the derivative by an argument is that of
its term; the sabotaged ones multiply it by the last factor. All are analytic: a complex step resolves them.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from sabotage import wrong

from gradhook import gradcheck, normal


def line(big, small):
    """A sum whose derivatives are ``big`` and ``small`` everywhere."""
    return lambda x, y: big * x + small * y


def wave(big, small, by=None):
    """The same with ``small * sin(y)``, whose rule is off by the factor ``by``."""

    def part(y):
        return small * jnp.sin(y)

    inner = part if by is None else wrong(part, 0, by)
    return lambda x, y: big * x + inner(y)


# One of two derivatives is lost or off, both are those of one output.
f_1e10_1e4_lost = gradcheck(args=(1.0, 1.0))(wrong(line(1e10, 1e-4), 1, 0.0))
f_1e10_1e3_lost = gradcheck(args=(1.0, 1.0))(wrong(line(1e10, 1e-3), 1, 0.0))
f_1e6_1e9_lost = gradcheck(args=(1.0, 1.0))(wrong(line(1e6, 1e-9), 1, 0.0))
f_1e6_5e8_lost = gradcheck(args=(1.0, 1.0))(wrong(line(1e6, 5e-8), 1, 0.0))
f_1e3_1e12_sign = gradcheck(args=(1.0, 1.0))(wrong(line(1e3, 1e-12), 1, -1.0))
f_1e6_1e8_half = gradcheck(args=(1.0, 1.0))(wrong(line(1e6, 1e-8), 1, 0.5))
f_1e6_1e6_percent = gradcheck(args=(1.0, 1.0))(wrong(line(1e6, 1e-6), 1, 1.01))
f_1e6_1e3_1e5 = gradcheck(args=(1.0, 1.0))(wrong(line(1e6, 1e-3), 1, 1 + 1e-5))
f_offset_1e6 = gradcheck(args=(1.0,))(wrong(lambda x: 1e6 + x * x, 0, 1 + 1e-8))
f_offset_1e3 = gradcheck(args=(1.0,))(wrong(lambda x: 1e3 + 1e-3 * x * x, 0, 1 + 1e-7))

# The wrong rule is inside, the rest is plain.
f_inner_1e6_1e2 = gradcheck(args=(1.0, 1.0))(wave(1e6, 1e-2, 1 + 1e-6))
f_inner_1e3_1e6 = gradcheck(args=(1.0, 1.0))(wave(1e3, 1e-6, 1 + 1e-5))
f_inner_1_1e10 = gradcheck(args=(1.0, 1.0))(wave(1.0, 1e-10, 1 + 1e-4))
f_inner_at_zero = gradcheck(args=(0.0, 0.0))(wave(1e6, 1e-3, 1 + 1e-6))
f_inner_own_output = gradcheck(args=(1.0, 1.0))(
    lambda x, y: (1e6 * x, wrong(lambda y: 1e-3 * jnp.sin(y), 0, 1 + 1e-6)(y))
)


@gradcheck(args=(2.0, 3.0))
def fu_forgotten_term(a, b):
    """Truth by b: 6e-6, claimed 0."""
    return jnp.sum((1e3 * a * jnp.linspace(0.0, 1.0, 1000) + 20.0) ** 2) + 1e-6 * jax.lax.stop_gradient(b) ** 2


@gradcheck(args=(normal(3),))
def f_forgotten_small(x):
    """Truth has 1e-7 in each element besides."""
    return jnp.sum(x**2) + 1e-7 * jax.lax.stop_gradient(jnp.sum(x))


# Ratios from 1e-3 to 1e-300 of the derivatives, lost, sign, half, one per cent, 1e-5, and right.
f_ratio_1e3_1e5 = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-3), 1, 1 + 1e-5))
f_ratio_1e6_1e5 = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-6), 1, 1 + 1e-5))
f_ratio_1e9_1e5 = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-9), 1, 1 + 1e-5))
f_ratio_1e12_1e5 = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-12), 1, 1 + 1e-5))
f_ratio_1e14_half = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-14), 1, 0.5))
f_ratio_1e16_sign = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-16), 1, -1.0))
f_ratio_1e17_percent = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-17), 1, 1.01))
f_ratio_1e20_lost = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-20), 1, 0.0))
f_ratio_1e50_lost = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-50), 1, 0.0))
f_ratio_1e100_sign = gradcheck(args=(0.7, 0.9))(wrong(wave(1.0, 1e-100), 1, -1.0))
f_ratio_1e200_half = gradcheck(args=(0.7, 0.9))(wrong(wave(1e100, 1e-100), 1, 0.5))
f_ratio_1e200_lost = gradcheck(args=(0.7, 0.9))(wrong(wave(1e100, 1e-100), 1, 0.0))
f_ratio_1e300_lost = gradcheck(args=(0.7, 0.9))(wrong(wave(1e150, 1e-150), 1, 0.0))
p_ratio_1e3 = gradcheck(args=(0.7, 0.9))(wave(1.0, 1e-3))
p_ratio_1e6 = gradcheck(args=(0.7, 0.9))(wave(1.0, 1e-6))
p_ratio_1e9 = gradcheck(args=(0.7, 0.9))(wave(1.0, 1e-9))
p_ratio_1e12 = gradcheck(args=(0.7, 0.9))(wave(1.0, 1e-12))
p_ratio_1e17 = gradcheck(args=(0.7, 0.9))(wave(1.0, 1e-17))
p_ratio_1e50 = gradcheck(args=(0.7, 0.9))(wave(1.0, 1e-50))
p_ratio_1e200 = gradcheck(args=(0.7, 0.9))(wave(1e100, 1e-100))
p_1e10_1e4 = gradcheck(args=(1.0, 1.0))(line(1e10, 1e-4))
p_1e6_1e9 = gradcheck(args=(1.0, 1.0))(line(1e6, 1e-9))

# The whole function is tiny or huge: nothing is beside it.
f_tiny_1e300 = gradcheck(args=(0.7,))(wrong(lambda x: 1e-300 * jnp.sin(x), 0, 1 + 1e-5))
f_tiny_1e200 = gradcheck(args=(0.7,))(wrong(lambda x: 1e-200 * jnp.sin(x), 0, 1 + 1e-6))
f_huge_1e300 = gradcheck(args=(0.7,))(wrong(lambda x: 1e300 * jnp.sin(x), 0, 1 + 1e-6))
f_tiny_point = gradcheck(args=(1e-200,))(wrong(lambda x: jnp.sin(x), 0, 1 + 1e-6))
f_tiny_point_log = gradcheck(args=(1e-250,))(wrong(lambda x: jnp.log(x), 0, 1 + 1e-6))
f_huge_point = gradcheck(args=(1e200,))(wrong(lambda x: 3.0 * x, 0, 1 + 1e-6))
f_huge_point_sqrt = gradcheck(args=(1e280,))(wrong(lambda x: jnp.sqrt(x), 0, 1 + 1e-6))
p_tiny_1e300 = gradcheck(args=(0.7,))(lambda x: 1e-300 * jnp.sin(x))
p_tiny_1e200 = gradcheck(args=(0.7,))(lambda x: 1e-200 * jnp.sin(x))
p_huge_1e300 = gradcheck(args=(0.7,))(lambda x: 1e300 * jnp.sin(x))
p_tiny_point = gradcheck(args=(1e-200,))(lambda x: jnp.sin(x))
p_huge_point = gradcheck(args=(1e200,))(lambda x: 3.0 * x)
p_huge_point_sqrt = gradcheck(args=(1e280,))(lambda x: jnp.sqrt(x))

# Arguments of very different units.
f_units_lost = gradcheck(args=(6.4e6, 1.6e-19))(wrong(lambda r, q: 1e-3 * r + 2.0 * q, 1, 0.0))
f_units_1e5 = gradcheck(args=(6.4e6, 1.6e-19))(wrong(lambda r, q: 1e-3 * r + 2.0 * q, 1, 1 + 1e-5))
f_units_product = gradcheck(args=(1e-30, 1e30))(wrong(lambda x, y: x * y, 0, 1 + 1e-6))
f_units_product_y = gradcheck(args=(1e-30, 1e30))(wrong(lambda x, y: x * y, 1, 1 + 1e-6))
p_units = gradcheck(args=(6.4e6, 1.6e-19))(lambda r, q: 1e-3 * r + 2.0 * q)
p_units_product = gradcheck(args=(1e-30, 1e30))(lambda x, y: x * y)
p_units_ratio = gradcheck(args=(1e-40, 1e40))(lambda x, y: x / y)

# One array, elements of which are weighted over 24 orders of magnitude; the rule is off in the smallest.
WEIGHTS = np.array([1e12, 1e6, 1.0, 1e-6, 1e-12])
f_weights_last_lost = gradcheck(args=(np.full(5, 0.7),))(
    wrong(lambda x: jnp.sum(WEIGHTS * jnp.sin(x)), 0, np.array([1.0, 1.0, 1.0, 1.0, 0.0]))
)
f_weights_last_1e5 = gradcheck(args=(np.full(5, 0.7),))(
    wrong(lambda x: jnp.sum(WEIGHTS * jnp.sin(x)), 0, np.array([1.0, 1.0, 1.0, 1.0, 1 + 1e-5]))
)
f_weights_middle_sign = gradcheck(args=(np.full(5, 0.7),))(
    wrong(lambda x: jnp.sum(WEIGHTS * jnp.sin(x)), 0, np.array([1.0, 1.0, 1.0, -1.0, 1.0]))
)
f_weights_own_outputs = gradcheck(args=(np.full(5, 0.7),))(
    wrong(lambda x: WEIGHTS * jnp.sin(x), 0, np.array([1.0, 1.0, 1.0, 1.0, 1 + 1e-6]))
)
p_weights = gradcheck(args=(np.full(5, 0.7),))(lambda x: jnp.sum(WEIGHTS * jnp.sin(x)))
p_weights_own_outputs = gradcheck(args=(np.full(5, 0.7),))(lambda x: WEIGHTS * jnp.sin(x))
