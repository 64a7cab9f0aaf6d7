"""Functions with right derivatives that checkers are known to reject: claims of exactness that all must pass."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "logits_of_minus_infinity": ("pass",),
    "integer_output": ("pass",),
    "half_precision": ("pass",),
    "missing_values": ("pass",),
    "loop_without_a_reverse_mode": ("pass",),
    "numpy_behind_a_callback": ("pass",),
    "integer_argument": ("pass",),
    "reparameterised_draws": ("pass",),
    "fast_oscillation": ("pass",),
    "cumulative_product_with_zeros": ("pass",),
    "implicit_broadcast_in_a_rule": ("pass",),
}

TARGET = np.array([0.0, 0.25, 0.75])


@gradcheck(args=(np.array([-np.inf, 0.3, 1.0]),), order=2, modes=("fwd", "rev"))
def logits_of_minus_infinity(logits):
    """A masked class: value and derivative are finite, one input is not (google-deepmind/optax#1762)."""
    logp = jax.nn.log_softmax(logits)
    return -jnp.sum(jnp.where(TARGET > 0, TARGET * jnp.where(TARGET > 0, logp, 0.0), 0.0))


@gradcheck(args=(np.array([0.3, 1.9, -0.7]),), order=2, modes=("fwd", "rev"))
def integer_output(x):
    """The index that is returned besides has no derivative (patrick-kidger/diffrax#508, jax-ml/jax#18113)."""
    i = jnp.argmax(x)
    return x[i] ** 2 + jnp.sum(jnp.sin(x)), i


@gradcheck(args=(np.array([0.7, 1.9, -2.3], dtype=np.float16),), order=2, modes=("fwd", "rev"))
def half_precision(x):
    """A step of 1e-4 does not change the argument at all (jax-ml/jax#7742, #39821)."""
    return jnp.sin(x) + x * x


@gradcheck(args=(np.array([np.nan, 1.0, -2.0, 0.5]),), order=2, modes=("fwd", "rev"))
def missing_values(x):
    """A mean of squares that leaves NaN inputs out, with both branches safe (jax-ml/jax#8128, #9040)."""
    known = ~jnp.isnan(x)
    clean = jnp.where(known, x, 0.0)
    return jnp.sum(clean * clean) / jnp.sum(known)


@gradcheck(args=(np.float64(0.9),), order=2, modes=("fwd",))
def loop_without_a_reverse_mode(x):
    """A while_loop as long as the data say has a forward mode only, by design (jax-ml/jax#650, #1980)."""

    def step(state):
        total, term, k = state
        term = term * x / k
        return total + term, term, k + 1.0

    def unfinished(state):
        return (jnp.abs(state[1]) > 1e-14) & (state[2] < 60.0)

    return jax.lax.while_loop(unfinished, step, (jnp.ones_like(x), jnp.ones_like(x), jnp.ones_like(x)))[0]


def _called(function, x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v: function(np.asarray(v)), shape, x, vmap_method="expand_dims")


@gradcheck(args=(np.array([0.4, -1.1, 2.0]),), order=1, modes=("fwd", "rev"))
@jax.custom_jvp
def numpy_behind_a_callback(x):
    """NumPy code with a right rule; the second order does not exist by construction (jax-ml/jax#16650, #30401)."""
    return _called(lambda v: np.arctan(v) * v, x)


@numpy_behind_a_callback.defjvp
def _callback_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    slope = _called(lambda v: np.arctan(v) + v / (1 + v**2), x)
    return numpy_behind_a_callback(x), slope * dx


@gradcheck(args=(np.array([0.5, -1.5, 2.5, 0.1]), np.array([2, 0, 2])), order=2, modes=("fwd", "rev"))
def integer_argument(x, index):
    """No derivative exists with respect to the index, that in x is right (jax-ml/jax#18113, #16000)."""
    return jnp.sum(x[index] ** 2 * jnp.arange(1.0, 4.0))


@gradcheck(args=(np.float64(0.3), np.float64(-0.4)), order=2, modes=("fwd", "rev"))
def reparameterised_draws(mu, log_sigma):
    """Random numbers with a key of their own: a function like any other (jax-ml/jax#27349)."""
    noise = jax.random.normal(jax.random.key(7), (16,), mu.dtype)
    return jnp.mean(jnp.tanh(mu + jnp.exp(log_sigma) * noise))


@gradcheck(args=(np.array([0.31, -0.02]),), order=2, modes=("fwd", "rev"))
def fast_oscillation(x):
    """A step of 1e-4 spans more than a period (jax-ml/jax#641)."""
    return jnp.sin(1e5 * x)


@gradcheck(args=(np.array([2.0, 3.0, 0.0, 1.5]),), order=2, modes=("fwd", "rev"))
def cumulative_product_with_zeros(x):
    """JAX's own, which divides by nothing, at one zero and at two (jax-ml/jax#2542)."""
    return jnp.cumprod(x) + jnp.prod(x * np.array([1.0, 0.0, 1.0, 2.0]))


VECTOR = np.array([1.0, -2.0, 0.5])


@gradcheck(args=(np.float64(0.8),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def implicit_broadcast_in_a_rule(x):
    """The rule broadcasts a scalar tangent, and JAX must sum its transpose (jax-ml/jax#3056, #3768)."""
    return VECTOR * jnp.sin(x)


implicit_broadcast_in_a_rule.defjvp(lambda p, t: (implicit_broadcast_in_a_rule(p[0]), VECTOR * jnp.cos(p[0]) * t[0]))
