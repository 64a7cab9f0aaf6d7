"""Slopes at a declared kink: the declared one, a number, and what is off by a little or by much.

Truth: left and right slopes are written in each function; the sabotaged rules multiply the declared slope.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from sabotage import with_jvp, wrong

from gradhook import case, gradcheck, normal


def at_zero(kink):
    """One case, on the kink."""
    return {"c": case(0.0, kink=kink)}


def bend(left, right, claimed=None):
    """Slopes ``left`` and ``right`` of 0; on 0 the rule claims ``claimed`` (by default ``left``)."""
    slope = left if claimed is None else claimed
    return with_jvp(
        lambda x: jnp.where(x <= 0, left * x, right * x),
        lambda p, t: jnp.where(p[0] == 0, slope, jnp.where(p[0] < 0, left, right)) * t[0],
    )


# The slope that was found to be accepted though it is off.
f_left_60percent = gradcheck(cases=at_zero("left"))(bend(1e-3, 1e3, 1.6e-3))
f_number_60percent = gradcheck(cases=at_zero(1e-3))(bend(1e-3, 1e3, 1.6e-3))
f_leaky_1e6 = gradcheck(cases=at_zero("left"))(bend(1e-6, 1.0, 1.9e-6))
f_leaky_elements = gradcheck(args=(normal(3),), cases=at_zero("left"))(lambda x: jnp.sum(bend(1e-6, 1.0, 1.9e-6)(x)))
f_relu_right_5e7 = gradcheck(cases=at_zero("right"))(bend(0.0, 1.0, 1 + 5e-7))
f_relu_number_9e7 = gradcheck(cases=at_zero(1.0))(bend(0.0, 1.0, 1 + 9e-7))
f_maximum_number_9e7 = gradcheck(cases=at_zero(1.0))(wrong(lambda x: jnp.maximum(x, 0.0), 0, 2 * (1 + 9e-7)))
f_steep_left_4e7 = gradcheck(cases=at_zero("left"))(wrong(lambda x: jnp.abs(x) + 5 * x, 0, 0.8 * (1 + 4e-7)))

# Off by 1e-5, 1e-6, by sign, or the other side.
f_left_1e6 = gradcheck(cases=at_zero("left"))(bend(2.0, 3.0, 2.0 * (1 + 1e-6)))
f_left_1e5 = gradcheck(cases=at_zero("left"))(bend(2.0, 3.0, 2.0 * (1 + 1e-5)))
f_right_1e6 = gradcheck(cases=at_zero("right"))(bend(2.0, 3.0, 3.0 * (1 + 1e-6)))
f_mean_1e6 = gradcheck(cases=at_zero("mean"))(bend(2.0, 3.0, 2.5 * (1 + 1e-6)))
f_number_1e6 = gradcheck(cases=at_zero(2.25))(bend(2.0, 3.0, 2.25 * (1 + 1e-6)))
f_left_is_right = gradcheck(cases=at_zero("left"))(bend(2.0, 3.0, 3.0))
f_mean_is_left = gradcheck(cases=at_zero("mean"))(bend(2.0, 3.0, 2.0))
f_left_sign = gradcheck(cases=at_zero("left"))(bend(1e-6, 1.0, -1e-6))
f_left_lost = gradcheck(cases=at_zero("left"))(bend(1e-9, 1e3, 0.0))
f_mean_of_sizes = gradcheck(cases=at_zero("mean"))(bend(1e-3, 1e3, 500.0 * (1 + 1e-5)))
f_subgradient_outside = gradcheck(cases=at_zero("subgradient"))(bend(2.0, 3.0, 3.0 * (1 + 1e-5)))
f_subgradient_below = gradcheck(cases=at_zero("subgradient"))(bend(1e-3, 1e3, 0.5e-3))
f_tiny_left_60percent = gradcheck(cases=at_zero("left"))(bend(1e-12, 1e-9, 1.6e-12))
f_huge_right_1e5 = gradcheck(cases=at_zero("right"))(bend(1e9, 1e12, 1e12 * (1 + 1e-5)))
f_beside_lost = gradcheck(cases={"c": case(0.0, 1.0, kink="left")})(
    lambda x, y: bend(1e-3, 1e3)(x) + wrong(lambda y: 1e-4 * y, 0, 0.0)(y)
)

# Right.
p_left = gradcheck(cases=at_zero("left"))(bend(2.0, 3.0))
p_right = gradcheck(cases=at_zero("right"))(bend(2.0, 3.0, 3.0))
p_mean = gradcheck(cases=at_zero("mean"))(bend(2.0, 3.0, 2.5))
p_subgradient = gradcheck(cases=at_zero("subgradient"))(bend(2.0, 3.0, 2.75))
p_number = gradcheck(cases=at_zero(2.25))(bend(2.0, 3.0, 2.25))
p_left_of_sizes = gradcheck(cases=at_zero("left"))(bend(1e-3, 1e3))
p_right_of_sizes = gradcheck(cases=at_zero("right"))(bend(1e-3, 1e3, 1e3))
p_leaky = gradcheck(cases=at_zero("left"))(bend(1e-6, 1.0))
p_tiny = gradcheck(cases=at_zero("left"))(bend(1e-12, 1e-9))
p_elements = gradcheck(cases={"c": case(np.array([0.0, 0.5, -0.5]), kink="left")})(
    lambda x: jnp.sum(bend(1e-3, 1.0)(x))
)
p_beside = gradcheck(cases={"c": case(0.0, 1.0, kink="left")})(lambda x, y: bend(1e-3, 1e3)(x) + 1e-4 * y)
u_undeclared = gradcheck(args=(0.0,))(bend(2.0, 3.0))
