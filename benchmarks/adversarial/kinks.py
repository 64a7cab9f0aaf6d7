"""Kinks at a few units in the last place, and at 1e-12, 1e-9 and 1e-6: right slopes, and the mean of both claimed.

Truth: at a distance other than 0 each function is smooth, with the slope of the side that the point lies on; JAX takes
that side, so its claims are right (pu). The mean of both slopes is wrong (fu): it must never pass.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from sabotage import with_slopes, wrong

from gradhook import case, gradcheck

ULP = 2.0**-52
DISTANCES = {str(k): k * ULP for k in (1, 3, 10, 30, 45, 100, 300, 1000)}
DISTANCES |= {"1e-12": 1e-12, "1e-9": 1e-9, "1e-6": 1e-6}
BELOW = {name: case(1.0 - d) for name, d in DISTANCES.items()}
ABOVE = {name: case(1.0 + d) for name, d in DISTANCES.items()}


def bent(x):
    """Slopes -1 and 1 beside 1."""
    return jnp.abs(x - 1.0)


def hinge(x):
    """Slopes 0 and 1 beside 1."""
    return jax.nn.relu(x - 1.0)


def larger(x):
    """Slopes 1 (the second term) and 2 beside 1."""
    return jnp.maximum(2 * x, x + 1.0)


def ordered(x):
    """The smaller of two: slopes 1 and 0 beside 1."""
    return jnp.sort(jnp.stack([x, jnp.ones_like(x)]))[0]


def middle(x):
    """The median of x, 1 and 7: slopes 0 and 1 beside 1."""
    return jnp.median(jnp.stack([x, jnp.ones_like(x), 7.0 * jnp.ones_like(x)]))


def clipped(x):
    """Slopes 2*x and 0 beside 1."""
    return jnp.clip(x, 0.0, 1.0) ** 2


def cases_by(x):
    """Slopes 3 and 5 beside 1."""
    return jnp.where(x < 1.0, 3 * x, 5 * x - 2.0)


# Right slopes at all distances on both sides.
pu_below_bent = gradcheck(cases=BELOW)(bent)
pu_above_bent = gradcheck(cases=ABOVE)(bent)
pu_below_hinge = gradcheck(cases=BELOW)(hinge)
pu_above_hinge = gradcheck(cases=ABOVE)(hinge)
pu_below_larger = gradcheck(cases=BELOW)(larger)
pu_above_larger = gradcheck(cases=ABOVE)(larger)
pu_below_ordered = gradcheck(cases=BELOW)(ordered)
pu_above_ordered = gradcheck(cases=ABOVE)(ordered)
pu_below_middle = gradcheck(cases=BELOW)(middle)
pu_above_middle = gradcheck(cases=ABOVE)(middle)
pu_below_clipped = gradcheck(cases=BELOW)(clipped)
pu_above_clipped = gradcheck(cases=ABOVE)(clipped)
pu_below_cases_by = gradcheck(cases=BELOW)(cases_by)
pu_above_cases_by = gradcheck(cases=ABOVE)(cases_by)

# The mean of both slopes.
fu_mean_bent_1 = gradcheck(args=(1.0 - 1 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_3 = gradcheck(args=(1.0 - 3 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_10 = gradcheck(args=(1.0 - 10 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_30 = gradcheck(args=(1.0 - 30 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_45 = gradcheck(args=(1.0 - 45 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_100 = gradcheck(args=(1.0 - 100 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_300 = gradcheck(args=(1.0 - 300 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_1000 = gradcheck(args=(1.0 - 1000 * ULP,))(with_slopes(bent, 0.0))
fu_mean_bent_1e12 = gradcheck(args=(1.0 - 1e-12,))(with_slopes(bent, 0.0))
fu_mean_bent_1e9 = gradcheck(args=(1.0 - 1e-9,))(with_slopes(bent, 0.0))
f_mean_bent_1e6 = gradcheck(args=(1.0 - 1e-6,))(with_slopes(bent, 0.0))
fu_mean_hinge_1 = gradcheck(args=(1.0 + 1 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_3 = gradcheck(args=(1.0 + 3 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_10 = gradcheck(args=(1.0 + 10 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_30 = gradcheck(args=(1.0 + 30 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_45 = gradcheck(args=(1.0 + 45 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_100 = gradcheck(args=(1.0 + 100 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_300 = gradcheck(args=(1.0 + 300 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_1000 = gradcheck(args=(1.0 + 1000 * ULP,))(with_slopes(hinge, 0.5))
fu_mean_hinge_1e12 = gradcheck(args=(1.0 + 1e-12,))(with_slopes(hinge, 0.5))
fu_mean_hinge_1e9 = gradcheck(args=(1.0 + 1e-9,))(with_slopes(hinge, 0.5))
f_mean_hinge_1e6 = gradcheck(args=(1.0 + 1e-6,))(with_slopes(hinge, 0.5))
fu_mean_larger_1 = gradcheck(args=(1.0 + 1 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_3 = gradcheck(args=(1.0 + 3 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_10 = gradcheck(args=(1.0 + 10 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_30 = gradcheck(args=(1.0 + 30 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_45 = gradcheck(args=(1.0 + 45 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_100 = gradcheck(args=(1.0 + 100 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_300 = gradcheck(args=(1.0 + 300 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_1000 = gradcheck(args=(1.0 + 1000 * ULP,))(with_slopes(larger, 1.5))
fu_mean_larger_1e12 = gradcheck(args=(1.0 + 1e-12,))(with_slopes(larger, 1.5))
fu_mean_larger_1e9 = gradcheck(args=(1.0 + 1e-9,))(with_slopes(larger, 1.5))
f_mean_larger_1e6 = gradcheck(args=(1.0 + 1e-6,))(with_slopes(larger, 1.5))
fu_mean_ordered_1 = gradcheck(args=(1.0 - 1 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_3 = gradcheck(args=(1.0 - 3 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_10 = gradcheck(args=(1.0 - 10 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_30 = gradcheck(args=(1.0 - 30 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_45 = gradcheck(args=(1.0 - 45 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_100 = gradcheck(args=(1.0 - 100 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_300 = gradcheck(args=(1.0 - 300 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_1000 = gradcheck(args=(1.0 - 1000 * ULP,))(with_slopes(ordered, 0.5))
fu_mean_ordered_1e12 = gradcheck(args=(1.0 - 1e-12,))(with_slopes(ordered, 0.5))
fu_mean_ordered_1e9 = gradcheck(args=(1.0 - 1e-9,))(with_slopes(ordered, 0.5))
f_mean_ordered_1e6 = gradcheck(args=(1.0 - 1e-6,))(with_slopes(ordered, 0.5))
fu_mean_middle_1 = gradcheck(args=(1.0 + 1 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_3 = gradcheck(args=(1.0 + 3 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_10 = gradcheck(args=(1.0 + 10 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_30 = gradcheck(args=(1.0 + 30 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_45 = gradcheck(args=(1.0 + 45 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_100 = gradcheck(args=(1.0 + 100 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_300 = gradcheck(args=(1.0 + 300 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_1000 = gradcheck(args=(1.0 + 1000 * ULP,))(with_slopes(middle, 0.5))
fu_mean_middle_1e12 = gradcheck(args=(1.0 + 1e-12,))(with_slopes(middle, 0.5))
fu_mean_middle_1e9 = gradcheck(args=(1.0 + 1e-9,))(with_slopes(middle, 0.5))
f_mean_middle_1e6 = gradcheck(args=(1.0 + 1e-6,))(with_slopes(middle, 0.5))
fu_mean_clipped_1 = gradcheck(args=(1.0 - 1 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_3 = gradcheck(args=(1.0 - 3 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_10 = gradcheck(args=(1.0 - 10 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_30 = gradcheck(args=(1.0 - 30 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_45 = gradcheck(args=(1.0 - 45 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_100 = gradcheck(args=(1.0 - 100 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_300 = gradcheck(args=(1.0 - 300 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_1000 = gradcheck(args=(1.0 - 1000 * ULP,))(with_slopes(clipped, 1.0))
fu_mean_clipped_1e12 = gradcheck(args=(1.0 - 1e-12,))(with_slopes(clipped, 1.0))
fu_mean_clipped_1e9 = gradcheck(args=(1.0 - 1e-9,))(with_slopes(clipped, 1.0))
f_mean_clipped_1e6 = gradcheck(args=(1.0 - 1e-6,))(with_slopes(clipped, 1.0))
fu_mean_cases_by_1 = gradcheck(args=(1.0 - 1 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_3 = gradcheck(args=(1.0 - 3 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_10 = gradcheck(args=(1.0 - 10 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_30 = gradcheck(args=(1.0 - 30 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_45 = gradcheck(args=(1.0 - 45 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_100 = gradcheck(args=(1.0 - 100 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_300 = gradcheck(args=(1.0 - 300 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_1000 = gradcheck(args=(1.0 - 1000 * ULP,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_1e12 = gradcheck(args=(1.0 - 1e-12,))(with_slopes(cases_by, 4.0))
fu_mean_cases_by_1e9 = gradcheck(args=(1.0 - 1e-9,))(with_slopes(cases_by, 4.0))
f_mean_cases_by_1e6 = gradcheck(args=(1.0 - 1e-6,))(with_slopes(cases_by, 4.0))

# On the kink itself, without a convention: no derivative exists.
u_on_bent = gradcheck(args=(1.0,))(bent)
u_on_hinge = gradcheck(args=(1.0,))(hinge)
u_on_larger = gradcheck(args=(1.0,))(larger)
u_on_cases = gradcheck(args=(1.0,))(cases_by)
f_on_bent_outside = gradcheck(args=(1.0,))(with_slopes(bent, 1.5))  # outside of both slopes

# Beside other terms and at other sizes.
pu_max_of_three = gradcheck(args=(np.array([1.0, 1.0 + 1e-14, 0.2]),))(lambda x: jnp.max(x))
pu_clip_30 = gradcheck(args=(0.3 - 1e-14,))(lambda x: jnp.clip(x, 0.0, 0.3) ** 2)
fu_bent_lost = gradcheck(args=(1.0, 1.0))(wrong(lambda x, y: jnp.abs(x - 1 - 1e-14) + y, 0, 0.0))
pu_two_arguments = gradcheck(args=(1.0, 1.0 + 2e-14))(lambda x, y: jnp.maximum(x, y))
pu_sort_of_three = gradcheck(args=(np.array([0.3, 1.0, 1.0 + 1e-14]),))(lambda x: jnp.sort(x) * jnp.arange(1.0, 4.0))
pu_median_of_five = gradcheck(args=(np.array([0.3, 1.0, 1.0 + 1e-14, 2.0, -1.0]),))(lambda x: jnp.median(x))
pu_bent_at_3 = gradcheck(args=(3.0,))(lambda x: jnp.abs(x - 3 - 1e-14))
pu_bent_at_1000 = gradcheck(args=(1000.0,))(lambda x: jnp.abs(x - 1000 - 1e-11))
fu_bent_at_1000_mean = gradcheck(args=(1000.0,))(with_slopes(lambda x: jnp.abs(x - 1000 - 1e-11), 0.0))
fu_max_of_three_mean = gradcheck(args=(np.array([1.0, 1.0 + 1e-14, 0.2]),))(
    with_slopes(lambda x: jnp.max(x), np.array([0.5, 0.5, 0.0]))
)
pu_tiny_1e20 = gradcheck(args=(1e-20,))(lambda x: jnp.abs(x))
p_tiny_1e9 = gradcheck(args=(1e-9,))(lambda x: jnp.abs(x))
fu_tiny_1e20_mean = gradcheck(args=(1e-20,))(with_slopes(lambda x: jnp.abs(x), 0.0))
f_tiny_1e9_mean = gradcheck(args=(1e-9,))(with_slopes(lambda x: jnp.abs(x), 0.0))
pu_unequal_bend = gradcheck(args=(1.0 - 30 * ULP,))(lambda x: jnp.where(x < 1.0, 1e-3 * x, 1e3 * x - 999.999))
fu_unequal_bend_right = gradcheck(args=(1.0 - 30 * ULP,))(
    with_slopes(lambda x: jnp.where(x < 1.0, 1e-3 * x, 1e3 * x - 999.999), 1e3)
)
fu_steep_beside = gradcheck(args=(1.0 - 100 * ULP, 1.0))(
    wrong(lambda x, y: jnp.where(x < 1.0, 1e-3 * x, 1e3 * x - 999.999) + y, 0, 2.0)
)
pu_soft_bend = gradcheck(args=(1.0,))(lambda x: jnp.sqrt((x - 1 - 1e-14) ** 2 + 1e-28))
fu_soft_bend_lost = gradcheck(args=(1.0,))(with_slopes(lambda x: jnp.sqrt((x - 1 - 1e-14) ** 2 + 1e-28), 0.0))
pu_cube_of_bend = gradcheck(args=(1.0 - 30 * ULP,))(lambda x: x + jnp.abs(x - 1.0) ** 3)
