"""Reductions, sorting, products and other whole-array functions of ``jax.numpy``."""

from __future__ import annotations

import itertools
from typing import Any

import jax.numpy as jnp
import mpmath as mp
import numpy as np

from catalogue.records import Entry, kink, several, wrong

V = [0.7, -1.3, 2.4]
ROWS = [(V,), ([0.0, 0.0, 0.0],), ([1.0, 1.0, 2.0],), ([1e5, 1.0, 1e-5],)]
W = np.array([0.3, 1.7, -0.4])
A = np.array([[0.7, -1.3], [2.4, 0.3]])
B = np.array([[0.5, 0.4], [1.2, -0.9]])


def var(x: Any, ddof: int = 0) -> Any:
    mean = mp.fsum(x) / len(x)
    return mp.fsum((v - mean) ** 2 for v in x) / (len(x) - ddof)


def quantile(x: Any, q: Any) -> Any:
    s, place = sorted(x), q * (len(x) - 1)
    low = int(mp.floor(place))
    return s[low] + (s[min(low + 1, len(x) - 1)] - s[low]) * (place - low)


def cumulate(x: Any, step: Any) -> Any:
    found = [x[0]]
    for v in x[1:]:
        found.append(step(found[-1], v))
    return found


def norm(x: Any) -> Any:
    return mp.sqrt(mp.fsum(v * v for v in x))


