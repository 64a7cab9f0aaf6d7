"""Functions of several numbers, or with parameters, of ``jax.scipy.special``."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jax.scipy.special as jss
import mpmath as mp

from catalogue.records import Entry, edge, several, unclear, wrong


def xlogy(x: Any, y: Any) -> Any:
    return mp.mpf(0) if x == 0 else x * mp.log(y)


def logsumexp(x: Any) -> Any:
    return mp.log(mp.fsum(mp.exp(v) for v in x))


ENTRIES: tuple[Entry, ...] = (
    several(
        "jss.beta",
        jss.beta,
        [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (20.0, 30.0), (1e-5, 1.0)],
        mp.beta,
        ordinary=0,
    ),
    several(
        "jss.betaln",
        jss.betaln,
        [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (1e3, 1e3), (1e-5, 1.0)],
        lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
        ordinary=0,
    ),
    several(
        "jss.betainc (x)",
        lambda x: jss.betainc(2.0, 3.5, x),
        [(0.3,), (0.7,), (0.5,), (1e-5,), (0.999,)],
        lambda x: mp.betainc(2, 3.5, 0, x, regularized=True),
        ordinary=2,
    ),
    several(
        "jss.gammainc",
        jss.gammainc,
        [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (5.0, 5.0), (30.0, 20.0), (0.5, 1e-5), (2.0, 50.0)],
        lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        ordinary=0,
        order=1,
    ),
    several(
        "jss.gammainc (x)",
        lambda x: jss.gammainc(2.5, x),
        [(0.7,), (2.4,), (1e-5,), (20.0,)],
        lambda x: mp.gammainc(2.5, 0, x, regularized=True),
        ordinary=2,
    ),
    several(
        "jss.hyp1f1",
        lambda x: jss.hyp1f1(0.7, 1.9, x),
        [(0.7,), (-1.3,), (0.0,), (1.0,), (5.0,), (-20.0,)],
        lambda x: mp.hyp1f1(0.7, 1.9, x),
        {5: unclear("the value is noisy", "GRD405")},
        ordinary=2,
    ),
    several("jss.hyp1f1 (a, b, x)", jss.hyp1f1, [(0.7, 1.9, 0.6), (2.0, 3.0, -1.3)], mp.hyp1f1, order=1),
    several(
        "jss.hyp2f1",
        lambda x: jss.hyp2f1(1.0, 1.0, 2.0, x),
        [(0.3,), (-0.4,), (0.7,), (0.0,), (0.5,), (0.9,), (-1.5,), (-3.0,)],
        lambda x: mp.hyp2f1(1, 1, 2, x),
        ordinary=2,
    ),
    several(
        "jss.hyp2f1 (generic)",
        lambda x: jss.hyp2f1(0.7, 1.2, 2.1, x),
        [(0.3,), (-0.4,), (0.7,), (0.0,), (0.5,)],
        lambda x: mp.hyp2f1(0.7, 1.2, 2.1, x),
        ordinary=0,
    ),
    several("jss.poch", jss.poch, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (3.0, 2.0), (2.0, 0.0)], mp.rf, ordinary=2),
    several(
        "jss.xlogy",
        jss.xlogy,
        [(0.7, 1.3), (-2.4, 0.3), (1.0, 1.0), (0.0, 0.5), (0.0, 1.0), (1e-10, 1e-10)],
        xlogy,
        ordinary=2,
    ),
    several(
        "jss.xlog1py",
        jss.xlog1py,
        [(0.7, 1.3), (-2.4, 0.3), (1.0, 1.0), (0.0, 0.5), (0.0, 0.0), (1.0, 1e-12)],
        lambda x, y: x * mp.log1p(y),
        ordinary=2,
    ),
    several(
        "jss.rel_entr",
        jss.rel_entr,
        [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (1e-10, 1.0), (0.0, 0.5)],
        lambda x, y: xlogy(x, x / y) if x else mp.mpf(0),
        {5: edge()},
        ordinary=2,
    ),
    several(
        "jss.kl_div",
        jss.kl_div,
        [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (1e-10, 1.0), (0.0, 0.5)],
        lambda x, y: (xlogy(x, x / y) if x else mp.mpf(0)) - x + y,
        {5: edge()},
        ordinary=2,
    ),
    several(
        "jss.zeta",
        lambda q: jss.zeta(2.5, q),
        [(0.7,), (2.4,), (1.0,), (20.0,), (1e-3,)],
        lambda q: mp.zeta(2.5, q),
        ordinary=0,
    ),
    several(
        "jss.boxcox",
        jss.boxcox,
        [(0.7, 1.3), (2.4, -0.3), (1.0, 1.0), (2.0, 0.0), (2.0, 1e-9)],
        lambda x, k: mp.log(x) if k == 0 else (x**k - 1) / k,
        {4: unclear("the derivative loses eight digits by cancellation", "GRD405")},
        ordinary=2,
    ),
    several(
        "jss.boxcox1p",
        jss.boxcox1p,
        [(0.7, 1.3), (2.4, -0.3), (1.0, 1.0), (2.0, 0.0), (1e-9, 0.5)],
        lambda x, k: mp.log1p(x) if k == 0 else ((1 + x) ** k - 1) / k,
        ordinary=2,
    ),
    several("jss.comb", jss.comb, [(5.3, 2.2), (7.4, 3.1)], mp.binomial, ordinary=2),
    several(
        "jss.logsumexp",
        jss.logsumexp,
        [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],), ([-1e3, -1e3, -1001.0],), ([1e10, 0.0, 1.0],)],
        logsumexp,
    ),
    several(
        "jss.logsumexp (b)",
        lambda b: jss.logsumexp(jnp.array([0.7, -1.3, 2.4]), b=b),
        [([0.5, 1.5, 2.0],), ([0.0, 1.5, 2.0],), ([1e-10, 1.5, 2.0],)],
        lambda b: mp.log(mp.fsum(w * mp.exp(mp.mpf(v)) for w, v in zip(b, [0.7, -1.3, 2.4], strict=True))),
        {1: wrong("d/db at b=0 is exp(a)/sum, JAX says 0 (jax-ml/jax#22398)")},
    ),
    several(
        "jss.softmax",
        jss.softmax,
        [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],), ([50.0, 0.0, 1.0],)],
        lambda x: [mp.exp(v) / mp.fsum(map(mp.exp, x)) for v in x],
    ),
    several(
        "jss.log_softmax",
        jss.log_softmax,
        [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],), ([50.0, 0.0, 1.0],)],
        lambda x: [v - logsumexp(x) for v in x],
    ),
    several(
        "jss.bessel_jn",
        lambda x: jss.bessel_jn(x, v=3),
        [(0.7,), (2.4,), (5.0,), (1.0,)],
        lambda x: [mp.besselj(n, x) for n in range(4)],
        ordinary=2,
    ),
    several(
        "jss.sph_harm_y",
        lambda t, p: jss.sph_harm_y(jnp.array([1]), jnp.array([3]), t, p, n_max=3).real,
        [([0.7], [1.3]), ([1.1], [0.0])],
        None,
    ),
)
