"""Values made by cancellation, of which differences see rounding only; the derivatives that JAX gives are right.

Truth is noted as a closed form. Where differences cannot tell, undecided is right, both for the right derivative (pu)
and for a sabotaged one (fu); where large steps or a complex step settle the matter, more is asked (p, f).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from sabotage import wrong

from gradhook import gradcheck

R = 6.4e6


def softplus(x):
    """Truth of the derivative: 1/(1 + exp(-x))."""
    return jnp.log(1 + jnp.exp(x))


def cross_entropy(z):
    """Truth: sigmoid(z)."""
    return -jnp.log(1 - jax.nn.sigmoid(z))


def root(a, b, c):
    """The small root of a quadratic; truth by c: -1/sqrt(b*b - 4*a*c)."""
    return (-b + jnp.sqrt(b * b - 4 * a * c)) / (2 * a)


def sagitta(r, d):
    """Truth by d: d/sqrt(r*r + d*d)."""
    return jnp.sqrt(r * r + d * d) - r


def lorentz(v):
    """Truth: v/(1 - v*v)**1.5."""
    return 1 / jnp.sqrt(1 - v * v) - 1


def logsumexp(x):
    """Truth: softmax(x)."""
    return jnp.log(jnp.sum(jnp.exp(x)))


def tail(x):
    """Truth: -exp(-x*x/2)/sqrt(2*pi)."""
    return 1 - jsp.stats.norm.cdf(x)


def square_of_gap(a, b):
    """Truth: 2*(a - b), 2*(b - a); the points make the products exact."""
    return a * a + b * b - 2 * a * b


# Naive softplus.
pu_softplus_20 = gradcheck(args=(-20.0,))(softplus)
pu_softplus_25 = gradcheck(args=(-25.0,))(softplus)
pu_softplus_30 = gradcheck(args=(-30.0,))(softplus)
pu_softplus_32 = gradcheck(args=(-32.0,))(softplus)
pu_softplus_33 = gradcheck(args=(-33.0,))(softplus)
pu_softplus_34 = gradcheck(args=(-34.0,))(softplus)
pu_softplus_35 = gradcheck(args=(-35.0,))(softplus)
pu_softplus_36 = gradcheck(args=(-36.0,))(softplus)
pu_softplus_38 = gradcheck(args=(-38.0,))(softplus)
fu_softplus_20_percent = gradcheck(args=(-20.0,))(wrong(softplus, 0, 1.01))
fu_softplus_32_lost = gradcheck(args=(-32.0,))(wrong(softplus, 0, 0.0))
fu_softplus_34_lost = gradcheck(args=(-34.0,))(wrong(softplus, 0, 0.0))
fu_softplus_36_lost = gradcheck(args=(-36.0,))(wrong(softplus, 0, 0.0))
fu_softplus_38_lost = gradcheck(args=(-38.0,))(wrong(softplus, 0, 0.0))
fu_softplus_34_sign = gradcheck(args=(-34.0,))(wrong(softplus, 0, -1.0))
p_softplus_5 = gradcheck(args=(-5.0,))(softplus)
p_softplus_stable = gradcheck(args=(-34.0,))(lambda x: jnp.log1p(jnp.exp(x)))
f_softplus_stable_1e5 = gradcheck(args=(-34.0,))(wrong(lambda x: jnp.log1p(jnp.exp(x)), 0, 1 + 1e-5))

# Naive binary cross entropy.
pu_entropy_20 = gradcheck(args=(-20.0,))(cross_entropy)
pu_entropy_34 = gradcheck(args=(-34.0,))(cross_entropy)
fu_entropy_34_lost = gradcheck(args=(-34.0,))(wrong(cross_entropy, 0, 0.0))
fu_entropy_beside = gradcheck(args=(np.array([-34.0, 0.5, 1.0]),))(
    lambda z: jnp.stack([wrong(cross_entropy, 0, 0.0)(z[0]), z[1], z[2]])
)
pu_entropy_beside = gradcheck(args=(np.array([-34.0, 0.5, 1.0]),))(
    lambda z: jnp.stack([cross_entropy(z[0]), z[1], z[2]])
)

# Small root of a quadratic.
p_root_1e3 = gradcheck(args=(1.0, 1e3, 1.0), wrt=2)(root)
p_root_1e4 = gradcheck(args=(1.0, 1e4, 1.0), wrt=2)(root)
pu_root_1e5 = gradcheck(args=(1.0, 1e5, 1.0), wrt=2)(root)
pu_root_1e6 = gradcheck(args=(1.0, 1e6, 1.0), wrt=2)(root)
pu_root_3e6 = gradcheck(args=(1.0, 3e6, 1.0), wrt=2)(root)
pu_root_1e7 = gradcheck(args=(1.0, 1e7, 1.0), wrt=2)(root)
pu_root_1e8 = gradcheck(args=(1.0, 1e8, 1.0), wrt=2)(root)
fu_root_1e8_by_a = gradcheck(args=(1.0, 1e8, 1.0), wrt=0)(root)  # truth -1e-24, JAX itself gives -2.5e-9
fu_root_1e6_lost = gradcheck(args=(1.0, 1.0))(wrong(lambda c, y: ((-1e6 + jnp.sqrt(1e12 - 4 * c)) / 2, y), 0, 0.0))
fu_root_1e8_lost = gradcheck(args=(1.0, 1.0))(wrong(lambda c, y: ((-1e8 + jnp.sqrt(1e16 - 4 * c)) / 2, y), 0, 0.0))
f_root_1e3_1e5 = gradcheck(args=(1.0,))(wrong(lambda c: (-1e3 + jnp.sqrt(1e6 - 4 * c)) / 2, 0, 1 + 1e-5))
f_root_stable_1e6 = gradcheck(args=(1.0,))(wrong(lambda c: -2 * c / (1e6 + jnp.sqrt(1e12 - 4 * c)), 0, 1 + 1e-6))

# Tails: 1 - cdf, 1 - erf.
pu_tail_7 = gradcheck(args=(7.0,))(tail)
pu_tail_8 = gradcheck(args=(8.0,))(tail)
fu_tail_8_lost = gradcheck(args=(8.0,))(wrong(tail, 0, 0.0))
pu_erf_4 = gradcheck(args=(4.0,))(lambda x: 1 - jsp.special.erf(x))
pu_erf_58 = gradcheck(args=(5.8,))(lambda x: 1 - jsp.special.erf(x))
fu_erf_58_lost = gradcheck(args=(5.8,))(wrong(lambda x: 1 - jsp.special.erf(x), 0, 0.0))
fu_erf_58_sign = gradcheck(args=(5.8,))(wrong(lambda x: 1 - jsp.special.erf(x), 0, -1.0))
p_erfc_58 = gradcheck(args=(5.8,))(lambda x: jsp.special.erfc(x))
f_erfc_58_1e5 = gradcheck(args=(5.8,))(wrong(lambda x: jsp.special.erfc(x), 0, 1 + 1e-5))

# Sagitta and the like.
pu_sagitta_1 = gradcheck(args=(R, 1.0), wrt=1)(sagitta)
pu_sagitta_10 = gradcheck(args=(R, 10.0), wrt=1)(sagitta)
pu_sagitta_100 = gradcheck(args=(R, 100.0), wrt=1)(sagitta)
fu_sagitta_lost = gradcheck(args=(1.0, 1.0))(wrong(lambda d, y: (jnp.sqrt(R * R + d * d) - R, y), 0, 0.0))
fu_sagitta_100_half = gradcheck(args=(100.0,))(wrong(lambda d: jnp.sqrt(R * R + d * d) - R, 0, 0.5))
f_sagitta_stable_1e6 = gradcheck(args=(1.0,))(wrong(lambda d: d * d / (jnp.sqrt(R * R + d * d) + R), 0, 1 + 1e-6))
p_sagitta_stable = gradcheck(args=(1.0,))(lambda d: d * d / (jnp.sqrt(R * R + d * d) + R))
pu_sqrt_gap = gradcheck(args=(1e4,))(lambda x: jnp.sqrt(x + 1) - jnp.sqrt(x))

# Small arguments: exp - 1, 1 - cos, cosh - 1, sinh - x, log(1 + x), and their quotients.
p_exp_1e8 = gradcheck(args=(1e-8,))(lambda x: jnp.exp(x) - 1)
p_exp_1e12 = gradcheck(args=(1e-12,))(lambda x: jnp.exp(x) - 1)
p_exp_1e14 = gradcheck(args=(1e-14,))(lambda x: jnp.exp(x) - 1)
f_exp_1e8_lost = gradcheck(args=(1e-8,))(wrong(lambda x: jnp.exp(x) - 1, 0, 0.0))
f_exp_1e12_1e5 = gradcheck(args=(1e-12,))(wrong(lambda x: jnp.exp(x) - 1, 0, 1 + 1e-5))
f_exp_1e14_sign = gradcheck(args=(1e-14,))(wrong(lambda x: jnp.exp(x) - 1, 0, -1.0))
p_log_at_0 = gradcheck(args=(0.0,))(lambda x: jnp.log(1 + x))
p_log_1e12 = gradcheck(args=(1e-12,))(lambda x: jnp.log(1 + x))
f_log_at_0_1e5 = gradcheck(args=(0.0,))(wrong(lambda x: jnp.log(1 + x), 0, 1 + 1e-5))
p_cos_1e4 = gradcheck(args=(1e-4,))(lambda x: 1 - jnp.cos(x))
pu_cos_1e4_times = gradcheck(args=(1e-4, 1.0))(lambda x, y: y * (1 - jnp.cos(x)))
fu_cos_1e4_times_lost = gradcheck(args=(1e-4, 1.0))(wrong(lambda x, y: y * (1 - jnp.cos(x)), 1, 0.0))
f_cos_1e4_1e5 = gradcheck(args=(1e-4,))(wrong(lambda x: 1 - jnp.cos(x), 0, 1 + 1e-5))
pu_cos_1e8 = gradcheck(args=(1e-8,))(lambda x: 1 - jnp.cos(x))
fu_cos_1e8_lost = gradcheck(args=(1e-8,))(wrong(lambda x: 1 - jnp.cos(x), 0, 0.0))
p_cosh_1e4 = gradcheck(args=(1e-4,))(lambda x: jnp.cosh(x) - 1)
f_cosh_1e4_percent = gradcheck(args=(1e-4,))(wrong(lambda x: jnp.cosh(x) - 1, 0, 1.01))
pu_sinh_1e2 = gradcheck(args=(2.0**-6,))(lambda x: jnp.sinh(x) - x)
fu_sinh_1e4_lost = gradcheck(args=(2.0**-13,))(wrong(lambda x: jnp.sinh(x) - x, 0, 0.0))
fu_sinh_1e4_half = gradcheck(args=(2.0**-13,))(wrong(lambda x: jnp.sinh(x) - x, 0, 0.5))
p_expm1_ratio = gradcheck(args=(1e-6,))(lambda x: jnp.expm1(x) / 3.0)
fu_cos_ratio = gradcheck(args=(1e-5,))(lambda x: (1 - jnp.cos(x)) / x**2)  # truth -8.3e-7, JAX is off by roundoff
fu_exp_ratio = gradcheck(args=(1e-6,))(lambda x: (jnp.exp(x) - 1 - x) / x**2)  # truth 1/6, JAX gives 76
fu_log_ratio = gradcheck(args=(1e-9,))(lambda x: jnp.log(1 + x) / x)  # truth -0.5, JAX gives -83
fu_exp_ratio_1e7 = gradcheck(args=(1e-7,))(lambda x: (jnp.exp(x) - 1) / x)  # truth 0.5 + x/3, JAX is off by 1e-2

# Others.
p_gap_1e4 = gradcheck(args=(1.0 + 2.0**-13, 1.0))(square_of_gap)
pu_gap_1e8 = gradcheck(args=(1.0 + 2.0**-26, 1.0))(square_of_gap)
fu_gap_1e8_lost = gradcheck(args=(1.0 + 2.0**-26, 1.0))(wrong(square_of_gap, 0, 0.0))
f_gap_1e4_percent = gradcheck(args=(1.0 + 2.0**-13, 1.0))(wrong(square_of_gap, 0, 1.01))
p_lorentz_1e5 = gradcheck(args=(1e-5,))(lorentz)
pu_lorentz_1e7 = gradcheck(args=(1e-7,))(lorentz)
fu_lorentz_1e7_lost = gradcheck(args=(1e-7,))(wrong(lorentz, 0, 0.0))
p_logsumexp = gradcheck(args=(np.array([1e-3, -2e-3, 5e-4]),))(lambda x: logsumexp(x) - jnp.log(3.0))
f_logsumexp_half = gradcheck(args=(np.array([1e-3, -2e-3, 5e-4]),))(
    wrong(lambda x: logsumexp(x) - jnp.log(3.0), 0, 0.5)
)
pu_logsumexp_spread = gradcheck(args=(np.array([0.0, -30.0, -36.0]),))(logsumexp)
fu_logsumexp_spread_lost = gradcheck(args=(np.array([0.0, -30.0, -36.0]),))(
    wrong(logsumexp, 0, np.array([1.0, 1.0, 0.0]))
)
pu_logsumexp_700 = gradcheck(args=(np.array([700.0, 660.0]),))(logsumexp)
pu_variance_1e6 = gradcheck(args=(np.array([0.0, 1.0, 3.0, 4.0]) + 2.0**20,))(
    lambda x: jnp.mean(x**2) - jnp.mean(x) ** 2
)
fu_variance_1e6_sign = gradcheck(args=(np.array([0.0, 1.0, 3.0, 4.0]) + 2.0**20,))(
    wrong(lambda x: jnp.mean(x**2) - jnp.mean(x) ** 2, 0, -1.0)
)
fu_variance_1e8_sign = gradcheck(args=(np.array([0.0, 1.0, 3.0, 4.0]) + 2.0**27,))(
    wrong(lambda x: jnp.mean(x**2) - jnp.mean(x) ** 2, 0, -1.0)
)
f_variance_stable_1e5 = gradcheck(args=(np.array([0.0, 1.0, 3.0, 4.0]) + 2.0**20,))(
    wrong(lambda x: jnp.mean((x - jnp.mean(x)) ** 2), 0, 1 + 1e-5)
)
fu_saturated_33 = gradcheck(args=(33.0,))(lambda x: jax.nn.sigmoid(x))  # JAX is off by 9e-4: 1 - sigmoid
fu_saturated_20 = gradcheck(args=(20.0,))(lambda x: jax.nn.sigmoid(x))  # JAX is off by 4e-8
fu_saturated_33_sign = gradcheck(args=(33.0,))(wrong(lambda x: jax.nn.sigmoid(x), 0, -1.0))
fu_saturated_40_large = gradcheck(args=(40.0,))(wrong(lambda x: jax.nn.sigmoid(x), 0, 1e9))
fu_tanh_15 = gradcheck(args=(15.0,))(lambda x: jnp.tanh(x) - 1)  # JAX is off by 4e-4: 1 - tanh**2
fu_tanh_15_sign = gradcheck(args=(15.0,))(wrong(lambda x: jnp.tanh(x), 0, -1.0))
pu_horner = gradcheck(args=(1.125,))(lambda x: jnp.polyval(jnp.array([1.0, -7, 21, -35, 35, -21, 7, -1]), x))
fu_horner_lost = gradcheck(args=(1.0 + 2.0**-6,))(
    wrong(lambda x: jnp.polyval(jnp.array([1.0, -7, 21, -35, 35, -21, 7, -1]), x), 0, 0.0)
)  # truth 7 * 2**-36
pu_determinant = gradcheck(args=(1.0 + 2.0**-20,))(lambda a: a * (1.0 - 2.0**-20) - 1.0)
f_determinant_lost = gradcheck(args=(1.0 + 2.0**-20,))(wrong(lambda a: a * (1.0 - 2.0**-20) - 1.0, 0, 0.0))


def heron(c):
    """Area of a needle with sides 1, 1, c; truth by c: (2 - c*c)/(2*sqrt(4 - c*c))."""
    s = (2 + c) / 2
    return jnp.sqrt(s * (s - 1) * (s - 1) * (s - c))


def angle(t):
    """The angle between (1, 0) and (1, t) by its cosine; truth: 1/(1 + t*t)."""
    return jnp.arccos(1 / jnp.sqrt(1 + t * t))


def alternating(x):
    """exp(-x) by sixty terms of its series; truth: -exp(-x), while the largest term is of size 1e4 at 12."""

    def step(k, state):
        term = -state[1] * x / (k + 1.0)
        return state[0] + term, term

    return lax.fori_loop(0, 60, step, (jnp.ones_like(x), jnp.ones_like(x)))[0]


p_heron = gradcheck(args=(2.0**-20,))(heron)
f_heron_1e5 = gradcheck(args=(2.0**-20,))(wrong(heron, 0, 1 + 1e-5))
pu_angle_1e3 = gradcheck(args=(2.0**-3,))(angle)
fu_angle_1e3_half = gradcheck(args=(2.0**-10,))(wrong(angle, 0, 0.5))
fu_angle_1e7_lost = gradcheck(args=(2.0**-24,))(wrong(angle, 0, 0.0))
p_alternating_2 = gradcheck(args=(2.0,))(alternating)
fu_alternating_12_half = gradcheck(args=(12.0,))(wrong(alternating, 0, 0.5))
f_alternating_2_1e5 = gradcheck(args=(2.0,))(wrong(alternating, 0, 1 + 1e-5))
