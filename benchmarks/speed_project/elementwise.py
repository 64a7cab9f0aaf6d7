"""Elementwise functions, as activations and transforms are written."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, positive, uniform


@gradcheck(args=(normal(4),))
def sine(x):
    return jnp.sin(3 * x + 0.5)


@gradcheck(args=(normal(4),))
def swish(x):
    return x * jax.nn.sigmoid(1.5 * x)


@gradcheck(args=(normal(4),))
def gelu(x):
    return jax.nn.gelu(x, approximate=False)


@gradcheck(args=(normal(4),))
def mish(x):
    return x * jnp.tanh(jnp.logaddexp(x, 0.0))


@gradcheck(args=(normal(4),))
def gaussian(x):
    return jnp.exp(-0.5 * x**2)


@gradcheck(args=(positive(4),))
def power_law(x):
    return x**1.7 + jnp.log1p(x)


@gradcheck(args=(positive(4),))
def root(x):
    return jnp.sqrt(x) + jnp.cbrt(x)


@gradcheck(args=(uniform(4, low=-0.9, high=0.9),))
def inverse(x):
    return jnp.arcsin(x) * jnp.arctanh(x)


@gradcheck(args=(normal(4), positive(4)))
def soft_sign(x, scale):
    return x / (scale + jnp.sqrt(1 + x * x))


@gradcheck(args=(normal(4), normal(4)))
def angle(x, y):
    return jnp.arctan2(y, x + 3)


@gradcheck(args=(normal(5),))
def clipped_exponential(x):
    return jnp.where(x > 0, 1 + x + 0.5 * x * x, jnp.exp(x))
