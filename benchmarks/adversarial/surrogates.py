"""Declared surrogates: right rules and sabotaged ones, with parts of very different size among them.

Truth: the declared derivative is written beside each; a wrong rule is off by the factor, bound or side in its name.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient as held
from sabotage import with_jvp, with_vjp

from gradhook import normal, surrogate, uniform

U = (uniform(6, low=-3, high=3),)
PAIR = (uniform(3, low=-3, high=3), uniform(3, low=-3, high=3))


def identity(x):
    return x


def floor_half(x):
    return jnp.floor(x + 0.5)


def sign(x):
    return jnp.where(x >= 0, 1.0, -1.0).astype(x.dtype)


def hard_tanh(x):
    return jnp.clip(x, -1.0, 1.0)


def spike(v):
    return (v > 0).astype(v.dtype)


def triangle(v):
    return jnp.maximum(0.0, 1 - jnp.abs(v))


def fast(p, t):
    return t[0] / (1 + 10 * jnp.abs(p[0])) ** 2


def tent(p, t):
    return t[0] * triangle(p[0])


def straight(p, t):
    return t[0]


def where_jvp(f, region):
    """``f`` with a derivative of 1 where ``region``, else 0."""
    return with_jvp(f, lambda p, t: t[0] * region(p[0]).astype(p[0].dtype))


def clipped_round(x):
    return jnp.clip(jnp.round(x), -2, 2)


# Straight-through rounding.
p_round_jvp = surrogate(forward=jnp.round, derivative_of=identity, args=U)(with_jvp(jnp.round, straight))
p_round_vjp = surrogate(forward=jnp.round, derivative_of=identity, args=U)(with_vjp(jnp.round, lambda r, ct: (ct,)))
f_round_1e6 = surrogate(forward=jnp.round, derivative_of=identity, args=U)(
    with_vjp(jnp.round, lambda r, ct: (ct * (1 + 1e-6),))
)
f_round_1e9 = surrogate(forward=jnp.round, derivative_of=identity, args=U)(
    with_vjp(jnp.round, lambda r, ct: (ct * (1 + 1e-9),))
)
f_round_1e11 = surrogate(forward=jnp.round, derivative_of=identity, args=U)(
    with_vjp(jnp.round, lambda r, ct: (ct * (1 + 1e-11),))
)
p_floor = surrogate(forward=jnp.floor, derivative_of=identity, args=U)(with_jvp(jnp.floor, straight))
f_floor_by_ceil = surrogate(forward=jnp.floor, derivative_of=identity, args=U)(
    with_jvp(lambda x: jnp.ceil(x) - 1, straight)
)
f_round_half_up = surrogate(forward=jnp.round, derivative_of=identity, args=U)(with_jvp(floor_half, straight))
p_ties_even = surrogate(forward=jnp.round, derivative_of=identity, ties="even", args=U)(with_jvp(jnp.round, straight))
f_ties_up = surrogate(derivative_of=identity, ties="up", args=U)(with_jvp(jnp.round, straight))
p_ties_up = surrogate(derivative_of=identity, ties="up", args=U)(with_jvp(floor_half, straight))

# Sign with the slope of a clipped line.
p_sign_closed = surrogate(forward=sign, derivative_of=hard_tanh, bounds="closed", args=U)(
    where_jvp(sign, lambda x: jnp.abs(x) <= 1)
)
p_sign_open = surrogate(forward=sign, derivative_of=hard_tanh, bounds="open", args=U)(
    where_jvp(sign, lambda x: jnp.abs(x) < 1)
)
f_sign_closed_for_open = surrogate(forward=sign, derivative_of=hard_tanh, bounds="open", args=U)(
    where_jvp(sign, lambda x: jnp.abs(x) <= 1)
)
f_sign_open_for_closed = surrogate(forward=sign, derivative_of=hard_tanh, bounds="closed", args=U)(
    where_jvp(sign, lambda x: jnp.abs(x) < 1)
)
f_sign_half_on_bound = surrogate(forward=sign, derivative_of=hard_tanh, bounds="closed", args=U)(
    with_jvp(sign, lambda p, t: t[0] * jnp.where(p[0] == 1, 0.5, (jnp.abs(p[0]) <= 1).astype(p[0].dtype)))
)
f_sign_bound_1e3 = surrogate(forward=sign, derivative_of=hard_tanh, args=U)(
    where_jvp(sign, lambda x: jnp.abs(x) <= 1.001)
)
f_sign_bound_1e9 = surrogate(forward=sign, derivative_of=hard_tanh, bounds="closed", args=U)(
    where_jvp(sign, lambda x: jnp.abs(x) <= 1 + 1e-9)
)
f_sign_at_0 = surrogate(forward=sign, derivative_of=hard_tanh, bounds="closed", args=U)(
    where_jvp(jnp.sign, lambda x: jnp.abs(x) <= 1)
)

# Saturation.
f_beyond = surrogate(forward=clipped_round, derivative_of=lambda x: jnp.clip(x, -2.0, 2.0), args=U)(
    with_jvp(clipped_round, straight)
)
p_clipped = surrogate(forward=clipped_round, derivative_of=lambda x: jnp.clip(x, -2.0, 2.0), args=U)(
    where_jvp(clipped_round, lambda x: jnp.abs(x) <= 2)
)
f_far = surrogate(forward=jnp.round, derivative_of=identity, args=(normal(4),))(
    where_jvp(jnp.round, lambda x: jnp.abs(x) < 500)
)
f_far_inside = surrogate(forward=jnp.round, derivative_of=identity, args=U)(
    where_jvp(jnp.round, lambda x: jnp.abs(x) < 2.9)
)

# Spikes.
p_fast = surrogate(forward=spike, rule=fast, args=U)(with_jvp(spike, fast))
f_fast_1e6 = surrogate(forward=spike, rule=fast, args=U)(
    with_jvp(spike, lambda p, t: t[0] / (1 + 10.00001 * jnp.abs(p[0])) ** 2)
)
p_arctan = surrogate(forward=spike, derivative_of=lambda v: jnp.arctan(jnp.pi * v) / jnp.pi, args=U)(
    with_jvp(spike, lambda p, t: t[0] / (1 + (jnp.pi * p[0]) ** 2))
)
p_tent = surrogate(forward=spike, rule=tent, args=U)(with_jvp(spike, tent))
f_spike_on_0 = surrogate(forward=spike, rule=tent, args=U)(with_jvp(lambda v: (v >= 0).astype(v.dtype), tent))
f_not_linear = surrogate(forward=spike, rule=straight, args=U)(
    with_jvp(spike, lambda p, t: jnp.clip(t[0], -100.0, 100.0))
)

# Reversal and clipping of gradients.
p_reversal = surrogate(forward=identity, derivative_of=lambda x: -0.3 * x, args=U)(
    with_vjp(lambda x: x, lambda r, ct: (-0.3 * ct,))
)
f_reversal_sign = surrogate(forward=identity, derivative_of=lambda x: -0.3 * x, args=U)(
    with_vjp(lambda x: x, lambda r, ct: (0.3 * ct,))
)
f_clipped_gradient = surrogate(forward=identity, derivative_of=identity, args=U)(
    with_vjp(lambda x: x, lambda r, ct: (jnp.clip(ct, -1e3, 1e3),))
)
f_clipped_norm = surrogate(forward=identity, derivative_of=identity, args=U)(
    with_vjp(lambda x: x, lambda r, ct: (ct / jnp.maximum(1.0, jnp.linalg.norm(ct) / 50.0),))
)


# Second order.
def bump(v):
    return jax.nn.sigmoid(v) * jax.nn.sigmoid(-v)


def smooth(p, t):
    return bump(p[0]) * t[0]


p_order2_of = surrogate(forward=spike, derivative_of=jax.nn.sigmoid, order2="of the surrogate", args=U)(
    with_jvp(spike, smooth)
)
f_order2_not_zero = surrogate(forward=spike, derivative_of=jax.nn.sigmoid, order2="zero", args=U)(
    with_jvp(spike, smooth)
)
p_order2_zero = surrogate(forward=spike, derivative_of=jax.nn.sigmoid, order2="zero", args=U)(
    with_jvp(spike, lambda p, t: held(bump(p[0])) * t[0])
)
f_order2_lost = surrogate(forward=spike, derivative_of=jax.nn.sigmoid, order2="of the surrogate", args=U)(
    with_jvp(spike, lambda p, t: held(bump(p[0])) * t[0])
)


def through_host(x):
    """The same, by a callback that JAX cannot differentiate."""
    return jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential")


p_order2_error = surrogate(forward=jnp.round, derivative_of=identity, order2="error", args=U)(
    with_vjp(jnp.round, lambda r, ct: (through_host(ct + 0.0 * r[0]),))
)


# Parts of very different size: two outputs, then one output of two parts.
HUNDRED = (uniform(100, low=-3, high=3), uniform(100, low=-3, high=3))


def rounded(big, small):
    return lambda a, b: (big * jnp.round(a), small * jnp.round(b))


def lines(big, small):
    return lambda a, b: (big * a, small * b)


def parts(big, small, factor=1.0):
    """``rounded`` with the derivative of ``lines``, off by ``factor`` in the second part."""
    return with_jvp(rounded(big, small), lambda p, t: (big * t[0], factor * small * t[1]))


def scales(x, big, small):
    """``big`` for the first half of the elements, ``small`` for the second."""
    return jnp.where(jnp.arange(x.size) < x.size // 2, big, small).astype(x.dtype)


def joint_rounded(big, small):
    return lambda x: jnp.round(x) * scales(x, big, small)


def joint_lines(big, small):
    return lambda x: x * scales(x, big, small)


def joint(big, small, factor=1.0):
    """``joint_rounded`` with the derivative of ``joint_lines``, off by ``factor`` in the second half."""
    return with_jvp(joint_rounded(big, small), lambda p, t: t[0] * scales(p[0], big, factor * small))


f_parts_1e8_1e6_twice = surrogate(forward=rounded(1e8, 1e-6), derivative_of=lines(1e8, 1e-6), args=PAIR)(
    parts(1e8, 1e-6, 2.0)
)
f_parts_1e7_1_5e6 = surrogate(forward=rounded(1e7, 1.0), derivative_of=lines(1e7, 1.0), args=PAIR)(
    parts(1e7, 1.0, 1 + 5e-6)
)
f_parts_1e3_1e3_5e7 = surrogate(forward=rounded(1e3, 1e-3), derivative_of=lines(1e3, 1e-3), args=HUNDRED)(
    parts(1e3, 1e-3, 1 + 5e-7)
)
f_parts_1e8_1e6_lost = surrogate(forward=rounded(1e8, 1e-6), derivative_of=lines(1e8, 1e-6), args=PAIR)(
    parts(1e8, 1e-6, 0.0)
)
f_parts_1e4_1e4_1e5 = surrogate(forward=rounded(1e4, 1e-4), derivative_of=lines(1e4, 1e-4), args=PAIR)(
    parts(1e4, 1e-4, 1 + 1e-5)
)
f_parts_1_1e12_twice = surrogate(forward=rounded(1.0, 1e-12), derivative_of=lines(1.0, 1e-12), args=PAIR)(
    parts(1.0, 1e-12, 2.0)
)
f_parts_1_1e14_sign = surrogate(forward=rounded(1.0, 1e-14), derivative_of=lines(1.0, 1e-14), args=PAIR)(
    parts(1.0, 1e-14, -1.0)
)
f_parts_1_1_1e9 = surrogate(forward=rounded(1.0, 1.0), derivative_of=lines(1.0, 1.0), args=PAIR)(
    parts(1.0, 1.0, 1 + 1e-9)
)
f_parts_many_twice = surrogate(forward=rounded(1e8, 1e-6), derivative_of=lines(1e8, 1e-6), args=HUNDRED)(
    parts(1e8, 1e-6, 2.0)
)
p_parts_1e8_1e6 = surrogate(forward=rounded(1e8, 1e-6), derivative_of=lines(1e8, 1e-6), args=PAIR)(parts(1e8, 1e-6))
p_parts_1_1e12 = surrogate(forward=rounded(1.0, 1e-12), derivative_of=lines(1.0, 1e-12), args=PAIR)(parts(1.0, 1e-12))
p_parts_many = surrogate(forward=rounded(1e3, 1e-3), derivative_of=lines(1e3, 1e-3), args=HUNDRED)(parts(1e3, 1e-3))
f_joint_10_twice = surrogate(
    forward=joint_rounded(1e8, 1e-6), derivative_of=joint_lines(1e8, 1e-6), args=(uniform(10, low=-3, high=3),)
)(joint(1e8, 1e-6, 2.0))
f_joint_100_twice = surrogate(
    forward=joint_rounded(1e8, 1e-6), derivative_of=joint_lines(1e8, 1e-6), args=(uniform(100, low=-3, high=3),)
)(joint(1e8, 1e-6, 2.0))
f_joint_100_1e5 = surrogate(
    forward=joint_rounded(1e6, 1.0), derivative_of=joint_lines(1e6, 1.0), args=(uniform(100, low=-3, high=3),)
)(joint(1e6, 1.0, 1 + 1e-5))
f_joint_100_lost = surrogate(
    forward=joint_rounded(1.0, 1e-12), derivative_of=joint_lines(1.0, 1e-12), args=(uniform(100, low=-3, high=3),)
)(joint(1.0, 1e-12, 0.0))
p_joint_100 = surrogate(
    forward=joint_rounded(1e8, 1e-6), derivative_of=joint_lines(1e8, 1e-6), args=(uniform(100, low=-3, high=3),)
)(joint(1e8, 1e-6))
