"""Solvers with a rule that is wrong on purpose; ``gradhook check`` says how."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, uniform


@gradcheck(args=(normal(), uniform(low=0.5, high=2.0), uniform(low=0.5, high=1.5)))
@jax.custom_jvp
def decay(start, time, rate):
    """Solve y' = -rate y; the rule leaves out that the end time may change."""

    def step(_, y):
        return y * (1 - rate * time / 64 + (rate * time / 64) ** 2 / 2)

    return jax.lax.fori_loop(0, 64, step, start)


@decay.defjvp
def _decay_rule(primals, tangents):
    start, time, rate = primals
    solve = lambda y, k: decay.fun(y, time, k)  # noqa: E731
    return jax.jvp(solve, (start, rate), (tangents[0], tangents[2]))


@gradcheck(args=(uniform(3, low=0.5, high=1.5),))
def gain(x):
    """A float32 cast in the middle: the gradient is right to seven digits, which is not what was claimed."""
    return jnp.sum(jnp.exp(x.astype(jnp.float32)).astype(x.dtype))
