"""Losses whose derivatives hold, each with the care that its counterpart in ``wrong/`` lacks."""

import jax
import jax.numpy as jnp

from gradhook import case, gradcheck, normal, positive, raises


@gradcheck(
    args=(normal(5), normal(5)),
    cases={"one element": (normal(1), normal(1)), "on the bend": case(normal(3), normal(3), kwargs={"delta": 0.25})},
)
def huber(prediction, target, delta=1.0):
    """Quadratic near 0, linear far away; differentiable everywhere."""
    error = jnp.abs(prediction - target)
    return jnp.where(error <= delta, 0.5 * error**2, delta * (error - 0.5 * delta))


@gradcheck(args=(normal(4),), order=2, exact=jax.nn.softmax)
def stable_log_sum(x):
    """log(sum(exp(x))), shifted so that nothing overflows."""
    top = jax.lax.stop_gradient(jnp.max(x))
    return top + jnp.log(jnp.sum(jnp.exp(x - top)))


@gradcheck(cases={"inside": (positive(3),), "at the boundary": case(0.0, kink=0.0)})
def safe_root(x):
    """sqrt, by convention with gradient 0 at 0: the input of the unselected branch is made harmless as well."""
    inside = x > 0
    return jnp.where(inside, jnp.sqrt(jnp.where(inside, x, 1.0)), 0.0)


@gradcheck(args=(normal(2, 3), normal(3)), cases={"mismatch": raises(TypeError, normal(2, 3), normal(4))})
def scores(features, weights):
    """A small linear model; a shape that does not fit is refused alike with and without differentiation."""
    return jnp.tanh(features @ weights)
