"""Primitives and operations of ``jax.lax``."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import mpmath as mp
from jax import lax

from catalogue.records import POSITIVE, SMALL, Entry, jump, kink, several, unary, wrong

V = [0.7, -1.3, 2.4]
ROWS = [(V,), ([0.0, 0.0, 0.0],), ([1.0, 1.0, 2.0],), ([1e5, 1.0, 1e-5],)]


def running(x: Any, best: Any) -> Any:
    return [best(x[: k + 1]) for k in range(len(x))]


def iterate(x: Any) -> Any:
    return lax.fori_loop(0, 5, lambda i, v: jnp.sin(v) + 0.1 * i, x)


def miterate(x: Any) -> Any:
    for i in range(5):
        x = mp.sin(x) + mp.mpf(0.1) * i
    return x


def scanned(x: Any) -> Any:
    return lax.scan(lambda c, v: (jnp.tanh(c + v), c * v), 0.3, x)


def convolved(x: Any, k: Any) -> Any:
    return lax.conv(x[None, None], k[None, None], (1,), "SAME")


ENTRIES: tuple[Entry, ...] = (
    unary("lax.rsqrt", lax.rsqrt, (*POSITIVE, 1e100, 1e-100), lambda x: 1 / mp.sqrt(x)),
    unary("lax.cbrt", lax.cbrt, (0.7, -1.3, 2.4, 1.0, 1e5), lambda x: mp.sign(x) * mp.cbrt(abs(x))),
    unary("lax.integer_pow(3)", lambda x: lax.integer_pow(x, 3), (*SMALL, 1e100), lambda x: x**3),
    unary("lax.integer_pow(-2)", lambda x: lax.integer_pow(x, -2), (0.7, -1.3, 2.4, 1.0, 1e5, 1e-5), lambda x: x**-2),
    unary("lax.integer_pow(0)", lambda x: lax.integer_pow(x, 0), (0.7, 0.0, 1e5), lambda x: mp.mpf(1)),
    unary("lax.reduce_precision", lambda x: lax.reduce_precision(x, 11, 52), (0.7, -1.3, 2.4), lambda x: x),
    unary("lax.round", lax.round, (0.7, -1.3, 2.4, 0.0, 0.5, 1.5), None, {0.5: jump(), 1.5: jump()}),
    unary(
        "lax.stop_gradient",
        lax.stop_gradient,
        (0.7, -1.3, 0.0),
        lambda x: x,
        {k: wrong("the value changes, the derivative says 0") for k in (0.7, -1.3, 0.0)},
    ),
    unary("lax.fori_loop", iterate, (0.7, -1.3, 0.0, 1e3), miterate),
    unary("lax.while_loop", lambda x: lax.while_loop(lambda v: v < 10.0, lambda v: 2.0 * v, x), (0.7, 1.3, 2.4), None),
    unary(
        "lax.cond",
        lambda x: lax.cond(x > 0, jnp.sin, jnp.expm1, x),
        (0.7, -1.3, 0.0),
        lambda x: mp.sin(x) if x > 0 else mp.expm1(x),
        {0.0: kink("second derivative has a jump", 2)},
    ),
    unary(
        "lax.switch",
        lambda x: lax.switch(jnp.int32(x > 1), [jnp.sin, jnp.cos], x),
        (0.7, 2.4, 1.0),
        None,
        {1.0: jump()},
    ),
    several("lax.scan", scanned, [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],)], None),
    several(
        "lax.associative_scan",
        lambda x: lax.associative_scan(jnp.multiply, x),
        [*ROWS, ([0.0, 2.0, 3.0],)],
        lambda x: [mp.fprod(x[: k + 1]) for k in range(len(x))],
    ),
    several(
        "lax.cumprod", lax.cumprod, [*ROWS, ([0.0, 2.0, 3.0],), ([0.0, 0.0, 3.0],)], lambda x: running(x, mp.fprod)
    ),
    several("lax.cummax", lax.cummax, ROWS, lambda x: running(x, max), {1: kink(), 2: kink()}),
    several("lax.cummin", lax.cummin, ROWS, lambda x: running(x, min), {1: kink(), 2: kink()}),
    several(
        "lax.cumlogsumexp",
        lax.cumlogsumexp,
        [(V,), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],)],
        lambda x: running(x, lambda p: mp.log(mp.fsum(map(mp.exp, p)))),
    ),
    several("lax.sort", lax.sort, ROWS, sorted, {1: kink(), 2: kink()}),
    several(
        "lax.top_k", lambda x: lax.top_k(x, 2)[0], ROWS, lambda x: sorted(x, reverse=True)[:2], {1: kink(), 2: kink()}
    ),
    several(
        "lax.reduce_window",
        lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (1,), "VALID"),
        ROWS,
        lambda x: [x[0] + x[1], x[1] + x[2]],
    ),
    several("lax.conv", convolved, [(V, [0.3, 1.7])], None),
    several(
        "lax.dot_general",
        lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ()))),
        [([[0.7, -1.3], [2.4, 0.3]], [[0.5, 0.4], [1.2, -0.9]])],
        lambda a, b: mp.matrix(a) * mp.matrix(b),
    ),
    several("lax.dynamic_slice", lambda x: lax.dynamic_slice(x, (1,), (2,)), [(V,)], lambda x: x[1:]),
    several(
        "lax.dynamic_update_slice",
        lambda x, u: lax.dynamic_update_slice(x, u, (1,)),
        [(V, [0.3])],
        lambda x, u: [x[0], u[0], x[2]],
    ),
    several("lax.gather (x[idx])", lambda x: x[jnp.array([0, 0, 2])], [(V,)], lambda x: [x[0], x[0], x[2]]),
    several(
        "lax.scatter_add",
        lambda x, u: x.at[jnp.array([0, 0])].add(u),
        [(V, [0.3, 1.7])],
        lambda x, u: [x[0] + u[0] + u[1], x[1], x[2]],
    ),
    several(
        "lax.scatter_mul",
        lambda x, u: x.at[jnp.array([0, 2])].multiply(u, unique_indices=True),
        [(V, [0.3, 1.7]), ([0.0, 1.0, 2.0], [0.0, 0.0])],
        lambda x, u: [x[0] * u[0], x[1], x[2] * u[1]],
    ),
    several(
        "lax.scatter_max",
        lambda x, u: x.at[jnp.array([0, 2])].max(u),
        [(V, [0.3, 1.7]), (V, [0.7, 1.7])],
        None,
        {1: kink()},
    ),
    several("lax.scatter (set)", lambda x, u: x.at[jnp.array([0, 2])].set(u), [(V, [0.3, 1.7])], None),
    several("lax.pow", lax.pow, [(0.7, 1.3), (2.4, -0.3), (1.0, 1.0), (2.0, 0.0)], lambda x, y: x**y, ordinary=2),
    several("lax.atan2", lax.atan2, [(0.7, 1.3), (2.4, -0.3), (1.0, 1.0)], mp.atan2, ordinary=2),
    several(
        "lax.rem",
        lax.rem,
        [(0.7, 1.3), (-2.4, 1.1)],
        lambda x, y: x - y * mp.sign(x / y) * mp.floor(abs(x / y)),
        ordinary=2,
    ),
    several(
        "lax.clamp",
        lambda x: lax.clamp(-1.0, x, 1.0),
        [(0.7,), (-1.3,), (1.0,)],
        lambda x: min(max(x, -mp.mpf(1)), 1),
        {2: kink()},
        ordinary=2,
    ),
    several("lax.select", lambda x, y: lax.select(x > y, x, y), [(0.7, 1.3), (1.0, 1.0)], max, {1: kink()}),
    several(
        "lax.linalg.triangular_solve",
        lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
        [([[2.7, 0.0], [0.4, 1.9]], [[0.7], [1.1]])],
        None,
    ),
    several(
        "lax.linalg.tridiagonal_solve",
        lax.linalg.tridiagonal_solve,
        [([0.0, 0.3, 0.4], [2.0, 3.0, 2.5], [0.5, -0.2, 0.0], [[1.0], [2.0], [3.0]])],
        None,
        order=1,
    ),
)
