"""Small compositions as people write them: losses, layers, steps of solvers, naive formulas."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np

from catalogue.records import Entry, kink, several, unary, unclear

V, W = [0.7, -1.3, 2.4], [0.3, 1.7, -0.4]
A = [[0.7, -1.3, 0.2], [2.4, 0.3, -0.6]]
NAIVE = (0.7, -1.3, 2.4, 0.0, 10.0, -10.0, 30.0, -30.0, -40.0, -50.0, 50.0)


def layer(w: Any, b: Any, x: Any) -> Any:
    return jnp.tanh(w @ x + b)


def mlayer(w: Any, b: Any, x: Any) -> Any:
    return [mp.tanh(mp.fdot(row, x) + c) for row, c in zip(w, b, strict=True)]


def cross_entropy(logits: Any) -> Any:
    return -jax.nn.log_softmax(logits)[1]


def mcross_entropy(x: Any) -> Any:
    return mp.log(mp.fsum(mp.exp(v) for v in x)) - x[1]


def layer_norm(x: Any) -> Any:
    return (x - x.mean()) / jnp.sqrt(x.var() + 1e-6)


def mlayer_norm(x: Any) -> Any:
    mean = mp.fsum(x) / len(x)
    spread = mp.sqrt(mp.fsum((v - mean) ** 2 for v in x) / len(x) + mp.mpf(1e-6))
    return [(v - mean) / spread for v in x]


def cosine(a: Any, b: Any) -> Any:
    return a @ b / (jnp.linalg.norm(a) * jnp.linalg.norm(b))


def mcosine(a: Any, b: Any) -> Any:
    return mp.fdot(a, b) / mp.sqrt(mp.fdot(a, a) * mp.fdot(b, b))


def huber(x: Any) -> Any:
    return jnp.where(jnp.abs(x) < 1, x**2 / 2, jnp.abs(x) - 0.5)


def mhuber(x: Any) -> Any:
    return x * x / 2 if abs(x) < 1 else abs(x) - mp.mpf(0.5)


def pendulum(state: Any) -> Any:
    """One step of Runge and Kutta."""

    def slope(s: Any) -> Any:
        return jnp.stack([s[1], -jnp.sin(s[0])])

    h = 0.125
    k1 = slope(state)
    k2 = slope(state + h / 2 * k1)
    k3 = slope(state + h / 2 * k2)
    k4 = slope(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def newton(a: Any) -> Any:
    """The square root of ``a``, by iteration."""
    return jax.lax.fori_loop(0, 8, lambda _, x: (x + a / x) / 2, a)


def mnewton(a: Any) -> Any:
    x = a
    for _ in range(8):
        x = (x + a / x) / 2
    return x


def log_density(mean: Any, log_scale: Any) -> Any:
    return -(((0.3 - mean) / jnp.exp(log_scale)) ** 2) / 2 - log_scale


ENTRIES: tuple[Entry, ...] = (
    unary("log(1 + exp(x))", lambda x: jnp.log(1 + jnp.exp(x)), NAIVE, lambda x: mp.log(1 + mp.exp(x))),
    unary("1 / (1 + exp(-x))", lambda x: 1 / (1 + jnp.exp(-x)), NAIVE, lambda x: 1 / (1 + mp.exp(-x))),
    unary("sin(1000 x)", lambda x: jnp.sin(1000 * x), (0.7, -1.3, 0.0, 100.0), lambda x: mp.sin(1000 * x)),
    unary("sin(x) + 1e6", lambda x: jnp.sin(x) + 1e6, (0.7, -1.3, 0.0), lambda x: mp.sin(x) + 10**6),
    unary("exp(-x**2)", lambda x: jnp.exp(-(x**2)), (0.7, -1.3, 0.0, 5.0, 20.0), lambda x: mp.exp(-x * x)),
    unary("1 / (1 + 25 x**2)", lambda x: 1 / (1 + 25 * x**2), (0.7, -1.3, 0.0, 1e3), lambda x: 1 / (1 + 25 * x * x)),
    unary("1e-200 sin(x)", lambda x: 1e-200 * jnp.sin(x), (0.7, -1.3, 0.0), lambda x: mp.mpf(1e-200) * mp.sin(x)),
    unary("1e200 sin(x)", lambda x: 1e200 * jnp.sin(x), (0.7, -1.3, 0.0), lambda x: mp.mpf(1e200) * mp.sin(x)),
    unary("constant", lambda x: 0 * x + 3.0, (0.7, 0.0, 1e6), lambda x: mp.mpf(3)),
    unary("x |x|", lambda x: x * jnp.abs(x), (0.7, -1.3, 0.0), lambda x: x * abs(x), {0.0: kink("slope |x|", 2)}),
    unary("huber", huber, (0.7, -1.3, 0.0, 1.0), mhuber, {1.0: kink("first derivative has a kink", 2)}),
    unary("newton sqrt", newton, (0.7, 2.4, 1e4), mnewton),
    unary("(x - 1)**3 expanded", lambda x: x**3 - 3 * x**2 + 3 * x - 1, (0.7, 2.4, 1.0, 1.001), lambda x: (x - 1) ** 3),
    unary("sqrt(x + 1) - sqrt(x)", lambda x: jnp.sqrt(x + 1) - jnp.sqrt(x), (0.7, 2.4, 1e4, 1e8),
          lambda x: mp.sqrt(x + 1) - mp.sqrt(x), {1e8: unclear("the value loses eight digits", "GRD405")}),
    several("tanh layer", layer, [(A, [0.1, -0.2], V), (np.zeros((2, 3)), [0.0, 0.0], [0.0] * 3)], mlayer),
    several("cross entropy", cross_entropy, [(V,), ([0.0] * 3,), ([30.0, 0.0, -30.0],), ([1e3, 0.0, 1.0],)], mcross_entropy),
    several("layer norm", layer_norm, [(V,), ([1.0, 1.0, 1.0],), ([1e4, 1e4, 1.0],)], mlayer_norm),
    several("cosine similarity", cosine, [(V, W), (V, V), ([1e-3, 0.0, 0.0], [1.0, 1e3, 1.0])], mcosine),
    several("mean squared error", lambda x, y: jnp.mean((x - y) ** 2), [(V, W), (V, V)],
            lambda x, y: mp.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / 3),
    several("rbf kernel", lambda x, y, s: jnp.exp(-jnp.sum((x - y) ** 2) / (2 * s**2)), [(V, W, 1.5), (V, V, 0.5)],
            lambda x, y, s: mp.exp(-mp.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (2 * s * s))),
    several("gaussian log density", log_density, [(0.7, -1.3), (0.3, 0.0), (2.0, -8.0)],
            lambda m, s: -(((mp.mpf(0.3) - m) / mp.exp(s)) ** 2) / 2 - s),
    several("runge kutta step", pendulum, [([0.7, -1.3],), ([0.0, 0.0],), ([np.pi, 0.0],)], None),
)  # fmt: skip
