"""Rules that are right for one input and wrong for a batch of them: claims of exactness, all wrong."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

from gradhook import gradcheck

EXPECT = {
    "rule_lost_in_a_fast_path": ("fail", "GRD101", "x"),
    "normalised_over_the_batch": ("fail", "GRD205"),
}


def _cube_root(x):
    def step(_, bounds):
        middle = 0.5 * (bounds[0] + bounds[1])
        below = middle**3 < x
        return jnp.where(below, middle, bounds[0]), jnp.where(below, bounds[1], middle)

    low, high = jax.lax.fori_loop(0, 60, step, (jnp.zeros_like(x), jnp.full_like(x, 4.0)))
    return 0.5 * (low + high)


_ruled = jax.custom_jvp(_cube_root)
_ruled.defjvp(lambda p, t: (_ruled(p[0]), t[0] / (3.0 * _ruled(p[0]) ** 2)))
_mapped = custom_vmap(_ruled)


@_mapped.def_vmap
def _fast_path(axis_size, in_batched, x):
    return _cube_root(x), in_batched[0]


@gradcheck(args=(np.array([0.5, 2.0, 9.0]),), order=2, modes=("fwd", "rev"))
def rule_lost_in_a_fast_path(x):
    """The batched path calls the bisection without its rule: the slope is 0 under vmap (jax-ml/jax#1249)."""
    return jax.vmap(_mapped)(x)


@custom_vmap
def _weights(x):
    e = jnp.exp(x - jnp.max(x))
    return e / jnp.sum(e)


@_weights.def_vmap
def _weights_of_a_batch(axis_size, in_batched, x):
    e = jnp.exp(x - jnp.max(x, axis=0))
    return e / jnp.sum(e, axis=0), in_batched[0]


@gradcheck(args=(np.array([0.2, 1.5, -0.7]),), order=1, modes=("fwd", "rev"))
@jax.custom_jvp
def normalised_over_the_batch(x):
    """The batching rule of the weights normalises over the batch: wrong under vmap only (brainpy/BrainPy#679)."""
    return jax.nn.logsumexp(x)


@normalised_over_the_batch.defjvp
def _normalised_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    return normalised_over_the_batch(x), jnp.sum(_weights(x) * dx)
