"""What lies between the reported faults of surrogate gradients: spikes, learned steps and networks of them."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import surrogate

EXPECT = {
    "network_of_spikes": ("pass",),
    "learned_step": ("pass",),
    "learned_step_without_its_factor": ("fail", "GRD202", "s"),
    "cotangent_rounded_too": ("fail", "GRD203"),
    "value_of_the_input": ("fail", "GRD201"),
    "ternary_with_a_closed_threshold": ("fail", "GRD201"),
    "superspike_without_its_abs": ("fail", "GRD202", "x"),
    "threshold_with_the_wrong_sign": ("fail", "GRD202", "threshold"),
}

X = np.array([0.3, -1.7, 2.2, 0.8])


def _step(x):
    return (x >= 0).astype(x.dtype)


@jax.custom_jvp
def _spike(x):
    return (x >= 0).astype(x.dtype)


_spike.defjvp(lambda p, t: (_spike(p[0]), t[0] / (1.0 + 10.0 * jnp.abs(p[0])) ** 2))
CURRENT = (0.5, 0.9, 0.3, 1.0)


def _spikes(w):
    v, total = 0.0 * w, 0.0 * w
    for current in CURRENT:
        v = 0.8 * v + w * current
        fired = _step(v - 1.0)
        v, total = v - fired, total + fired
    return total


def _tangent_of_spikes(primals, tangents):
    (w,), (dw,) = primals, tangents
    v, dv, total = 0.0 * w, 0.0 * dw, 0.0 * dw
    for current in CURRENT:
        v, dv = 0.8 * v + w * current, 0.8 * dv + dw * current
        slope = dv / (1.0 + 10.0 * jnp.abs(v - 1.0)) ** 2
        v, dv, total = v - _step(v - 1.0), dv - slope, total + slope
    return total


@surrogate(forward=_spikes, rule=_tangent_of_spikes, args=(np.float64(1.1),), modes=("fwd", "rev"))
def network_of_spikes(w):
    """Right: the loss of the rule in a second derivative of scan is JAX's (of the kind of norse/norse#306)."""

    def tick(v, current):
        v = 0.8 * v + w * current
        fired = _spike(v - 1.0)
        return v - fired, fired

    return jnp.sum(jax.lax.scan(tick, 0.0 * w, jnp.array(CURRENT))[1])


LEAST, MOST = -4.0, 3.0
FACTOR = 15.0**-0.5


def _quantised(x, s):
    return jnp.round(jnp.clip(x / s, LEAST, MOST)) * s


def _slopes(x, s):
    u = x / s
    return (u > LEAST) & (u < MOST), jnp.where(u <= LEAST, LEAST, jnp.where(u >= MOST, MOST, jnp.round(u) - u))


def _tangent_of_a_learned_step(primals, tangents):
    inside, of_step = _slopes(*primals)
    return inside * tangents[0] + FACTOR * of_step * tangents[1]


WEIGHTS = (np.array([0.33, -0.9, 1.2, 5.0, -4.2]), np.float64(0.37))


@surrogate(forward=_quantised, rule=_tangent_of_a_learned_step, args=WEIGHTS, modes=("rev",))
@jax.custom_vjp
def learned_step(x, s):
    """Right: a learned step with the factor of its gradient (of the kind of microsoft/nni#3160)."""
    return _quantised(x, s)


learned_step.defvjp(
    lambda x, s: (learned_step(x, s), (x, s)),
    lambda saved, g: (g * _slopes(*saved)[0], FACTOR * jnp.sum(g * _slopes(*saved)[1])),
)


@surrogate(forward=_quantised, rule=_tangent_of_a_learned_step, args=WEIGHTS, modes=("rev",))
@jax.custom_vjp
def learned_step_without_its_factor(x, s):
    """The gradient in the step is not scaled (of the kind of microsoft/nni#3160, tensorflow/tensorflow#22977)."""
    return _quantised(x, s)


learned_step_without_its_factor.defvjp(
    lambda x, s: (learned_step_without_its_factor(x, s), (x, s)),
    lambda saved, g: (g * _slopes(*saved)[0], jnp.sum(g * _slopes(*saved)[1])),
)


def _halved(x):
    return x.astype(jnp.bfloat16).astype(x.dtype)


@surrogate(forward=_halved, rule=lambda p, t: t[0], args=(X,), modes=("rev",))
@jax.custom_vjp
def cotangent_rounded_too(x):
    """The cotangent goes through bfloat16 as well, and is no longer the identity (of the kind of jax-ml/jax#19538)."""
    return _halved(x)


cotangent_rounded_too.defvjp(lambda x: (cotangent_rounded_too(x), None), lambda _, g: (_halved(g),))


@surrogate(forward=np.round, rule=lambda p, t: t[0], args=(X,), modes=("fwd", "rev"))
@jax.custom_jvp
def value_of_the_input(x):
    """Differentiated, the value is the input and not the rounded one (of the kind of flaport/inverse_design#13)."""
    return jnp.round(x)


value_of_the_input.defjvp(lambda p, t: (p[0], t[0]))


def _ternary(x):
    return jnp.where(jnp.abs(x) > 0.5, jnp.sign(x), 0.0)


@surrogate(forward=_ternary, rule=lambda p, t: t[0], args=(X,), modes=("fwd", "rev"))
@jax.custom_jvp
def ternary_with_a_closed_threshold(x):
    """The threshold belongs to the outside, not to the inside as declared (of the kind of pytorch/ao#4806)."""
    return jnp.where(jnp.abs(x) >= 0.5, jnp.sign(x), 0.0)


ternary_with_a_closed_threshold.defjvp(lambda p, t: (ternary_with_a_closed_threshold(p[0]), t[0]))


@surrogate(
    forward=_step, rule=lambda p, t: t[0] / (1.0 + 10.0 * np.abs(p[0])) ** 2, args=(X,), modes=("fwd", "rev")
)  # fmt: skip
@jax.custom_jvp
def superspike_without_its_abs(x):
    """Right above the threshold, and with a pole below it (of the kind of brainpy/BrainPy#833)."""
    return (x >= 0).astype(x.dtype)


superspike_without_its_abs.defjvp(lambda p, t: (superspike_without_its_abs(p[0]), t[0] / (1.0 + 10.0 * p[0]) ** 2))


def _fires(v, threshold):
    return (v >= threshold).astype(v.dtype)


@surrogate(
    forward=_fires, rule=lambda p, t: (t[0] - t[1]) / (1.0 + 5.0 * np.abs(p[0] - p[1])) ** 2,
    args=(np.array([0.3, 1.2, 1.0]), np.ones(3)), modes=("fwd", "rev"),
)  # fmt: skip
@jax.custom_jvp
def threshold_with_the_wrong_sign(v, threshold):
    """A higher threshold fires less; its slope has the sign of the input's (of the kind of synsense/sinabs#97)."""
    return (v >= threshold).astype(v.dtype)


@threshold_with_the_wrong_sign.defjvp
def _threshold_rule(primals, tangents):
    v, threshold = primals
    slope = 1.0 / (1.0 + 5.0 * jnp.abs(v - threshold)) ** 2
    return threshold_with_the_wrong_sign(v, threshold), (tangents[0] + tangents[1]) * slope
