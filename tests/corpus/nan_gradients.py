"""Derivatives that are NaN or infinite where the function is smooth: claims of exactness, all wrong."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "clipped_scatter_max": ("fail", "GRD105", "t"),
    "log_in_the_other_branch": ("fail", "GRD105", "x"),
    "arccos_of_clip": ("fail", "GRD105", "x"),
    "sum_of_zero_probabilities": ("fail", "GRD105", "x"),
    "elu_that_overflows": ("fail", "GRD105", "x"),
    "squared_norm_at_zero": ("fail", "GRD105", "x"),
    "matern_at_zero_distance": ("fail", "GRD105", "x"),
    "determinant_through_the_inverse": ("fail", "GRD105", "a"),
    "svd_with_equal_singular_values": ("fail", "GRD105", "a"),
}


BASE = np.array([1.0, 3.0, 4.0])
OUTSIDE, CLIPPED = np.array([-4, 8]), np.array([0, 2])


@jax.custom_jvp
def _scatter_max(updates):
    return jnp.asarray(BASE).at[CLIPPED].max(updates)


@_scatter_max.defjvp
def _scatter_max_rule(primals, tangents):
    (updates,), (d_updates,) = primals, tangents
    out = _scatter_max(updates)
    won = updates == out[CLIPPED]
    count = jnp.zeros(3).at[OUTSIDE].add(won.astype(out.dtype), mode="drop")[CLIPPED]
    return out, jnp.zeros(3).at[CLIPPED].add(jnp.where(won, d_updates / count, 0.0))


@gradcheck(args=(np.float64(0.03125),), order=2, modes=("fwd", "rev"))
def clipped_scatter_max(t):
    """The rule counts the winners at indices that it forgot to clip, and divides by 0 (jax-ml/jax#40626, #40648)."""
    return _scatter_max(t * np.array([1.0, -1.0]) + np.array([1.0, 4.0]))


@gradcheck(args=(np.array([0.0, 2.0, 0.5]),), order=2, modes=("fwd", "rev"))
def log_in_the_other_branch(x):
    """At 0, reverse mode is NaN through the branch that was not selected (jax-ml/jax#347, #5798)."""
    return jnp.where(x > 1.0, jnp.log(x), x - 1.0)


@gradcheck(args=(np.array([10.0, 0.3]),), order=2, modes=("fwd", "rev"))
def arccos_of_clip(x):
    """Constant at x = 10, where its derivative is 0 * inf (jax-ml/jax#23649)."""
    return jnp.arccos(jnp.clip(x, -1.0, 1.0))


@gradcheck(args=(np.float64(1.0),), order=2, modes=("fwd", "rev"))
def sum_of_zero_probabilities(x):
    """Two zero probabilities, held as logarithms: the sum is 0 and flat, its derivative NaN (jax-ml/jax#6811)."""
    logs = jnp.stack([jnp.full_like(x, -jnp.inf), x - jnp.inf])
    return jnp.exp(jax.nn.logsumexp(logs, axis=0))


@gradcheck(args=(np.array([-0.6, 1.5, 800.0]),), order=2, modes=("fwd", "rev"))
def elu_that_overflows(x):
    """At 800 the branch that was not selected overflows, and reverse mode is NaN instead of 1 (jax-ml/jax#1538)."""
    return jnp.where(x > 0, x, jnp.expm1(x))


@gradcheck(args=(np.zeros(3),), order=2, modes=("fwd", "rev"))
def squared_norm_at_zero(x):
    """Smooth with a slope of 0, but differentiated through the norm, which is not (jax-ml/jax#4177, #21723)."""
    return jnp.linalg.norm(x) ** 2


KNOT = np.array([0.3, -0.2])


@gradcheck(args=(KNOT.copy(),), order=2, modes=("fwd", "rev"))
def matern_at_zero_distance(x):
    """The Matern-5/2 kernel is smooth at distance 0, the square root inside is not (dfm/tinygp#115)."""
    r = np.sqrt(5.0) * jnp.sqrt(jnp.sum((x - KNOT) ** 2))
    return (1.0 + r + r * r / 3.0) * jnp.exp(-r)


@gradcheck(args=(np.array([[1.0, 2.0], [2.0, 4.0]]),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def determinant_through_the_inverse(a):
    """det(A) * trace(inv(A) dA) of a singular matrix is 0 * inf, not the cofactors (jax-ml/jax#2380, #2809)."""
    return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]


@determinant_through_the_inverse.defjvp
def _determinant_rule(primals, tangents):
    (a,), (da,) = primals, tangents
    d = determinant_through_the_inverse(a)
    inverse = jnp.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]]) / d
    return d, d * jnp.trace(inverse @ da)


WEIGHT = np.arange(9.0).reshape(3, 3) / 4.0


@gradcheck(args=(np.diag([1.0, 1.0, 2.0]),), order=2, modes=("fwd", "rev"))
def svd_with_equal_singular_values(a):
    """U S V is the matrix itself and smooth; equal singular values make the derivative NaN (jax-ml/jax#8732)."""
    u, s, vt = jnp.linalg.svd(a, full_matrices=False)
    return jnp.sum(WEIGHT * ((u * s) @ vt))
