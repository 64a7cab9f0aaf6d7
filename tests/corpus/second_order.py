"""First derivatives that are right, second ones that are not: claims of exactness up to order 2, all wrong."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import i0, i1

from gradhook import gradcheck

EXPECT = {
    "mixed_derivative_of_a_power": ("fail", "GRD103", "y"),
    "bessel_flat_at_zero": ("fail", "GRD103", "x"),
    "pullback_without_a_cotangent": ("fail", "GRD103", "x"),
    "root_without_a_derivative": ("fail", "GRD103", "c"),
}


@gradcheck(args=(np.array([2.3, 0.7]), np.array([0.0, 1.5])), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def mixed_derivative_of_a_power(x, y):
    """A select for y = 0 in the rule of x**y makes d2 / dx dy there x, not 1 / x (jax-ml/jax#12033)."""
    return x**y


@mixed_derivative_of_a_power.defjvp
def _power_rule(primals, tangents):
    x, y = primals
    dx, dy = tangents
    guarded = jnp.where(y == 0, 1.0, y - 1.0)
    return mixed_derivative_of_a_power(x, y), y * x**guarded * dx + jnp.log(x) * x**y * dy


@gradcheck(args=(np.array([0.0, 0.8]),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def bessel_flat_at_zero(x):
    """The rule returns a constant 0 at x = 0: right, but its own derivative is 1/2 (jax-ml/jax#40627, #40640)."""
    return i0(x)


@bessel_flat_at_zero.defjvp
def _bessel_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    slope = jnp.where(x == 0, 0.0, i1(jnp.where(x == 0, 1.0, x)))
    return bessel_flat_at_zero(x), slope * dx


@gradcheck(args=(np.array([0.7, -1.4]),), order=2, modes=("rev",))
@jax.custom_vjp
def pullback_without_a_cotangent(x):
    """The pullback is a custom_vjp that returns None for the saved x (jax-ml/jax#21220)."""
    return x**3


@jax.custom_vjp
def _pullback(x, g):
    return 3.0 * x**2 * g


_pullback.defvjp(lambda x, g: (_pullback(x, g), x), lambda x, ct: (None, 3.0 * x**2 * ct))
pullback_without_a_cotangent.defvjp(lambda x: (pullback_without_a_cotangent(x), x), lambda x, g: (_pullback(x, g),))


def _bisect(c):
    def step(_, bounds):
        low, high = bounds
        middle = 0.5 * (low + high)
        below = middle**3 + middle < c
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    low, high = jax.lax.fori_loop(0, 60, step, (jnp.full_like(c, -4.0), jnp.full_like(c, 4.0)))
    return 0.5 * (low + high)


@gradcheck(args=(np.array([0.6, -2.0, 3.5]),), order=2, modes=("rev",))
@jax.custom_vjp
def root_without_a_derivative(c):
    """The root of x**3 + x = c that the implicit rule saved carries no derivative (google/jaxopt#141, #143)."""
    return _bisect(c)


def _root_forward(c):
    root = _bisect(c)
    return root, root


root_without_a_derivative.defvjp(_root_forward, lambda root, g: (g / (3.0 * root**2 + 1.0),))
