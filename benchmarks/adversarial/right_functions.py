"""Right derivatives of plain code at far, steep, tiny and saturated points; what JAX itself gets wrong is named fu.

Truth: elementary and special functions of one line, whose derivative JAX gives to the last digits; exceptions noted.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

from gradhook import gradcheck, normal, positive, uniform

# Far, tiny and steep.
p_exp_700 = gradcheck(args=(700.0,))(lambda x: jnp.exp(x))
p_times_1e300 = gradcheck(args=(1e300,))(lambda x: x * 1e-5)
p_times_1em300 = gradcheck(args=(1e-300,))(lambda x: x * 3.0)
p_log_1em300 = gradcheck(args=(1e-300,))(lambda x: jnp.log(x))
p_square_1e150 = gradcheck(args=(1e150,))(lambda x: x * x)
p_reciprocal_1em150 = gradcheck(args=(1e-150,))(lambda x: 1 / x)
p_exp_minus_700 = gradcheck(args=(-700.0,))(lambda x: jnp.exp(x))
p_power_1e100 = gradcheck(args=(1e100,))(lambda x: x**0.5 * 1e-50)
pu_sqrt_1em20 = gradcheck(args=(1e-20,))(lambda x: jnp.sqrt(x))
pu_sqrt_1em300 = gradcheck(args=(1e-300,))(lambda x: jnp.sqrt(x))
pu_cbrt_1em12 = gradcheck(args=(1e-12,))(lambda x: jnp.cbrt(x))
pu_logit_edge = gradcheck(args=(uniform(4, low=0, high=1e-9),))(lambda x: jnp.sum(jnp.log(x) - jnp.log1p(-x)))
pu_arccos_edge = gradcheck(args=(1 - 1e-12,))(lambda x: jnp.arccos(x))
pu_arctanh_edge = gradcheck(args=(1 - 1e-10,))(lambda x: jnp.arctanh(x))
pu_tan_pole = gradcheck(args=(1.5707963,))(lambda x: jnp.tan(x))
pu_pole = gradcheck(args=(1e-9,))(lambda x: 1 / (x - 1e-8))
pu_pole_at_1 = gradcheck(args=(1.0,))(lambda x: 1 / (x - 1.0 - 1e-9))

# Ripples and oscillation; beyond 1e12 the argument itself is rounded by more than the claim may be off.
pu_sin_1e6 = gradcheck(args=(1.3,))(lambda x: jnp.sin(1e6 * x))
fu_sin_1e12 = gradcheck(args=(1.3,))(lambda x: jnp.sin(1e12 * x))
fu_sin_1e13 = gradcheck(args=(1.3,))(lambda x: jnp.sin(1e13 * x))
fu_sin_1e15 = gradcheck(args=(1.3,))(lambda x: jnp.sin(1e15 * x))
pu_sin_at_1e10 = gradcheck(args=(1e10,))(lambda x: jnp.sin(x))
pu_sin_at_1e12 = gradcheck(args=(1e12,))(lambda x: jnp.sin(x))
pu_sin_at_1e13 = gradcheck(args=(1e13,))(lambda x: jnp.sin(x))
pu_sin_at_1e14 = gradcheck(args=(1e14,))(lambda x: jnp.sin(x))
pu_sin_at_1e16 = gradcheck(args=(1e16,))(lambda x: jnp.sin(x))
pu_ripple_1e8 = gradcheck(args=(1.0,))(lambda x: x + 1e-8 * jnp.sin(1e8 * x))
pu_ripple_1e6 = gradcheck(args=(1.3,))(lambda x: x + 1e-12 * jnp.sin(1e6 * x))
pu_ripple_1e9 = gradcheck(args=(1.3,))(lambda x: x + 1e-13 * jnp.sin(1e9 * x))
pu_ripple_at_0 = gradcheck(args=(0.0,))(lambda x: x + 1e-18 * jnp.sin(1e12 * x))
pu_ripple_1e10 = gradcheck(args=(1.0,))(lambda x: x + 1e-15 * jnp.sin(1e10 * x))
pu_ripple_1e10_3 = gradcheck(args=(1.0,))(lambda x: x + 3e-15 * jnp.sin(1e10 * x))
pu_ripple_1e13 = gradcheck(args=(1.0,))(lambda x: x + 1e-15 * jnp.sin(1e13 * x))
pu_chirp = gradcheck(args=(0.01,))(lambda x: x**2 * jnp.sin(1 / x))
fu_logistic_map = gradcheck(args=(0.3,))(lambda x: lax.fori_loop(0, 100, lambda i, s: 4 * s * (1 - s), x))
p_logistic_map_5 = gradcheck(args=(0.3,))(lambda x: lax.fori_loop(0, 5, lambda i, s: 3.5 * s * (1 - s), x))

# Smooth but narrow, and kinks of higher order.
p_bump = gradcheck(args=(0.3,))(lambda x: jnp.exp(-1 / x**2))
pu_bump_004 = gradcheck(args=(0.04,))(lambda x: jnp.exp(-1 / x**2))
pu_bump_006 = gradcheck(args=(0.06,))(lambda x: 1.0 + jnp.exp(-1 / x**2))
p_x_abs_x = gradcheck(args=(normal(3),))(lambda x: jnp.sum(x * jnp.abs(x)))
pu_x_abs_x_at_0 = gradcheck(args=(0.0, 1.0))(lambda x, y: x * jnp.abs(x) + y)
p_abs_cubed_at_0 = gradcheck(args=(0.0, 1.0))(lambda x, y: jnp.abs(x) ** 3 + y)
pu_abs_1em9 = gradcheck(args=(1e-9,))(lambda x: jnp.abs(x))
pu_abs_shifted = gradcheck(args=(1.0,))(lambda x: jnp.abs(x - 1 - 1e-9))
pu_abs_lifted = gradcheck(args=(1.0,))(lambda x: 5 + jnp.abs(x - 1 - 1e-12))
pu_soft_abs_at_0 = gradcheck(args=(0.0,))(lambda x: jnp.sqrt(x * x + 1e-16))
pu_soft_abs_1em8 = gradcheck(args=(1e-8,))(lambda x: jnp.sqrt(x * x + 1e-16))
pu_soft_abs_shifted = gradcheck(args=(1.0,))(lambda x: jnp.sqrt((x - 1 - 1e-8) ** 2 + 1e-16))
pu_step_1em8 = gradcheck(args=(1.0,))(lambda x: jnp.tanh((x - 1) / 1e-8))
pu_step_1em12 = gradcheck(args=(1.0,))(lambda x: jnp.tanh((x - 1) / 1e-12))
pu_step_1em20 = gradcheck(args=(0.0,))(lambda x: x + 1e-20 * jnp.tanh(x / 1e-20))
pu_saturating_1em25 = gradcheck(args=(0.0, 1.0))(lambda x, y: y * x / (x + 1e-25))
pu_saturating_far = gradcheck(args=(positive(2),))(lambda x: jnp.sum(x / (x + 1e-25)))  # truth 1e-25: 0 to rounding
pu_mod = gradcheck(args=(5.3,))(lambda x: jnp.mod(x, 0.7) ** 2)
pu_mask_1e8 = gradcheck(args=(1.0,))(lambda x: (1e8 + jnp.sin(x)) * jnp.where(x.astype(jnp.float32) > 0, 1.0, 2.0))
pu_sqrt_offset = gradcheck(args=(1.0,))(lambda x: jnp.sqrt(1e16 + x) - 1e8)

# Sums of many, and logarithms of sums.
p_sum_1e6 = gradcheck(args=(normal(1_000_000),))(lambda x: jnp.sum(jnp.sin(x)))
p_logsumexp_spread = gradcheck(args=(np.array([-1000.0, 0.0, 500.0, 700.0]),))(lambda x: jsp.special.logsumexp(x))
p_logsumexp_far = gradcheck(args=(np.array([-1000.0, 0.0, 1e6, 1e6 + 1]),))(lambda x: jsp.special.logsumexp(x))
p_softmax_spread = gradcheck(args=(np.array([-1000.0, 0.0, 30.0, 31.0]),))(lambda x: jax.nn.softmax(x))

# Special functions.
p_gammaln_1e5 = gradcheck(args=(1e5,))(lambda x: jsp.special.gammaln(x))
p_gammaln_1em8 = gradcheck(args=(1e-8,))(lambda x: jsp.special.gammaln(x))
pu_gammaln_negative = gradcheck(args=(-2.5,))(lambda x: jsp.special.gammaln(x))
pu_digamma = gradcheck(args=(1e-3,))(lambda x: jsp.special.digamma(x))
p_i0e = gradcheck(args=(30.0,))(lambda x: jsp.special.i0e(x))
p_i1 = gradcheck(args=(0.5,))(lambda x: jsp.special.i1(x))
pu_bessel_jn = gradcheck(args=(2.5,))(lambda x: jsp.special.bessel_jn(x, v=3, n_iter=60)[2])
p_erfc_3 = gradcheck(args=(3.0,))(lambda x: jsp.special.erfc(x))
p_erfc_8 = gradcheck(args=(8.0,))(lambda x: jsp.special.erfc(x))
pu_betainc = gradcheck(args=(2.0, 3.0, 0.4), wrt=2)(lambda a, b, x: jsp.special.betainc(a, b, x))
pu_gammainc = gradcheck(args=(2.0, 1.5))(lambda a, x: jsp.special.gammainc(a, x))
p_ndtri = gradcheck(args=(0.01,))(lambda x: jsp.special.ndtri(x))
p_hyp2f1 = gradcheck(args=(0.3,))(lambda x: jsp.special.hyp2f1(1.0, 2.0, 3.0, x))
p_zeta = gradcheck(args=(1.5,))(lambda q: jsp.special.zeta(3.0, q))
p_xlogy_at_0 = gradcheck(args=(0.0, 2.0))(lambda x, y: jsp.special.xlogy(x, y))
pu_entr_at_0 = gradcheck(args=(0.0,))(lambda x: jsp.special.entr(x))
p_sigmoid_minus_40 = gradcheck(args=(-40.0,))(lambda x: jax.nn.sigmoid(x))
pu_log1mexp = gradcheck(args=(-1e-10,))(lambda x: jnp.log(-jnp.expm1(x)))
pu_logcosh = gradcheck(args=(700.0, 1.0))(lambda x, y: y * jnp.log(jnp.cosh(x)))
p_sinc_at_0 = gradcheck(args=(0.0, 1.0))(lambda x, y: jnp.sinc(x) + y)

# Powers.
p_power_0_2 = gradcheck(args=(0.0, 1.0))(lambda x, y: x**2.0 + y)
pu_power_0_15 = gradcheck(args=(0.0, 1.0))(lambda x, y: x**1.5 + y)
p_power_negative = gradcheck(args=(-1.7,))(lambda x: x**3)
p_power_exponent = gradcheck(args=(2.0, 0.0))(lambda x, y: x**y)
pu_power_of_0 = gradcheck(args=(0.0, 2.0))(lambda x, y: x**y)

# Large offsets, angles and norms; where a square underflows JAX gives nan or inf for a finite value.
p_offset_1e8 = gradcheck(args=(1.0,))(lambda x: 1e8 + jnp.sin(x))
pu_offset_1e12 = gradcheck(args=(1.0,))(lambda x: 1e12 + jnp.sin(x))
pu_angle_near_cut = gradcheck(args=(-1.0, 1e-9))(lambda x, y: jnp.arctan2(y, x))
fu_norm_underflows = gradcheck(args=(np.array([1e-200, 1e-200]),))(lambda x: jnp.sqrt(jnp.sum(x**2)))
p_norm_1em150 = gradcheck(args=(np.array([1e-150, 1e-150]),))(lambda x: jnp.sqrt(jnp.sum(x**2)))
fu_hypot_underflows = gradcheck(args=(1e-160, 1e-160))(lambda x, y: jnp.hypot(x, y))
p_rosenbrock = gradcheck(args=(normal(4),))(lambda x: jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))
p_solve = gradcheck(args=(np.array([[3.0, 1.0], [1.0, 2.0]]), normal(2)))(lambda a, b: jnp.linalg.solve(a, b))
p_logdet = gradcheck(args=(np.array([[3.0, 1.0], [0.5, 2.0]]),))(lambda a: jnp.log(jnp.linalg.det(a)))
p_attention = gradcheck(args=(normal(3, 4), normal(3, 4)))(lambda q, k: jax.nn.softmax(q @ k.T / 2.0))
p_layer_norm = gradcheck(args=(normal(6),))(lambda x: (x - jnp.mean(x)) / jnp.sqrt(jnp.var(x) + 1e-5))
