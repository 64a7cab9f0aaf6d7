"""Inputs at which no derivative exists, and inputs close to them: undecided at a kink, never beside it."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "absolute_value_at_zero": ("undecided", "GRD401", "x"),
    "maximum_of_equals": ("undecided", "GRD401", "x"),
    "relu6_on_both_bounds": ("undecided", "GRD401", "x"),
    "entropy_at_the_boundary": ("not pass",),
    "close_to_a_kink": ("pass",),
}


@gradcheck(args=(np.array([0.0, 1.5]),), order=2, modes=("fwd", "rev"))
def absolute_value_at_zero(x):
    """The slopes are -1 and 1, JAX says 1, no convention is declared (jax-ml/jax#37820, #10515)."""
    return jnp.abs(x)


@gradcheck(args=(np.array([2.0, -1.0, 2.0]),), order=2, modes=("fwd", "rev"))
def maximum_of_equals(x):
    """JAX says 1/2, as a central difference does; the slopes are 0 and 1 (jax-ml/jax#13600, #37821)."""
    return jnp.max(x)


@gradcheck(args=(np.array([0.0, 6.0, 2.5]),), order=2, modes=("fwd", "rev"))
def relu6_on_both_bounds(x):
    """JAX has said 0 since 2023 and 1/2 before, no convention is declared (jax-ml/jax#14682, #14840)."""
    return jax.nn.relu6(x)


@gradcheck(args=(np.array([0.0, 0.4]),), order=2, modes=("fwd", "rev"))
def entropy_at_the_boundary(p):
    """The edge of the domain, with an infinite slope on its only side (jax-ml/jax#15709, #8893)."""
    return jax.scipy.special.entr(p)


@gradcheck(args=(np.array([3e-5, -3e-5, 1.0 + 3e-5, 0.5]),), order=2, modes=("fwd", "rev"))
def close_to_a_kink(x):
    """Right: differentiable, but a step of 1e-4 straddles the kink (jax-ml/jax#2953)."""
    return jnp.abs(x) + 2.0 * jnp.maximum(x - 1.0, 0.0)
