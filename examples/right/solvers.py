"""Solvers differentiated by a rule of their own, through the solution instead of through the iteration."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, spd, uniform


@gradcheck(args=(uniform(3, low=0.5, high=4.0),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def cube_root_like(c):
    """The root of y**3 + y = c by Newton's method."""

    def step(_, y):
        return y - (y**3 + y - c) / (3 * y**2 + 1)

    return jax.lax.fori_loop(0, 40, step, jnp.ones_like(c))


@cube_root_like.defjvp
def _implicit(primals, tangents):
    y = cube_root_like(primals[0])
    return y, tangents[0] / (3 * y**2 + 1)


@gradcheck(args=(spd(3), normal(3)))
def energy(matrix, load):
    """The compliance of an elastic structure, load . matrix^-1 load, by a Cholesky solve."""
    factor = jax.scipy.linalg.cho_factor(matrix)
    return load @ jax.scipy.linalg.cho_solve(factor, load)


@gradcheck(args=(normal(4), uniform(low=0.01, high=0.2)))
def heat_step(temperature, rate):
    """One explicit step of the heat equation on a ring."""
    return temperature + rate * (jnp.roll(temperature, 1) - 2 * temperature + jnp.roll(temperature, -1))
