"""Values that are uncertain by more than rounding, and a rule that is not that of the sampled path."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "gamma_draws": ("not pass",),
    "loosely_converged_iteration": ("not fail",),
    "amplified_rounding": ("not fail",),
}


@gradcheck(args=(np.float64(1.7),), order=1, modes=("fwd", "rev"))
def gamma_draws(shape):
    """The built-in rule is the implicit gradient, not that of this path with its rejections (jax-ml/jax#27349)."""
    return jax.random.gamma(jax.random.key(0), shape, (4,)).sum()


def _iterate(a):
    def far(s):
        return jnp.abs(s[0] - s[1]) > 1e-6

    def step(s):
        return s[1], jnp.cos(a * s[1])

    return jax.lax.while_loop(far, step, (jnp.full_like(a, 9.0), jnp.full_like(a, 0.5)))[1]


@gradcheck(args=(np.float64(0.81175044532),), order=1, modes=("fwd", "rev"))
@jax.custom_jvp
def loosely_converged_iteration(a):
    """The rule is right, the value jumps by 5e-7 where one more step is made (pasteurlabs/tesseract-core#740)."""
    return _iterate(a)


@loosely_converged_iteration.defjvp
def _iteration_rule(primals, tangents):
    (a,), (da,) = primals, tangents
    x = loosely_converged_iteration(a)
    s = jnp.sin(a * x)
    return x, -s * x * da / (1.0 + a * s)


@gradcheck(args=(np.array([0.7, -1.2, 2.9]),), order=1, modes=("fwd", "rev"))
def amplified_rounding(x):
    """The slope is 1; differences see a zero amplified by 1e9 (jax-ml/jax#12328, #15588)."""
    return x + 1e9 * (jnp.sin(x) ** 2 + jnp.cos(x) ** 2 - 1.0)
