"""Rounding that lets a gradient through: straight-through round and sign, the clipped estimator, int8 with a scale."""

import jax
import jax.numpy as jnp

from gradhook import case, normal, surrogate, uniform


@surrogate(
    forward=jnp.round,
    derivative_of=lambda x: x,
    order2="zero",
    ties="even",
    args=(uniform(8, low=-3, high=3),),
    cases={"tie": case(0.5, value=0.0, tangent=1.0), "scalar": (1.3,)},
)
@jax.custom_jvp
def ste_round(x):
    """round(x), with the derivative of x."""
    return jnp.round(x)


@ste_round.defjvp
def _ste_round_rule(primals, tangents):
    return ste_round(primals[0]), tangents[0]


@surrogate(forward=jnp.sign, derivative_of=lambda x: x, order2="zero", args=(normal(6),))
@jax.custom_jvp
def ste_sign(x):
    """sign(x), with the derivative of x."""
    return jnp.sign(x)


@ste_sign.defjvp
def _ste_sign_rule(primals, tangents):
    return ste_sign(primals[0]), tangents[0]


@surrogate(
    forward=jnp.sign,
    derivative_of=lambda x: jnp.clip(x, -1.0, 1.0),
    bounds="closed",
    order2="zero",
    args=(uniform(6, low=-3, high=3),),
)
@jax.custom_vjp
def clipped_sign(x):
    """sign(x), whose gradient stops where |x| > 1 (Hubara et al. 2016); on the bounds it still passes."""
    return jnp.sign(x)


clipped_sign.defvjp(
    lambda x: (clipped_sign(x), x),
    lambda x, g: (jnp.where(jnp.abs(x) <= 1.0, g, jnp.zeros_like(g)),),
)

LOW, HIGH = -128.0, 127.0


def int8_grid(x, scale):
    """The value: the nearest multiple of ``scale`` that eight bits can hold."""
    return scale * jnp.clip(jnp.round(x / scale), LOW, HIGH)


def int8_rule(primals, tangents):
    """Straight through inside of the range, nothing outside."""
    x, scale = primals
    inside = (x / scale >= LOW) & (x / scale <= HIGH)
    return jnp.where(inside, tangents[0], 0.0)


@surrogate(
    forward=int8_grid,
    rule=int8_rule,
    exact=("scale",),
    args=(normal(6), 0.011),
    cases={"coarse": (normal(6), 0.25), "saturated": (uniform(4, low=2, high=3), 0.005)},
)
@jax.custom_jvp
def fake_quant(x, scale):
    """int8 with a learned scale: surrogate in x, exact in the scale (between two jumps, the value is linear in it)."""
    return int8_grid(x, scale)


@fake_quant.defjvp
def _fake_quant_rule(primals, tangents):
    x, scale = primals
    whole = jnp.clip(jnp.round(x / scale), LOW, HIGH)
    return fake_quant(x, scale), int8_rule(primals, tangents) + whole * tangents[1]
