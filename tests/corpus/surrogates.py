"""Surrogate gradients: the value and the slope that were promised stand in the claim; some keep the promise."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import surrogate

EXPECT = {
    "straight_through_that_cancels": ("fail", "GRD201"),
    "clip_after_rounding": ("fail", "GRD202", "x"),
    "gaussian_by_precedence": ("fail", "GRD202", "x"),
    "integers_between": ("fail", "GRD202", "x"),
    "sigmoid_that_overflows": ("fail", "GRD202", "x"),
    "superspike": ("pass",),
    "hard_gumbel_softmax": ("pass",),
    "clipped_rounding_inclusive": ("pass",),
}


@surrogate(
    forward=np.sign, rule=lambda primals, tangents: tangents[0], args=(np.array([0.3, -2.0, 1e17]),),
    modes=("fwd", "rev"),
)  # fmt: skip
def straight_through_that_cancels(x):
    """The slope is 1 as promised, but where x is large the value is 0 instead of 1 (jax-ml/jax#9032, #9033)."""
    return x + jax.lax.stop_gradient(jnp.sign(x) - x)


STEP, LEAST, MOST = 0.125, -8.0, 7.0


def _quantised(x):
    return STEP * np.clip(np.round(x / STEP), LEAST, MOST)


def _identity_inside(primals, tangents):
    r = np.round(primals[0] / STEP)
    return tangents[0] * ((r >= LEAST) & (r <= MOST))


@surrogate(
    forward=_quantised, rule=_identity_inside, args=(np.array([0.33, 0.88, 0.90, 1.4, -1.01]),), modes=("fwd", "rev")
)
def clip_after_rounding(x):
    """Rounded values sit exactly on the bound, where JAX's clip has the slope 1/2 (pytorch/ao#4806)."""
    u = x / STEP
    rounded = u - jax.lax.stop_gradient(u) + jax.lax.stop_gradient(jnp.round(u))
    return STEP * jnp.clip(rounded, LEAST, MOST)


SIGMA = 0.5


def _step(x):
    return (x >= 0).astype(x.dtype)


def _gaussian(primals, tangents):
    z = primals[0] / SIGMA
    return np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * SIGMA) * tangents[0]


@surrogate(forward=_step, rule=_gaussian, args=(np.array([-1.2, -0.1, 0.4, 2.0]),), modes=("fwd", "rev"))
@jax.custom_jvp
def gaussian_by_precedence(x):
    """exp(-x**2 / 2 * s**2) multiplies by s**2 instead of dividing: right for s = 1 only (brainpy/BrainPy#833)."""
    return (x >= 0).astype(x.dtype)


@gaussian_by_precedence.defjvp
def _gaussian_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    bump = jnp.exp(-(x**2) / 2 * SIGMA**2) / (np.sqrt(2 * np.pi) * SIGMA)
    return gaussian_by_precedence(x), bump * dx


@jax.custom_vjp
def _to_int8(x):
    return jnp.round(x).astype(jnp.int8)


_to_int8.defvjp(lambda x: (_to_int8(x), None), lambda _, g: (g,))


@surrogate(
    forward=np.round, rule=lambda primals, tangents: tangents[0], args=(np.array([1.3, -2.6, 0.2]),), modes=("rev",)
)
def integers_between(x):
    """The pullback is the identity, but int8 has no cotangents: the slope is silently 0 (jax-ml/jax#18931, #19538)."""
    return _to_int8(x).astype(x.dtype)


STEEP = 25.0


def _sigmoid_slope(primals, tangents):
    s = 0.5 * (1.0 + np.tanh(0.5 * STEEP * primals[0]))
    return tangents[0] * STEEP * s * (1.0 - s)


@surrogate(
    forward=lambda x: np.where(x > 0, 1.0, 0.0), rule=_sigmoid_slope, args=(np.array([-40.0, -0.05, 0.02, 0.3]),),
    modes=("fwd", "rev"),
)  # fmt: skip
@jax.custom_jvp
def sigmoid_that_overflows(x):
    """e / (1 + e)**2 with e = exp(-k x) is inf / inf at -40, where almost 0 was promised (jeshraghian/snntorch#427)."""
    return jnp.where(x > 0, 1.0, 0.0)


@sigmoid_that_overflows.defjvp
def _overflowing_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    e = jnp.exp(-STEEP * x)
    return sigmoid_that_overflows(x), dx * STEEP * e / (1.0 + e) ** 2


SHARP = 10.0


def _fast_sigmoid_slope(primals, tangents):
    return tangents[0] / (1.0 + SHARP * np.abs(primals[0])) ** 2


@surrogate(
    forward=_step, rule=_fast_sigmoid_slope, args=(np.array([-0.4, -0.01, 0.0, 0.2, 3.0]),), modes=("fwd", "rev")
)
@jax.custom_jvp
def superspike(v):
    """Right: the true slope is 0, the declared one holds in both modes (jaxleyverse/jaxley#735)."""
    return (v >= 0).astype(v.dtype)


superspike.defjvp(lambda p, t: (superspike(p[0]), t[0] / (1.0 + SHARP * jnp.abs(p[0])) ** 2))

TEMPERATURE = 0.7


def _noisy(logits):
    return logits + jax.random.gumbel(jax.random.key(4), logits.shape, logits.dtype)


def _hardest(logits):
    z = np.asarray(_noisy(jnp.asarray(logits)))
    return np.eye(z.size)[int(np.argmax(z))]


def _slope_of_the_soft_sample(primals, tangents):
    z = np.asarray(_noisy(jnp.asarray(primals[0]))) / TEMPERATURE
    p = np.exp(z - z.max())
    p = p / p.sum()
    return p * (tangents[0] - np.sum(p * tangents[0])) / TEMPERATURE


@surrogate(
    forward=_hardest, rule=_slope_of_the_soft_sample, args=(np.array([0.1, 1.2, -0.5, 0.4]),), modes=("fwd", "rev")
)
def hard_gumbel_softmax(logits):
    """Right: the value is one-hot, the slope that of the soft sample (pyro-ppl/numpyro#548, danijar/dreamerv2#37)."""
    z = _noisy(logits)
    soft = jax.nn.softmax(z / TEMPERATURE)
    hard = jax.nn.one_hot(jnp.argmax(z), z.size, dtype=z.dtype)
    return (soft - jax.lax.stop_gradient(soft)) + hard


LOW, HIGH = -2.0, 3.0


def _clipped_identity(primals, tangents):
    return np.where((primals[0] >= LOW) & (primals[0] <= HIGH), tangents[0], 0.0)


@surrogate(
    forward=lambda x: np.clip(np.round(x), LOW, HIGH), rule=_clipped_identity,
    args=(np.array([-2.0, -5.3, 0.49, 3.0, 3.2]),), modes=("rev",),
)  # fmt: skip
@jax.custom_vjp
def clipped_rounding_inclusive(x):
    """Right: the bounds belong to the inside, as declared (pytorch/ao#4806, openvinotoolkit/nncf#50)."""
    return jnp.clip(jnp.round(x), LOW, HIGH)


clipped_rounding_inclusive.defvjp(
    lambda x: (clipped_rounding_inclusive(x), x), lambda x, g: (jnp.where((x >= LOW) & (x <= HIGH), g, 0.0),)
)
