"""Plain differences with a step of the author's own: right derivatives pass or are undecided, wrong ones fail.

Truth: exp, sin and polynomials. The truncation of a central difference is step**2/6 of the third derivative, so that
a smaller error cannot be seen.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from sabotage import wrong

from gradhook import gradcheck, normal


def sum_exp(x):
    return jnp.sum(jnp.exp(x))


def sum_sin(x):
    return jnp.sum(jnp.sin(x))


def cubic(x):
    return jnp.sum(x**3 - 2 * x)


pu_exp_1e2 = gradcheck(args=(normal(3),), eps=1e-2)(sum_exp)
pu_exp_1e3 = gradcheck(args=(normal(3),), eps=1e-3)(sum_exp)
pu_exp_1e4 = gradcheck(args=(normal(3),), eps=1e-4)(sum_exp)
pu_exp_1e5 = gradcheck(args=(normal(3),), eps=1e-5)(sum_exp)
p_exp_1e6 = gradcheck(args=(normal(3),), eps=1e-6)(sum_exp)
pu_exp_1e7 = gradcheck(args=(normal(3),), eps=1e-7)(sum_exp)
pu_sin_1e2 = gradcheck(args=(normal(3),), eps=1e-2)(sum_sin)
pu_sin_1e4 = gradcheck(args=(normal(3),), eps=1e-4)(sum_sin)
pu_sin_1e5 = gradcheck(args=(normal(3),), eps=1e-5)(sum_sin)
pu_cubic_1e2 = gradcheck(args=(np.array([0.3, -0.7]),), eps=1e-2)(cubic)
pu_cubic_1e4 = gradcheck(args=(np.array([0.3, -0.7]),), eps=1e-4)(cubic)
p_line_1e3 = gradcheck(args=(np.array([0.3, -0.7]),), eps=1e-3)(lambda x: jnp.sum(3.0 * x))
pu_scales_1e4 = gradcheck(args=(0.7, 0.9), eps=1e-4)(lambda x, y: 1e3 * jnp.sin(x) + 1e-3 * jnp.sin(y))
pu_wide_1e4 = gradcheck(args=(1e6,), eps=1e-4)(lambda x: jnp.log(x))
pu_rtol_1e4 = gradcheck(args=(normal(3),), eps=1e-4, rtol=1e-6)(sum_exp)
pu_rtol_1e2 = gradcheck(args=(normal(3),), eps=1e-2, rtol=1e-3)(sum_exp)
pu_order2 = gradcheck(args=(0.7,), eps=1e-3, order=2)(lambda x: jnp.sin(x))
pu_many = gradcheck(args=(normal(80),), eps=1e-4)(sum_sin)

f_exp_1e2_percent = gradcheck(args=(normal(3),), eps=1e-2)(wrong(sum_exp, 0, 1.01))
f_exp_1e3_1e4 = gradcheck(args=(normal(3),), eps=1e-3)(wrong(sum_exp, 0, 1.0001))
f_exp_1e4_1e5 = gradcheck(args=(normal(3),), eps=1e-4)(wrong(sum_exp, 0, 1 + 1e-5))
f_exp_1e5_1e5 = gradcheck(args=(normal(3),), eps=1e-5)(wrong(sum_exp, 0, 1 + 1e-5))
f_exp_1e6_1e5 = gradcheck(args=(normal(3),), eps=1e-6)(wrong(sum_exp, 0, 1 + 1e-5))
f_exp_1e7_1e5 = gradcheck(args=(normal(3),), eps=1e-7)(wrong(sum_exp, 0, 1 + 1e-5))
f_sin_1e2_sign = gradcheck(args=(normal(3),), eps=1e-2)(wrong(sum_sin, 0, -1.0))
f_sin_1e4_lost = gradcheck(args=(normal(3),), eps=1e-4)(wrong(sum_sin, 0, 0.0))
fu_scales_lost = gradcheck(args=(0.7, 0.9), eps=1e-4)(wrong(lambda x, y: 1e6 * x + 1e-6 * jnp.sin(y), 1, 0.0))
fu_scales_1e5 = gradcheck(args=(0.7, 0.9), eps=1e-4)(wrong(lambda x, y: 1e3 * x + 1e-3 * jnp.sin(y), 1, 1 + 1e-5))
