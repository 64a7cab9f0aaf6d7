"""Log densities and distribution functions of ``jax.scipy.stats``."""

from __future__ import annotations

from typing import Any

import jax.scipy.stats as jst
import mpmath as mp

from catalogue.records import Entry, kink, several, unclear, wrong


def normal(x: Any, m: Any, s: Any) -> Any:
    return -(((x - m) / s) ** 2) / 2 - mp.log(s) - mp.log(2 * mp.pi) / 2


def student(x: Any, n: Any) -> Any:
    return mp.loggamma((n + 1) / 2) - mp.loggamma(n / 2) - mp.log(n * mp.pi) / 2 - (n + 1) / 2 * mp.log1p(x * x / n)


def beta(x: Any, a: Any, b: Any) -> Any:
    return (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - mp.log(mp.beta(a, b))


def phi(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


ENTRIES: tuple[Entry, ...] = (
    several(
        "norm.logpdf", jst.norm.logpdf, [(0.7, -1.3, 2.4), (0.0, 0.0, 1.0), (50.0, 0.0, 1.0), (1.0, 1.0, 1e-5)], normal
    ),
    several(
        "norm.pdf",
        jst.norm.pdf,
        [(0.7, -1.3, 2.4), (0.0, 0.0, 1.0), (8.0, 0.0, 1.0)],
        lambda x, m, s: mp.exp(normal(x, m, s)),
    ),
    several(
        "norm.cdf",
        jst.norm.cdf,
        [(0.7, -1.3, 2.4), (0.0, 0.0, 1.0), (-8.0, 0.0, 1.0)],
        lambda x, m, s: phi((x - m) / s),
    ),
    several(
        "norm.logcdf",
        jst.norm.logcdf,
        [(0.7, -1.3, 2.4), (0.0, 0.0, 1.0), (-8.0, 0.0, 1.0), (-40.0, 0.0, 1.0)],
        lambda x, m, s: mp.log(phi((x - m) / s)),
    ),
    several(
        "norm.ppf",
        lambda q: jst.norm.ppf(q),
        [(0.3,), (0.5,), (0.999,)],
        lambda q: mp.sqrt(2) * mp.erfinv(2 * q - 1),
        ordinary=0,
    ),
    several("beta.logpdf", jst.beta.logpdf, [(0.3, 1.3, 2.4), (0.5, 1.0, 1.0), (1e-5, 2.0, 2.0)], beta),
    several(
        "cauchy.logpdf",
        jst.cauchy.logpdf,
        [(0.7, -1.3, 2.4), (0.0, 0.0, 1.0), (1e5, 0.0, 1.0)],
        lambda x, m, s: -mp.log(mp.pi * s) - mp.log1p(((x - m) / s) ** 2),
    ),
    several(
        "chi2.logpdf",
        jst.chi2.logpdf,
        [(0.7, 2.4), (1.0, 2.0), (30.0, 5.0)],
        lambda x, k: (k / 2 - 1) * mp.log(x) - x / 2 - k / 2 * mp.log(2) - mp.loggamma(k / 2),
    ),
    several(
        "expon.logpdf",
        lambda x: jst.expon.logpdf(x),
        [(0.7,), (2.4,), (0.0,)],
        lambda x: -x,
        {2: unclear("edge of the support", "GRD408", "GRD402")},
        ordinary=2,
    ),
    several(
        "gamma.logpdf",
        jst.gamma.logpdf,
        [(0.7, 2.4), (1.0, 1.0), (30.0, 5.0)],
        lambda x, a: (a - 1) * mp.log(x) - x - mp.loggamma(a),
        ordinary=0,
    ),
    several(
        "gennorm.logpdf",
        jst.gennorm.logpdf,
        [(0.7, 2.4), (1.0, 1.5)],
        lambda x, p: mp.log(p / 2) - mp.loggamma(1 / p) - abs(x) ** p,
    ),
    several(
        "gumbel_r.logpdf",
        jst.gumbel_r.logpdf,
        [(0.7, -1.3, 2.4), (0.0, 0.0, 1.0)],
        lambda x, m, s: -mp.log(s) - (x - m) / s - mp.exp(-(x - m) / s),
        {k: wrong("JAX raises TypeError (float0) when location and scale are differentiated") for k in (0, 1)},
    ),
    several(
        "laplace.logpdf",
        jst.laplace.logpdf,
        [(0.7, -1.3, 2.4), (0.0, 0.0, 1.0)],
        lambda x, m, s: -abs(x - m) / s - mp.log(2 * s),
        {1: kink()},
    ),
    several(
        "laplace.cdf",
        lambda x: jst.laplace.cdf(x),
        [(0.7,), (-1.3,), (0.0,)],
        lambda x: mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2,
        {2: kink("first derivative has a kink", 2)},
        ordinary=2,
    ),
    several(
        "logistic.logpdf",
        lambda x: jst.logistic.logpdf(x),
        [(0.7,), (-1.3,), (0.0,), (50.0,), (-800.0,)],
        lambda x: -x - 2 * mp.log1p(mp.exp(-x)),
        ordinary=2,
    ),
    several("pareto.logpdf", jst.pareto.logpdf, [(1.7, 2.4), (5.0, 1.0)], lambda x, b: mp.log(b) - (b + 1) * mp.log(x)),
    several("t.logpdf", jst.t.logpdf, [(0.7, 2.4), (0.0, 1.0), (1e3, 5.0)], student),
    several(
        "truncnorm.logpdf", lambda x: jst.truncnorm.logpdf(x, -1.0, 2.0), [(0.7,), (-0.3,), (0.0,)], None, ordinary=2
    ),
    several(
        "vonmises.logpdf",
        jst.vonmises.logpdf,
        [(0.7, 2.4), (0.0, 1.0)],
        lambda x, k: k * mp.cos(x) - mp.log(2 * mp.pi * mp.besseli(0, k)),
    ),
    several(
        "wrapcauchy.logpdf",
        jst.wrapcauchy.logpdf,
        [(0.7, 0.4), (1.0, 0.9)],
        lambda x, c: mp.log((1 - c * c) / (2 * mp.pi * (1 + c * c - 2 * c * mp.cos(x)))),
    ),
    several(
        "poisson.logpmf (mu)",
        lambda m: jst.poisson.logpmf(3, m),
        [(0.7,), (2.4,), (100.0,)],
        lambda m: 3 * mp.log(m) - m - mp.log(6),
        ordinary=2,
    ),
    several(
        "binom.logpmf (p)",
        lambda p: jst.binom.logpmf(3, 10, p),
        [(0.3,), (0.7,), (1e-5,)],
        lambda p: mp.log(120) + 3 * mp.log(p) + 7 * mp.log1p(-p),
        ordinary=2,
    ),
    several("nbinom.logpmf (p)", lambda p: jst.nbinom.logpmf(3, 5.0, p), [(0.3,), (0.7,)], None, ordinary=2),
    several(
        "bernoulli.logpmf (p)", lambda p: jst.bernoulli.logpmf(1, p), [(0.3,), (0.7,)], lambda p: mp.log(p), ordinary=2
    ),
    several(
        "dirichlet.logpdf (alpha)", lambda a: jst.dirichlet.logpdf(0.25 + 0 * a[:3], a), [([0.7, 1.3, 2.4, 0.5],)], None
    ),
    several(
        "multivariate_normal.logpdf",
        lambda x, m: jst.multivariate_normal.logpdf(x, m, 2.0),
        [([0.7, -1.3], [0.3, 0.5])],
        None,
    ),
)
