"""A neuron fires or it does not; three ways to give the step a slope."""

import jax
import jax.numpy as jnp

from gradhook import case, normal, surrogate


def heaviside(v):
    """1 from the threshold on, 0 below."""
    return (v >= 0).astype(v.dtype)


def superspike_rule(primals, tangents):
    """1 / (1 + 10 |v|)^2 (Zenke and Ganguli 2018)."""
    return tangents[0] / (1.0 + 10.0 * jnp.abs(primals[0])) ** 2


@surrogate(
    forward=heaviside, rule=superspike_rule, args=(normal(5),), cases={"at the threshold": case(0.0, tangent=1.0)}
)
@jax.custom_jvp
def superspike(v):
    """A spike with the slope of a fast sigmoid."""
    return heaviside(v)


@superspike.defjvp
def _superspike_rule(primals, tangents):
    return superspike(primals[0]), superspike_rule(primals, tangents)


@surrogate(
    forward=lambda v, slope: heaviside(v),
    derivative_of=lambda v, slope: jax.nn.sigmoid(slope * v),
    wrt="v",
    order2="of the surrogate",
    cases={"slope 1": (normal(5), 1.0), "slope 5": (normal(5), 5.0), "slope 25": (normal(5), 25.0)},
)
@jax.custom_jvp
def sigmoid_spike(v, slope):
    """A spike with the slope of a sigmoid; sigmoid(x) * sigmoid(-x) cannot overflow, e / (1 + e)^2 does."""
    return heaviside(v)


@sigmoid_spike.defjvp
def _sigmoid_spike_rule(primals, tangents):
    v, slope = primals
    bump = slope * jax.nn.sigmoid(slope * v) * jax.nn.sigmoid(-slope * v)
    return sigmoid_spike(v, slope), bump * tangents[0]


@surrogate(
    forward=heaviside,
    derivative_of=lambda v: jnp.where(jnp.abs(v) < 1, v - 0.5 * v * jnp.abs(v), 0.5 * jnp.sign(v)),
    args=(normal(5),),
)
@jax.custom_vjp
def triangle_spike(v):
    """A spike with the slope of a triangle, max(0, 1 - |v|)."""
    return heaviside(v)


triangle_spike.defvjp(
    lambda v: (triangle_spike(v), v),
    lambda v, g: (g * jnp.maximum(0.0, 1.0 - jnp.abs(v)),),
)
