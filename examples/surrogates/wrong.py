"""Four mistakes that train without an error message; ``gradhook check`` names each."""

import jax
import jax.numpy as jnp

from gradhook import surrogate, uniform

X = uniform(6, low=-3, high=3)


@surrogate(forward=lambda x: 0.3 * jnp.sign(x), derivative_of=lambda x: x, args=(X,))
def inexact_forward(x):
    """x + (f(x) - x) is rounded twice: the value is 0.3 only nearly, and something else entirely for a large x."""
    return x + jax.lax.stop_gradient(0.3 * jnp.sign(x) - x)


@surrogate(forward=jnp.round, derivative_of=lambda x: x, args=(X,), order2="zero")
@jax.custom_jvp
def lost_at_second_order(x):
    """The rule returns jnp.round's value, not its own: differentiated twice, x * f(x) has the Hessian 1, not 2."""
    return jnp.round(x)


@lost_at_second_order.defjvp
def _lost_rule(primals, tangents):
    return jnp.round(primals[0]), tangents[0]


@surrogate(forward=jnp.sign, derivative_of=lambda x: jnp.clip(x, -1.0, 1.0), bounds="closed", args=(X,))
@jax.custom_jvp
def half_on_the_bound(x):
    """JAX's own derivative of clip is one half on the bound: weights that were clipped to it learn at half speed."""
    return jnp.sign(x)


@half_on_the_bound.defjvp
def _half_rule(primals, tangents):
    _, slope = jax.jvp(lambda x: jnp.clip(x, -1.0, 1.0), primals, tangents)
    return half_on_the_bound(primals[0]), slope


@surrogate(forward=jnp.round, derivative_of=lambda x: x, args=(X,))
@jax.custom_vjp
def clipped_gradient(x):
    """Clipping the cotangent is not linear: gradients of a sum are no longer the sum of gradients."""
    return jnp.round(x)


clipped_gradient.defvjp(lambda x: (clipped_gradient(x), None), lambda _, g: (jnp.clip(g, -2.0, 2.0),))
