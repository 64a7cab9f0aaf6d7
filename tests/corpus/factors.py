"""Rules that are off by a sign, a factor or a power: claims of exactness, all wrong.

Each case is a publicly reported fault, written anew and reduced; its docstring says what is wrong, and where it was
reported. ``EXPECT`` holds for each the verdict that a checker must reach, and the code and leaf of a finding that names
the cause where there is one.
"""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "sign_slip_in_one_argument": ("fail", "GRD101", "r"),
    "halved_square": ("fail", "GRD102", "x"),
    "smoothing_without_its_width": ("fail", "GRD101", "x"),
    "leaky_ramp_twice_too_steep": ("fail", "GRD102", "x"),
    "tangent_used_twice": ("fail", "GRD203"),
}


@gradcheck(args=(np.array([0.3, 1.1, -0.8]), np.array([1.7, 0.4, 2.2])), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def sign_slip_in_one_argument(t, r):
    """The slope in t is right, that in r has the wrong sign (jax-ml/jax#3213)."""
    return r * jnp.cos(t)


@sign_slip_in_one_argument.defjvp
def _sign_slip_rule(primals, tangents):
    t, r = primals
    dt, dr = tangents
    return sign_slip_in_one_argument(t, r), -r * jnp.sin(t) * dt - jnp.cos(t) * dr


@gradcheck(args=(np.array([0.5, -1.25, 2.0]),), order=2, modes=("rev",))
@jax.custom_vjp
def halved_square(x):
    """The pullback of the square is g * x, without the factor 2 (jax-ml/jax#29485)."""
    return jnp.square(x)


halved_square.defvjp(lambda x: (halved_square(x), x), lambda x, g: (g * x,))

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(12)
WEIGHTS = WEIGHTS / np.sqrt(2 * np.pi)
WIDTH = 0.3


def _perturbed(x):
    u = x[:, None] + WIDTH * NODES
    return u**3 - 2.0 * u


@gradcheck(args=(np.array([0.4, -1.3, 1.9]),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def smoothing_without_its_width(x):
    """The score-function rule of a Gaussian smoothing forgets 1 / width (google-deepmind/optax#1308)."""
    return _perturbed(x) @ WEIGHTS


@smoothing_without_its_width.defjvp
def _smoothing_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    return smoothing_without_its_width(x), _perturbed(x) @ (WEIGHTS * NODES) * dx


HALF, LEAK = 0.8, 0.05


@gradcheck(args=(np.array([-1.5, -0.3, 0.4, 1.1]),), order=2, modes=("rev",))
@jax.custom_vjp
def leaky_ramp_twice_too_steep(x):
    """In the middle the rule says 1 / w, but the slope is 1 / (2 w) (fangwei123456/spikingjelly#412)."""
    tail = LEAK * x + jnp.where(x < 0, LEAK * HALF, 1.0 - LEAK * HALF)
    return jnp.where(jnp.abs(x) > HALF, tail, 0.5 + 0.5 * x / HALF)


leaky_ramp_twice_too_steep.defvjp(
    lambda x: (leaky_ramp_twice_too_steep(x), jnp.abs(x) > HALF),
    lambda outside, g: (g * jnp.where(outside, LEAK, 1.0 / HALF),),
)


@gradcheck(args=(np.array([4.0, 0.25, 1.7]),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def tangent_used_twice(x):
    """The rule of the square root is not linear in the tangent, and right for unit tangents only (jax-ml/jax#4802)."""
    return jnp.sqrt(x)


@tangent_used_twice.defjvp
def _twice_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    root = tangent_used_twice(x)
    slope = dx / (2.0 * root)
    return root, slope * dx
