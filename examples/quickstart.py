"""The two kinds of claim: an exact derivative, and a surrogate on purpose."""

import jax
import jax.numpy as jnp

from gradhook import case, gradcheck, normal, surrogate, uniform


@gradcheck(args=(normal(3),), order=2, modes=("fwd", "rev"))
def objective(x):
    return jnp.sum(jnp.sin(x) * jnp.exp(-x * x))


@surrogate(
    forward=jnp.round,
    derivative_of=lambda x: x,
    args=(uniform(8, low=-3, high=3),),
    cases={"tie": case(0.5, value=0.0, tangent=1.0)},
)
@jax.custom_jvp
def ste_round(x):
    return jnp.round(x)


@ste_round.defjvp
def _straight_through(primals, tangents):
    return ste_round(primals[0]), tangents[0]
