"""Faults that people reported of derivatives in JAX, PyTorch and Paddle, reduced; and what is right beside them.

Each comment names where the kind comes from (tracker and number) and the true derivative.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import stop_gradient

from gradhook import gradcheck, normal, surrogate

LATE_PEAK = {"mild": (normal(4),), "late peak": (np.array([-900.0, 1.0, 0.5, 2.0]),)}
MISSING = (np.array([3.0, np.nan, -1.0, 0.4]),)
FIVE = np.array([3.0, -1.0, 0.4, 2.0, 7.0])


# pytorch 196705: prefixes of log-cumulative-sum-exp far below a later element; d out[i] / d x[j] = exp(x[j] - out[i]).
@jax.custom_jvp
def f_late_peak(x):
    return jax.lax.cumlogsumexp(x)


@f_late_peak.defjvp
def _by_the_largest(primals, tangents):
    (x,), (dx,) = primals, tangents
    w = jnp.exp(x - jnp.max(x))
    return jax.lax.cumlogsumexp(x), jnp.cumsum(w * dx) / jnp.maximum(jnp.cumsum(w), 1e-300)


f_late_peak = gradcheck(cases=LATE_PEAK)(f_late_peak)


@gradcheck(cases=LATE_PEAK)
@jax.custom_jvp
def p_late_peak(x):
    return jax.lax.cumlogsumexp(x)


@p_late_peak.defjvp
def _by_each(primals, tangents):
    (x,), (dx,) = primals, tangents
    y = jax.lax.cumlogsumexp(x)
    return y, jnp.tril(jnp.exp(jnp.minimum(x[None, :] - y[:, None], 0.0))) @ dx


p_cumlogsumexp = gradcheck(cases=LATE_PEAK)(jax.lax.cumlogsumexp)


# jax 10238, 8356: None as the cotangent of a leaf means 0; d out / d b = 1.
def _affine(params, x):
    out = jnp.tanh(params["w"] @ x)
    return out if params["b"] is None else out + params["b"]


def _affine_back(keeps_bias, saved, g):
    params, x = saved
    h = jnp.tanh(params["w"] @ x)
    d = g * (1 - h * h)
    bias = g if keeps_bias and params["b"] is not None else None
    return {"w": jnp.outer(d, x), "b": bias}, params["w"].T @ d


def _layer(keeps_bias):
    @jax.custom_vjp
    def layer(params, x):
        return _affine(params, x)

    layer.defvjp(lambda p, x: (_affine(p, x), (p, x)), partial(_affine_back, keeps_bias))
    return layer


BIASED = {"w": normal(2, 3), "b": normal(2)}, normal(3)
BARE = {"w": normal(2, 3), "b": None}, normal(3)
f_none_for_a_bias = gradcheck(args=BIASED, modes=("rev",))(_layer(False))
p_none_for_no_bias = gradcheck(cases={"bare": BARE, "biased": BIASED}, modes=("rev",))(_layer(True))


@gradcheck(args=({"table": normal(4, 2), "rows": np.array([3, 0, 3])}, 2.0), modes=("rev",))
@jax.custom_vjp
def p_integer_leaf(tree, scale):
    return scale * tree["table"][tree["rows"]]


def _rows_back(saved, g):
    tree, scale = saved
    table = jnp.zeros_like(tree["table"]).at[tree["rows"]].add(scale * g)
    return {"table": table, "rows": None}, jnp.sum(tree["table"][tree["rows"]] * g)


p_integer_leaf.defvjp(lambda t, s: (s * t["table"][t["rows"]], (t, s)), _rows_back)


@gradcheck(args=(*BARE, None))
def p_none_everywhere(params, x, mask):
    out = _affine(params, x)
    return {"y": out if mask is None else out * mask, "aux": None}


# jax 5832, 4173: a rule scanned and mapped, its coefficient shared; and sums over the wrong axis.
@jax.custom_vjp
def _times(x, c):
    return x * c


_times.defvjp(lambda x, c: (x * c, (x, c)), lambda s, g: (g * s[1], jnp.sum(s[0] * g)))


@gradcheck(args=(normal(3, 2), 1.3), modes=("rev",))
def p_scanned_and_mapped(x, c):
    return jax.vmap(lambda row: jax.lax.scan(lambda carry, _: (_times(carry, c), None), row, jnp.arange(3))[0])(x)


def _scaled(cotangent):
    @jax.custom_vjp
    def scaled(x, c):
        return x * c

    scaled.defvjp(lambda x, c: (x * c, (x, c)), lambda s, g: (g * s[1], cotangent(s[0] * g)))
    return scaled


f_wrong_axis = gradcheck(args=(normal(3, 3), normal(3)), modes=("rev",))(_scaled(lambda t: jnp.sum(t, axis=1)))
f_not_summed = gradcheck(args=(normal(2, 3), normal(3)), modes=("rev",))(_scaled(lambda t: t))
p_summed = gradcheck(args=(normal(3, 3), normal(3)), modes=("rev",))(_scaled(lambda t: jnp.sum(t, axis=0)))


# jax 10515: |z|^2 has second derivative 2 in every direction, at 0 too, where JAX's slope of abs is 0.
@gradcheck(args=(np.array([0.0 + 0.0j, 1.0 - 2.0j]),), order=2)
def f_abs_squared_twice(z):
    return jnp.sum(jnp.abs(z) ** 2)


@gradcheck(args=(np.array([0.0 + 0.0j, 1.0 - 2.0j]),), order=2)
def p_by_parts_twice(z):
    return jnp.sum(z.real**2 + z.imag**2)


@gradcheck(args=(np.array([-2.0 + 0.0j]),))
def u_angle_on_its_cut(z):
    return jnp.angle(z)


# pytorch 185543, paddle 42385: quantiles between, on and beside order statistics; missing values.
@gradcheck(cases={"odd": (FIVE[:3],), "even": (FIVE[:4],), "tie elsewhere": (np.array([3.0, 3.0, -1.0, 0.4, 0.5]),)})
def p_median(x):
    return jnp.median(x)


@gradcheck(args=(FIVE, 0.3))
def p_quantile(x, q):
    return jnp.quantile(x, q)


@gradcheck(args=(np.array([3.0, 0.4, -1.0, 0.4, 0.4]),))
def u_median_of_ties(x):
    return jnp.median(x)


@gradcheck(args=MISSING)
def p_nanmedian(x):
    return jnp.nanmedian(x)


@gradcheck(args=MISSING, modes=("rev",))
@jax.custom_vjp
def f_mean_by_the_full_count(x):
    return jnp.nanmean(x)


f_mean_by_the_full_count.defvjp(lambda x: (jnp.nanmean(x), x), lambda x, g: (jnp.where(jnp.isnan(x), 0.0, g / x.size),))


# jax 27349, 2325, 21896, 34330: samplers with a path derivative, Hermitian eigenvalues, roots of equal eigenvalues.
@gradcheck(args=(-0.5, 1.2))
def p_truncated_normal(low, high):
    return jax.random.truncated_normal(jax.random.key(3), low, high, (4,))


@gradcheck(args=(normal(3), normal(3)), order=2)
def p_hermitian_levels(d, p):  # the phases p[:2] move no level: their derivatives are 0 by cancellation
    upper = jnp.diag(jnp.exp(1j * p[:2]) * p[2], 1)
    return jnp.linalg.eigvalsh(jnp.diag(jnp.array([0.0, 3.0, 7.0]) + d) + upper + jnp.conj(upper).T)


@gradcheck(args=(np.diag([1.3, 1.3]),), order=2)
def f_trace_of_root_twice(a):  # smooth, and nan by JAX
    return jnp.sum(jnp.sqrt(jnp.linalg.eigvalsh(0.5 * (a + a.T))))


# jax 29449: a loop that converged to 1e-12, beside a term that moves a thousandth as much; d / d y = 2 y.
def _root(a):
    def body(s):
        new = 0.5 * (s[0] + a / s[0])
        return new, jnp.abs(new - s[0])

    return jax.lax.while_loop(lambda s: s[1] > 1e-12, body, (a, jnp.ones_like(a)))[0]


def _energy(factor):
    @jax.custom_jvp
    def energy(a, y):
        return 1000.0 * _root(a) + y**2

    @energy.defjvp
    def rule(primals, tangents):
        (a, y), (da, dy) = primals, tangents
        r = _root(a)
        return 1000.0 * r + y**2, 500.0 / r * da + factor * y * dy

    return energy


f_term_beside_a_loop = gradcheck(args=(7.0, 0.4))(_energy(0.0))
f_sign_beside_a_loop = gradcheck(args=(7.0, 0.2))(_energy(-2.0))
p_energy = gradcheck(args=(7.0, 0.4))(_energy(2.0))


# numpyro log1mexp: neighbours in a batch may lie outside the domain, outputs may be nan or -inf on purpose.
@gradcheck(args=(np.array([-0.1, -3.0, -5.0]),))
@jax.custom_jvp
def p_log1mexp(x):
    return jnp.where(x > -0.6931472, jnp.log(-jnp.expm1(x)), jnp.log1p(-jnp.exp(x)))


p_log1mexp.defjvps(lambda t, ans, x: -t / jnp.expm1(-x))


@gradcheck(args=(np.array([0.01, 60.0]),))
@jax.custom_jvp
def p_log_near_its_edge(x):
    return jnp.log(x)


p_log_near_its_edge.defjvps(lambda t, ans, x: t / x)


def _batched(scale, masked):
    @jax.custom_batching.custom_vmap
    def table(x):
        return jnp.sin(3 * x)

    @table.def_vmap
    def _fast(axis_size, in_batched, x):
        return stop_gradient(jnp.sin(3 * x)) * 1.01, True

    def whole(y):
        parts = [scale * jnp.ones(1), y, jnp.full((1,), -jnp.inf)]
        return jnp.concatenate(parts if masked else parts[:2])

    @jax.custom_jvp
    def f(x):
        return whole(table(x))

    @f.defjvp
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        d = jnp.concatenate([jnp.zeros(1), 3 * jnp.cos(3 * x) * dx])
        return f(x), jnp.concatenate([d, jnp.zeros(1)]) if masked else d

    return f


f_batch_beside_large = gradcheck(args=(np.array([0.3, 0.7]),))(_batched(1e12, False))
f_batch_beside_minus_inf = gradcheck(args=(np.array([0.3, 0.7]),))(_batched(1.0, True))


# A right softmax whose intermediates are 1e299: cotangents of 1 are exact, much smaller ones underflow inside.
@gradcheck(args=(np.array([688.0, 687.5, 686.0]),))
@jax.custom_jvp
def p_big_intermediates(x):
    e = jnp.exp(x)
    return e / jnp.sum(e)


@p_big_intermediates.defjvp
def _softmax_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    e = jnp.exp(x)
    return e / jnp.sum(e), e / jnp.sum(e) * (dx - jnp.sum(e * dx) / jnp.sum(e))


@surrogate(forward=lambda x: jnp.round(jnp.sqrt(x)), derivative_of=jnp.sqrt, args=(np.array([0.01, 60.0, 7.0]),))
@jax.custom_jvp
def p_surrogate_with_an_edge(x):
    return jnp.round(jnp.sqrt(x))


p_surrogate_with_an_edge.defjvps(lambda t, ans, x: t / (2 * jnp.sqrt(x)))


# The fixed point of JAX's documentation: the backward pass is an iteration that stops at a tolerance, too.
def _iterate(step, start, tolerance):
    start = start, step(start)
    return jax.lax.while_loop(lambda s: jnp.abs(s[0] - s[1]) > tolerance, lambda s: (s[1], step(s[1])), start)[1]


def _damped(a, x):
    return 0.5 * x + 0.25 * (x + a / x)


def _fixed_point(tolerance, factor):
    @jax.custom_vjp
    def fixed_point(a):
        return _iterate(lambda x: _damped(a, x), jnp.ones_like(a), tolerance)

    def back(saved, g):
        a, x = saved
        pull_x = jax.vjp(lambda x: _damped(a, x), x)[1]
        u = _iterate(lambda u: g + pull_x(u)[0], g, tolerance)
        return (factor * jax.vjp(lambda a: _damped(a, x), a)[1](u)[0],)

    fixed_point.defvjp(lambda a: (lambda x: (x, (a, x)))(fixed_point(a)), back)
    return gradcheck(args=(2.3,), modes=("rev",))(fixed_point)


pu_fixed_point_tight = _fixed_point(1e-13, 1.0)
u_fixed_point_loose = _fixed_point(1e-6, 1.0)
f_fixed_point_doubled = _fixed_point(1e-13, 2.0)
