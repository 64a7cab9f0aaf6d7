"""Values that are uncertain by more than rounding, and a rule that is not that of the sampled path."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "gamma_draws": ("not pass",),
    "loosely_converged_iteration": ("not fail",),
    "amplified_rounding": ("not fail",),
    "converged_to_a_ten_thousandth": ("not fail",),
    "conjugate_gradients_as_they_come": ("not fail",),
    "second_derivative_cut_off": ("not pass",),
    "product_in_half_precision": ("undecided", "GRD406"),
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


@gradcheck(args=(np.float64(0.9),), modes=("fwd",))
@jax.custom_jvp
def converged_to_a_ten_thousandth(a):
    """No jump, but the slope is off by more than the tolerance (of the kind of pasteurlabs/tesseract-core#740)."""

    def far(s):
        return jnp.abs(s[0] - s[1]) > 1e-4

    def step(s):
        return s[1], jnp.cos(a * s[1])

    return jax.lax.while_loop(far, step, (jnp.full_like(a, 9.0), jnp.full_like(a, 0.5)))[1]


@converged_to_a_ten_thousandth.defjvp
def _truncated_rule(primals, tangents):
    (a,), (da,) = primals, tangents
    x = converged_to_a_ten_thousandth(a)
    s = jnp.sin(a * x)
    return x, -s * x * da / (1.0 + a * s)


@gradcheck(args=(np.array([1.0, 2.0, 3.0]),))
def conjugate_gradients_as_they_come(b):
    """JAX differentiates the exact solution, the tolerance is 1e-5 (of the kind of pasteurlabs/tesseract-core#706)."""
    matrix = jnp.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]])
    return jax.scipy.sparse.linalg.cg(lambda v: matrix @ v, b)[0]


@gradcheck(args=(np.array([0.0, 0.5]),), order=2)
def second_derivative_cut_off(x):
    """JAX says 0 at 0, true is -1/3; below 1e-8 its gradient stands still (of the kind of jax-ml/jax#34139)."""
    safe = jnp.where(x == 0, 1.0, x)
    return jnp.where(x == 0, 1.0, jnp.sin(safe) / safe)


@gradcheck(args=(np.array([0.3, 0.1, -0.4, 0.2]),))
def product_in_half_precision(x):
    """Steps below 1e-3 change nothing: no reason to call a right rule wrong (of the kind of jax-ml/jax#7742)."""
    weights = jnp.linspace(-1.0, 1.0, 16, dtype=jnp.bfloat16).reshape(4, 4)
    return jnp.sum((x.astype(jnp.bfloat16) @ weights).astype(x.dtype))
