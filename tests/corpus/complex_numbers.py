"""Complex inputs: two rules that forget JAX's convention, and a right function that no complex derivative has."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "energy_without_conjugation": ("fail", "GRD102", "w"),
    "complex_leaf_doubled": ("fail", "GRD102", "w"),
    "not_holomorphic": ("pass",),
}

H = np.array([[1.0, 0.5 - 1.0j], [0.5 + 1.0j, -2.0]])
W = np.array([0.3 + 0.7j, -1.1 + 0.2j])


@gradcheck(args=(W,), order=2, modes=("rev",))
@jax.custom_vjp
def energy_without_conjugation(w):
    """JAX's cotangent is 2 conj(H w), the rule returns 2 H w (netket/netket#1110, ComPWA/tensorwaves#567)."""
    return jnp.vdot(w, H @ w).real


energy_without_conjugation.defvjp(lambda w: (energy_without_conjugation(w), w), lambda w, g: (2.0 * g * (H @ w),))


@gradcheck(args=(np.float64(0.8), W), order=2, modes=("rev",))
@jax.custom_vjp
def complex_leaf_doubled(a, w):
    """A factor 2 that was meant for the real leaf is applied to the complex one too (netket/netket#2190, #1127)."""
    return a * jnp.vdot(w, H @ w).real


def _doubled_backward(saved, g):
    a, w = saved
    half = 0.5 * jnp.vdot(w, H @ w).real
    return tuple(2.0 * g * leaf for leaf in (half, 2.0 * a * jnp.conj(H @ w)))


complex_leaf_doubled.defvjp(lambda a, w: (complex_leaf_doubled(a, w), (a, w)), _doubled_backward)


@gradcheck(args=(np.array([0.4 + 0.3j, -1.0 + 0.8j]),), order=2, modes=("fwd", "rev"))
def not_holomorphic(z):
    """Right: the real-linear tangent exists though no complex derivative does (jax-ml/jax#3293, #22948)."""
    return jnp.conj(z) ** 2 * z + z.real * z.imag