ENTRIES: tuple[Entry, ...] = (
    several("jnp.sum", jnp.sum, ROWS, mp.fsum),
    several("jnp.prod", jnp.prod, [*ROWS, ([0.0, 2.0, 3.0],), ([0.0, 0.0, 3.0],)], mp.fprod),
    several("jnp.mean", jnp.mean, ROWS, lambda x: mp.fsum(x) / len(x)),
    several("jnp.var", jnp.var, ROWS, var),
    several("jnp.var (ddof)", lambda x: jnp.var(x, ddof=1), ROWS, lambda x: var(x, 1)),
    several("jnp.std", jnp.std, ROWS, lambda x: mp.sqrt(var(x)), {1: kink("std at equal elements is a norm at 0")}),
    several("jnp.max", jnp.max, ROWS, max, {1: kink()}),
    several("jnp.min", jnp.min, ROWS, min, {1: kink(), 2: kink()}),
    several("jnp.ptp", jnp.ptp, ROWS, lambda x: max(x) - min(x), {1: kink(), 2: kink()}),
    several("jnp.median", jnp.median, ROWS, lambda x: quantile(x, mp.mpf(0.5)), {1: kink(), 2: kink()}),
    several(
        "jnp.quantile",
        lambda x: jnp.quantile(x, 0.3),
        [(V,), ([1.0, 1.0, 2.0],), ([1e5, 1.0, 1e-5],)],
        lambda x: quantile(x, mp.mpf(0.3)),
        {1: kink()},
    ),
    several(
        "jnp.quantile (q)",
        lambda q: jnp.quantile(jnp.array(V), q),
        [(0.3,), (0.8,), (0.5,)],
        lambda q: quantile(list(map(mp.mpf, V)), q),
        {2: wrong("the slopes on the two sides are 4 and 3.4, JAX says 0")},
    ),
    several("jnp.nansum", jnp.nansum, [(V,), ([np.nan, 1.0, 2.0],)], None),
    several("jnp.nanmean", jnp.nanmean, [(V,), ([np.nan, 1.0, 2.0],)], None),
    several("jnp.nanstd", jnp.nanstd, [(V,), ([np.nan, 1.0, 2.0],)], None),
    several("jnp.nanmax", jnp.nanmax, [(V,), ([np.nan, 1.0, 2.0],)], None),
    several("jnp.average", jnp.average, [(V,), ([1.0, 1.0, 1.0],)], None),
    several(
        "jnp.average (weights)",
        lambda x, w: jnp.average(x, weights=w),
        [(V, [1.0, 2.0, 0.5]), (V, [1.0, 0.0, 0.0])],
        lambda x, w: mp.fdot(x, w) / mp.fsum(w),
    ),
    several("jnp.cumsum", jnp.cumsum, ROWS, lambda x: cumulate(x, lambda a, b: a + b)),
    several(
        "jnp.cumprod",
        jnp.cumprod,
        [*ROWS, ([0.0, 2.0, 3.0],), ([2.0, 0.0, 0.0],)],
        lambda x: cumulate(x, lambda a, b: a * b),
    ),
    several("jnp.sort", jnp.sort, ROWS, sorted, {1: kink(), 2: kink()}),
    several("jnp.diff", jnp.diff, ROWS, lambda x: [b - a for a, b in itertools.pairwise(x)]),
    several("jnp.ediff1d", jnp.ediff1d, ROWS[:2], lambda x: [b - a for a, b in itertools.pairwise(x)]),
    several(
        "jnp.trapezoid",
        lambda y, x: jnp.trapezoid(y, x),
        [(V, [0.0, 1.0, 3.0]), (V, [0.0, 0.0, 0.0])],
        lambda y, x: mp.fsum((x[i + 1] - x[i]) * (y[i + 1] + y[i]) / 2 for i in range(2)),
    ),
    several("jnp.gradient", jnp.gradient, ROWS[:2], None),
    several(
        "jnp.convolve",
        lambda x, y: jnp.convolve(x, y),
        [(V, [0.3, 1.7]), ([0.0] * 3, [0.0, 1.0])],
        lambda x, y: [mp.fsum(x[i] * y[k - i] for i in range(3) if 0 <= k - i < 2) for k in range(4)],
    ),
    several("jnp.correlate", lambda x, y: jnp.correlate(x, y), [(V, [0.3, 1.7])], None),
    several("jnp.cov", jnp.cov, [(np.arange(6.0).reshape(2, 3) ** 2 / 7 + A[0, 0],)], None),
    several("jnp.corrcoef", jnp.corrcoef, [([[0.7, -1.3, 2.4], [0.2, 0.9, -0.4]],)], None),
    several(
        "jnp.dot",
        jnp.dot,
        [(V, [0.3, 1.7, -0.4]), ([0.0] * 3, [0.0] * 3), ([1e10, 1.0, 1e-10], [1.0, 1e5, 1e-5])],
        mp.fdot,
    ),
    several("jnp.outer", jnp.outer, [(V, [0.3, 1.7])], lambda x, y: [[a * b for b in y] for a in x]),
    several(
        "jnp.cross",
        jnp.cross,
        [(V, [0.3, 1.7, -0.4]), (V, V)],
        lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
    ),
    several("jnp.kron", jnp.kron, [(V, [0.3, 1.7])], lambda x, y: [a * b for a in x for b in y]),
    several(
        "jnp.matmul", jnp.matmul, [(A, B), (np.eye(2), np.zeros((2, 2)))], lambda a, b: mp.matrix(a) * mp.matrix(b)
    ),
    several(
        "jnp.einsum", lambda a, b: jnp.einsum("ij,kj->ik", a, b), [(A, B)], lambda a, b: mp.matrix(a) * mp.matrix(b).T
    ),
    several("jnp.tensordot", jnp.tensordot, [(A, B)], None),
    several("jnp.trace", jnp.trace, [(A,)], lambda a: a[0][0] + a[1][1]),
    several(
        "jnp.vander",
        lambda x: jnp.vander(x, 3),
        [(V,), ([0.0, 0.0, 1.0],)],
        lambda x: [[v**2, v, mp.mpf(1)] for v in x],
    ),
    several(
        "jnp.polyfit", lambda y: jnp.polyfit(jnp.array([0.0, 1.0, 2.0, 4.0]), y, 2), [([0.7, -1.3, 2.4, 0.3],)], None
    ),
    several("jnp.polymul", jnp.polymul, [(V, [0.3, 1.7])], None),
    several("jnp.fft.fft", lambda x: jnp.fft.fft(x), [(V,), ([0.0] * 3,)], None),
    several("jnp.fft.fft (complex)", jnp.fft.fft, [(np.array([0.7 + 1j, -1.3, 2.4 - 0.5j]),)], None),
    several("jnp.fft.irfft", lambda x: jnp.fft.irfft(x), [(np.array([0.7, -1.3 + 0.4j, 2.4]),)], None),
    several(
        "jnp.abs (complex)", jnp.abs, [(np.array(0.7 + 1j),), (np.array(1e-10 + 1e-10j),), (np.array(1.0 + 0j),)], None
    ),
    several("jnp.angle", jnp.angle, [(np.array(0.7 + 1j),), (np.array(-1.3 + 0.2j),), (np.array(1.0 + 0j),)], None),
    several("jnp.exp (complex)", jnp.exp, [(np.array(0.7 + 1j),), (np.array(0j),), (np.array(1.0 + 10j),)], None),
    several("jnp.log (complex)", jnp.log, [(np.array(0.7 + 1j),), (np.array(-1.0 + 0.1j),)], None),
    several(
        "jnp.sqrt (complex)", jnp.sqrt, [(np.array(0.7 + 1j),), (np.array(-1.0 + 0.1j),), (np.array(1.0 + 0j),)], None
    ),
    several("jnp.roll", lambda x: jnp.roll(x, 1), [(V,)], None),
    several("jnp.pad", lambda x: jnp.pad(x, 2, mode="reflect"), [(V,)], None),
    several("jnp.take", lambda x: jnp.take(x, jnp.array([2, 0, 2])), [(V,)], None),
    several("jnp.tril", jnp.tril, [(A,)], None),
    several(
        "jnp.piecewise",
        lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: v**2, lambda v: v**3]),
        [(0.7,), (-1.3,), (0.0,)],
        lambda x: x**2 if x < 0 else x**3,
        {2: kink("first derivative has a kink", 2)},
        ordinary=2,
    ),
    several(
        "jnp.select",
        lambda x: jnp.select([x < 0, x < 1], [x**2, x], x**3),
        [(0.7,), (-1.3,), (1.0,)],
        lambda x: x**2 if x < 0 else x if x < 1 else x**3,
        {2: kink()},
        ordinary=2,
    ),
    several(
        "badly scaled vector",
        lambda x: jnp.sum(jnp.sin(x)),
        [([0.7, 1e3, 1e-8],), ([1e10, 0.7, 1.0],)],
        lambda x: mp.fsum(map(mp.sin, x)),
    ),
    several(
        "badly scaled logs", jnp.log, [([0.7, 1e8, 1e-8],), ([1e-30, 0.7, 1e30],)], lambda x: [mp.log(v) for v in x]
    ),
)
