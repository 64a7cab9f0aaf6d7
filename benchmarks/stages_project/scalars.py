"""Five hundred scalar leaves."""

import jax.numpy as jnp

from gradhook import gradcheck, normal


@gradcheck(args=([normal()] * 500,))
def energy(numbers):
    return sum(jnp.sin(x) * x for x in numbers)
