"""Each of these is wrong on purpose; ``gradhook check`` says how."""

import jax
import jax.numpy as jnp

from gradhook import case, gradcheck, normal


@gradcheck(args=(normal(4), normal(4)))
@jax.custom_vjp
def squared_error(prediction, target):
    """The rule forgets the factor 2 of the square in its second argument."""
    return jnp.sum((prediction - target) ** 2)


def _forward(prediction, target):
    return squared_error(prediction, target), prediction - target


def _backward(error, cotangent):
    return 2 * cotangent * error, -cotangent * error


squared_error.defvjp(_forward, _backward)


@gradcheck(cases={"at the boundary": case(0.0)})
def root_or_zero(x):
    """where() guards the value at 0, but not the gradient: 0 * inf is nan."""
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)


@gradcheck(cases={"at the corner": case(1.0)})
def hinge(x):
    """Right on both sides; at the corner there are two slopes and no convention is declared."""
    return jnp.maximum(0.0, 1.0 - x)


@gradcheck(args=(normal(4),), order=2)
@jax.custom_jvp
def log_sum(x):
    """First derivatives hold; the rule's stop_gradient makes every second derivative 0."""
    return jax.nn.logsumexp(x)


@log_sum.defjvp
def _log_sum_rule(primals, tangents):
    weights = jax.lax.stop_gradient(jax.nn.softmax(primals[0]))
    return log_sum(primals[0]), weights @ tangents[0]
