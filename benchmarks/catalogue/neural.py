"""Functions of ``jax.nn``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp

from catalogue.records import Entry, close, kink, several, unary, unclear

CLOSE = {-1e-12: close()}
NEAR = (0.7, -1.3, 2.4, 0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 6.0, 1e-5, -1e-12, 50.0, -50.0)
ROWS = [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],), ([50.0, 0.0, 1.0],)]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def softplus(x: Any) -> Any:
    return mp.log1p(mp.exp(x))


def phi(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def standardize(x: Any) -> Any:
    mean = mp.fsum(x) / len(x)
    variance = mp.fsum(v * v for v in x) / len(x) - mean * mean
    return [(v - mean) / mp.sqrt(variance + mp.mpf(1e-5)) for v in x]


def attention(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.dot_product_attention(q[None, :, None], k[None, :, None], v[None, :, None])


ENTRIES: tuple[Entry, ...] = (
    unary("nn.relu", jax.nn.relu, NEAR, lambda x: max(x, mp.mpf(0)), {0.0: kink(), **CLOSE}),
    unary("nn.relu6", jax.nn.relu6, NEAR, lambda x: min(max(x, mp.mpf(0)), 6), {0.0: kink(), 6.0: kink(), **CLOSE}),
    unary(
        "nn.elu",
        jax.nn.elu,
        NEAR,
        lambda x: x if x > 0 else mp.expm1(x),
        {0.0: kink("first derivative has a kink", 2), **CLOSE},
    ),
    unary(
        "nn.celu",
        lambda x: jax.nn.celu(x, 1.5),
        NEAR,
        lambda x: x if x > 0 else 1.5 * mp.expm1(x / 1.5),
        {0.0: kink("first derivative has a kink", 2), **CLOSE},
    ),
    unary("nn.selu", jax.nn.selu, NEAR, None, {0.0: kink(), **CLOSE}),
    unary(
        "nn.gelu (tanh)",
        jax.nn.gelu,
        NEAR,
        lambda x: x / 2 * (1 + mp.tanh(mp.mpf(float(jnp.sqrt(2 / jnp.pi))) * (x + mp.mpf(0.044715) * x**3))),
    ),
    unary("nn.gelu (exact)", lambda x: jax.nn.gelu(x, approximate=False), NEAR, lambda x: x * phi(x)),
    unary("nn.silu", jax.nn.silu, (*NEAR, 700.0, -700.0), lambda x: x * sigmoid(x)),
    unary("nn.mish", jax.nn.mish, NEAR, lambda x: x * mp.tanh(softplus(x))),
    unary("nn.softplus", jax.nn.softplus, (*NEAR, 700.0, -700.0), softplus),
    unary(
        "nn.soft_sign",
        jax.nn.soft_sign,
        NEAR,
        lambda x: x / (abs(x) + 1),
        {0.0: kink("first derivative has a kink", 2), **CLOSE},
    ),
    unary("nn.sigmoid", jax.nn.sigmoid, (*NEAR, 700.0, -700.0), sigmoid),
    unary("nn.log_sigmoid", jax.nn.log_sigmoid, (*NEAR, 700.0, -700.0), lambda x: -softplus(-x)),
    unary("nn.hard_tanh", jax.nn.hard_tanh, NEAR, lambda x: min(max(x, -mp.mpf(1)), 1), {1.0: kink(), -1.0: kink()}),
    unary(
        "nn.hard_sigmoid",
        jax.nn.hard_sigmoid,
        NEAR,
        lambda x: min(max(x + 3, mp.mpf(0)), 6) / 6,
        {3.0: kink(), -3.0: kink()},
    ),
    unary(
        "nn.hard_silu",
        jax.nn.hard_silu,
        NEAR,
        lambda x: x * min(max(x + 3, mp.mpf(0)), 6) / 6,
        {3.0: kink(), -3.0: kink()},
    ),
    unary("nn.leaky_relu", jax.nn.leaky_relu, NEAR, lambda x: x if x > 0 else mp.mpf(0.01) * x, {0.0: kink(), **CLOSE}),
    unary("nn.squareplus", jax.nn.squareplus, NEAR, lambda x: (x + mp.sqrt(x * x + 4)) / 2),
    unary(
        "nn.sparse_plus",
        jax.nn.sparse_plus,
        NEAR,
        lambda x: mp.mpf(0) if x <= -1 else x if x >= 1 else (x + 1) ** 2 / 4,
        {1.0: kink("first derivative has a kink", 2), -1.0: kink("first derivative has a kink", 2)},
    ),
    unary(
        "nn.sparse_sigmoid",
        jax.nn.sparse_sigmoid,
        NEAR,
        lambda x: min(max((x + 1) / 2, mp.mpf(0)), 1),
        {1.0: kink(), -1.0: kink()},
    ),
    unary(
        "nn.log1mexp", jax.nn.log1mexp, (0.7, 1.3, 2.4, 0.5, 1.0, 1e-5, 1e-12, 50.0), lambda x: mp.log(-mp.expm1(-x))
    ),
    unary("nn.identity", jax.nn.identity, NEAR, lambda x: x),
    several("nn.logmeanexp", jax.nn.logmeanexp, ROWS, lambda x: mp.log(mp.fsum(map(mp.exp, x)) / len(x))),
    several(
        "nn.standardize",
        jax.nn.standardize,
        [([0.7, -1.3, 2.4],), ([1.0, 1.0, 1.0],), ([1e3, -1e3, 0.0],)],
        standardize,
    ),
    several(
        "nn.glu",
        jax.nn.glu,
        [([0.7, -1.3, 2.4, 0.3],), ([0.0, 0.0, 0.0, 0.0],), ([50.0, 1.0, -50.0, 0.0],)],
        lambda x: [a * sigmoid(b) for a, b in zip(x[:2], x[2:], strict=True)],
    ),
    several(
        "nn.dot_product_attention",
        attention,
        [
            (
                [[0.7, -1.3], [2.4, 0.3], [0.1, 0.2]],
                [[0.5, 0.4], [1.2, -0.3], [0.9, 0.8]],
                [[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]],
            )
        ],
        None,
        {0: unclear("softmax in float32", "GRD406", "GRD407")},
    ),
)
