"""Second derivatives: small entries of a Hessian beside large gradients, lost or right.

Truth: closed forms in each line. ``lost`` hides a part of the first derivative from the second differentiation.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient as held
from sabotage import with_jvp

from gradhook import gradcheck, normal


def square(big, small, factor=0.0):
    """big*x + small*x*x/2; truth of the second derivative: ``small``, the rule gives ``factor`` of it."""
    return with_jvp(
        lambda x: big * x + 0.5 * small * x * x,
        lambda p, t: (big + small * (factor * p[0] + held((1 - factor) * p[0]))) * t[0],
    )


def product(big, small):
    """big*x + small*sin(x*y), of whose Hessian the rule gives nothing."""

    def rule(p, t):
        slope = held(small * jnp.cos(p[0] * p[1]))
        return (big + slope * held(p[1])) * t[0] + slope * held(p[0]) * t[1]

    return with_jvp(lambda x, y: big * x + small * jnp.sin(x * y), rule)


def mixed(big, small, factor):
    """big*x + small*sin(x)*y; the rule gives the mixed entry small*cos(x) times ``factor`` one way."""

    def rule(p, t):
        x, y = p
        return (big + small * jnp.cos(x) * (factor * y + held((1 - factor) * y))) * t[0] + small * jnp.sin(x) * t[1]

    return with_jvp(lambda x, y: big * x + small * jnp.sin(x) * y, rule)


f_1e6_1e4_lost = gradcheck(args=(1.0,), order=2)(square(1e6, 1e-4))
f_1e6_1e4_half = gradcheck(args=(1.0,), order=2)(square(1e6, 1e-4, 0.5))
f_1e3_1e6_lost = gradcheck(args=(1.0,), order=2)(square(1e3, 1e-6))
f_1_1e10_lost = gradcheck(args=(1.0,), order=2)(square(1.0, 1e-10))
f_1_1e12_sign = gradcheck(args=(1.0,), order=2)(square(1.0, 1e-12, -1.0))
f_1_1_lost = gradcheck(args=(1.0,), order=2)(square(1.0, 1.0))
f_1_1_1e5 = gradcheck(args=(1.0,), order=2)(square(1.0, 1.0, 1 + 1e-5))
f_1_1e3_percent = gradcheck(args=(1.0,), order=2)(square(1.0, 1e-3, 1.01))
f_1e10_1_percent = gradcheck(args=(1.0,), order=2)(square(1e10, 1.0, 1.01))
f_1e100_1e80_lost = gradcheck(args=(1.0,), order=2)(square(1e100, 1e80))
p_1e6_1e4 = gradcheck(args=(1.0,), order=2)(square(1e6, 1e-4, 1.0))
p_1e3_1e6 = gradcheck(args=(1.0,), order=2)(square(1e3, 1e-6, 1.0))
p_1_1e12 = gradcheck(args=(1.0,), order=2)(square(1.0, 1e-12, 1.0))
p_1_1 = gradcheck(args=(1.0,), order=2)(square(1.0, 1.0, 1.0))
p_1e100_1e80 = gradcheck(args=(1.0,), order=2)(square(1e100, 1e80, 1.0))

f_product_1e3_1e8 = gradcheck(args=(0.7, 0.9), order=2)(product(1e3, 1e-8))
f_product_1_1e3 = gradcheck(args=(0.7, 0.9), order=2)(product(1.0, 1e-3))
f_product_1_1e11 = gradcheck(args=(0.7, 0.9), order=2)(product(1.0, 1e-11))
f_mixed_1e4_1e6_lost = gradcheck(args=(0.7, 0.9), order=2)(mixed(1e4, 1e-6, 0.0))
f_mixed_1_1_1e5 = gradcheck(args=(0.7, 0.9), order=2)(mixed(1.0, 1.0, 1 + 1e-5))
f_mixed_1_1e6_half = gradcheck(args=(0.7, 0.9), order=2)(mixed(1.0, 1e-6, 0.5))
p_product_1e3_1e8 = gradcheck(args=(0.7, 0.9), order=2)(lambda x, y: 1e3 * x + 1e-8 * jnp.sin(x * y))
p_product_1_1e11 = gradcheck(args=(0.7, 0.9), order=2)(lambda x, y: x + 1e-11 * jnp.sin(x * y))
p_mixed_1e4_1e6 = gradcheck(args=(0.7, 0.9), order=2)(lambda x, y: 1e4 * x + 1e-6 * jnp.sin(x) * y)

# Entries of one Hessian over twelve orders of magnitude.
DIAGONAL = np.array([1e6, 1.0, 1e-6])
lost_last = with_jvp(
    lambda x: jnp.sum(DIAGONAL * x * x), lambda p, t: jnp.vdot(2 * DIAGONAL * p[0].at[2].set(held(p[0][2])), t[0])
)
f_diagonal_last_lost = gradcheck(args=(np.array([0.7, 0.9, 1.1]),), order=2)(lost_last)
p_diagonal = gradcheck(args=(np.array([0.7, 0.9, 1.1]),), order=2)(lambda x: jnp.sum(DIAGONAL * x * x))
p_diagonal_sin = gradcheck(args=(np.array([0.7, 0.9, 1.1]),), order=2)(lambda x: jnp.sum(DIAGONAL * jnp.sin(x)))
p_coupled = gradcheck(args=(np.array([0.7, 0.9, 1.1]),), order=2)(lambda x: x[0] * x[1] + 1e-9 * x[1] * x[2])
f_two_outputs_lost = gradcheck(args=(0.7, 0.9), order=2)(lambda x, y: (1e6 * x * x, square(0.0, 1e-6)(y)))
p_two_outputs = gradcheck(args=(0.7, 0.9), order=2)(lambda x, y: (1e6 * x * x, 1e-6 * y * y))
p_linear = gradcheck(args=(0.7, 0.9), order=2)(lambda x, y: 1e6 * x - 3e-6 * y)
p_cube_of_bend = gradcheck(args=(0.3, 1.0), order=2)(lambda x, y: jnp.abs(x) ** 3 * y)
p_sinc = gradcheck(args=(0.3,), order=2)(lambda x: jnp.sinc(x))
p_softplus = gradcheck(args=(normal(3),), order=2)(lambda x: jnp.sum(jax.nn.softplus(x)))
f_relu_squared = gradcheck(args=(0.7,), order=2)(
    with_jvp(lambda x: jax.nn.relu(x) ** 2, lambda p, t: 2 * jax.nn.relu(held(p[0])) * t[0])
)
p_relu_squared = gradcheck(args=(0.7,), order=2)(lambda x: jax.nn.relu(x) ** 2)
