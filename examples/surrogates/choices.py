"""A hard choice forward, a soft one backward; and a fixed point, whose implicit derivative is exact."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, key, normal, surrogate

TEMPERATURE = 0.7


def soft_sample(logits, noise):
    """A Gumbel-softmax sample."""
    return jax.nn.softmax((logits + jax.random.gumbel(noise, logits.shape, logits.dtype)) / TEMPERATURE)


def hard_sample(logits, noise):
    """The one-hot choice."""
    return jax.nn.one_hot(jnp.argmax(soft_sample(logits, noise)), logits.shape[0], dtype=logits.dtype)


@surrogate(forward=hard_sample, derivative_of=soft_sample, args=(normal(4), key()))
def gumbel_straight_through(logits, noise):
    """Without a custom rule: soft - stop_gradient(soft) is 0 to the last bit, so that the value is the hard one's."""
    soft = soft_sample(logits, noise)
    hard = jax.nn.one_hot(jnp.argmax(soft), logits.shape[0], dtype=logits.dtype)
    return (soft - jax.lax.stop_gradient(soft)) + hard


def _iterate(weights, x):
    return jax.lax.fori_loop(0, 60, lambda _, z: jnp.tanh(weights @ z + x), jnp.zeros_like(x))


@gradcheck(args=(lambda: (0.3 * jnp.eye(3) + 0.1, jnp.array([0.3, -0.2, 0.5]))), rtol=1e-9)
@jax.custom_vjp
def equilibrium(weights, x):
    """z = tanh(W z + x), iterated. Not a surrogate: the implicit function theorem gives the exact derivative."""
    return _iterate(weights, x)


def _equilibrium_forward(weights, x):
    z = equilibrium(weights, x)
    return z, (weights, z)


def _equilibrium_backward(residuals, g):
    weights, z = residuals
    slope = 1 - z**2
    u = jnp.linalg.solve((jnp.eye(len(z), dtype=z.dtype) - slope[:, None] * weights).T, g)
    return jnp.outer(slope * u, z), slope * u


equilibrium.defvjp(_equilibrium_forward, _equilibrium_backward)
