"""Derivatives that are finite and wrong at one special input, right beside it: claims of exactness, all wrong."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "digamma_of_a_negative_number": ("fail", "GRD101", "x"),
    "sinc_that_cancels_near_zero": ("fail", "GRD101", "x"),
    "softplus_from_two_kinks": ("fail", "GRD101", "x"),
    "guarded_logarithm_at_zero_weight": ("fail", "GRD101", "k"),
    "cumulative_product_divided_by_zero": ("fail", "GRD102", "x"),
}


@gradcheck(args=(np.array([2.5, -16.5]),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def digamma_of_a_negative_number(x):
    """For x < 0 the reflection has lost its term (pi / sin(pi x))**2: wrong sign and size (jax-ml/jax#37635)."""
    return jax.lax.digamma(x)


@digamma_of_a_negative_number.defjvp
def _digamma_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    slope = jax.scipy.special.polygamma(1, jnp.where(x < 0, 1.0 - x, x))
    return digamma_of_a_negative_number(x), jnp.where(x < 0, -slope, slope) * dx


@gradcheck(args=(np.array([2.3e-16, 0.9]),), order=2, modes=("fwd", "rev"))
def sinc_that_cancels_near_zero(x):
    """At 2.3e-16 two terms 1 / x are subtracted: -0.3 or -0.5 instead of -7.7e-17 (jax-ml/jax#34139, #40629)."""
    return jnp.sin(x) / x


@gradcheck(args=(np.array([0.0, 1.5, -0.7]),), order=2, modes=("fwd", "rev"))
def softplus_from_two_kinks(x):
    """Smooth, but at 0 the conventions of max and abs add up to the slope 0, not 1/2 (jax-ml/jax#2107, #2140)."""
    return jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


@gradcheck(args=(np.array([0.0, 1.5]), np.array([0.2, 3.0])), order=2, modes=("fwd", "rev"))
def guarded_logarithm_at_zero_weight(k, y):
    """The guard makes the slope in k exactly at k = 0 zero instead of log(y) (jax-ml/jax#15598)."""
    nonzero = k != 0
    return jnp.where(nonzero, k * jnp.log(jnp.where(nonzero, y, 1.0)), 0.0)


@gradcheck(args=(np.array([2.0, 3.0, 0.0, 1.5]),), order=2, modes=("rev",))
@jax.custom_vjp
def cumulative_product_divided_by_zero(x):
    """The rule divides by x and patches 0 / 0 to 0: wrong for the zero (tensorflow/tensorflow#119430)."""
    return jnp.cumprod(x)


def _product_forward(x):
    y = cumulative_product_divided_by_zero(x)
    return y, (x, y)


def _product_backward(saved, g):
    x, y = saved
    total = jnp.cumsum((g * y)[::-1])[::-1]
    return (jnp.nan_to_num(total / x, nan=0.0, posinf=0.0, neginf=0.0),)


cumulative_product_divided_by_zero.defvjp(_product_forward, _product_backward)
