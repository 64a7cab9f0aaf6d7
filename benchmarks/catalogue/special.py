"""Functions of ``jax.scipy.special``."""

from __future__ import annotations

from typing import Any

import jax.scipy.special as jss
import mpmath as mp

from catalogue.records import SMALL, Entry, close, edge, jump, kink, unary, unclear, wrong

GAMMA = (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 3.0, 1e-5, 20.0, 100.0, -0.5, -1.5, -1.3, -2.7, -10.25)
EXPN = (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 1e-5, 10.0)
RAISES = {x: wrong("a second derivative raises TypeError (a leaked tracer) in JAX 0.10", 2) for x in EXPN}
CENTRE = (0.7, -1.3, 2.4, 0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 1e-5, -1e-12, 8.0, -8.0)


def xlogy(x: Any, y: Any) -> Any:
    return mp.mpf(0) if x == 0 else x * mp.log(y)


def entr(x: Any) -> Any:
    return -xlogy(x, x)


def ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def dawson(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def integral(f: Any, a: Any, b: Any) -> Any:
    return mp.quad(f, [a, b])


def logsumexp(x: Any) -> Any:
    return mp.log(mp.fsum(mp.exp(v) for v in x))


def log_ndtr(x: Any) -> Any:
    return mp.log(ndtr(x))


ENTRIES: tuple[Entry, ...] = (
    unary("jss.gammaln", jss.gammaln, GAMMA, lambda x: mp.log(abs(mp.gamma(x))), order=2),
    unary("jss.gamma", jss.gamma, (*GAMMA[:9], 0.01, 100.0, -0.5, -1.5, -2.7), mp.gamma),
    unary("jss.loggamma", jss.loggamma, GAMMA[:10], mp.loggamma),
    unary("jss.digamma", jss.digamma, GAMMA, lambda x: mp.psi(0, x)),
    unary("jss.polygamma(1)", lambda x: jss.polygamma(1, x), GAMMA[:10], lambda x: mp.psi(1, x)),
    unary("jss.polygamma(2)", lambda x: jss.polygamma(2, x), GAMMA[:10], lambda x: mp.psi(2, x)),
    unary(
        "jss.factorial",
        jss.factorial,
        (0.7, 1.3, 2.4, 0.0, 0.5, 1.0, 2.0, 10.0, 100.0),
        mp.factorial,
        {0.0: jump("0 for negative numbers by definition")},
    ),
    unary("jss.erf", jss.erf, SMALL, mp.erf),
    unary("jss.erfc", jss.erfc, (*SMALL, 5.0, -5.0), mp.erfc),
    unary(
        "jss.erfcx",
        jss.erfcx,
        (0.7, -1.3, 2.4, 0.0, 0.5, 1.0, -1.0, 10.0, 30.0, 1e5),
        lambda x: mp.exp(x * x) * mp.erfc(x),
    ),
    unary("jss.erfinv", jss.erfinv, (0.3, -0.4, 0.7, 0.0, 0.5, -0.5, 1e-5, 0.999, -0.999999), mp.erfinv),
    unary("jss.dawsn", jss.dawsn, (*CENTRE, 20.0), dawson),
    unary("jss.expit", jss.expit, (*SMALL, 40.0, -700.0), lambda x: 1 / (1 + mp.exp(-x))),
    unary("jss.logit", jss.logit, (0.3, 0.7, 0.5, 1e-5, 1e-12, 0.999, 0.999999), lambda x: mp.log(x / (1 - x))),
    unary("jss.ndtr", jss.ndtr, CENTRE, ndtr),
    unary(
        "jss.ndtri",
        jss.ndtri,
        (0.3, 0.7, 0.5, 0.1, 1e-5, 1e-12, 0.999),
        lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
        ordinary=0,
    ),
    unary(
        "jss.log_ndtr",
        jss.log_ndtr,
        (*CENTRE, -20.0, 5.0, -5.0, -40.0),
        log_ndtr,
        {-20.0: unclear("two series meet at -20, a little apart", "GRD402", "GRD404", "GRD405", "GRD409")},
    ),
    unary("jss.entr", jss.entr, (0.3, 0.7, 2.4, 1.0, 0.5, 1e-5, 1e-12, 10.0, 0.0), entr, {0.0: edge()}),
    unary(
        "jss.spence",
        jss.spence,
        (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 1e-5, 10.0, 1e3),
        lambda x: mp.re(mp.polylog(2, 1 - x)),
        ordinary=0,
    ),
    unary(
        "jss.i0",
        jss.i0,
        (*CENTRE, 30.0),
        lambda x: mp.besseli(0, x),
        {0.0: wrong("second derivative is 1/2 (jax-ml/jax#40628)", 2)},
    ),
    unary(
        "jss.i0e",
        jss.i0e,
        (*CENTRE, 30.0),
        lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
        {0.0: kink(), -1e-12: close(order=1)},
    ),
    unary("jss.i1", jss.i1, (*CENTRE, 30.0), lambda x: mp.besseli(1, x)),
    unary(
        "jss.i1e",
        jss.i1e,
        (*CENTRE, 30.0),
        lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
        {0.0: kink("first derivative has a kink", 2), -1e-12: close()},
    ),
    unary("jss.exp1", jss.exp1, EXPN, mp.e1, RAISES),
    unary("jss.expi", jss.expi, (0.7, 1.3, 2.4, -0.5, -1.3, 1.0, -1.0, 1e-5, 10.0, 50.0), mp.ei),
    unary("jss.expn(2)", lambda x: jss.expn(2, x), EXPN, lambda x: mp.expint(2, x), RAISES),
    unary(
        "jss.fresnel",
        jss.fresnel,
        (0.7, -1.3, 2.4, 0.0, 0.5, 1.0, -1.0, 10.0),
        lambda x: [mp.fresnels(x), mp.fresnelc(x)],
    ),
    unary("jss.sici", jss.sici, (0.7, 1.3, 2.4, 0.5, 1.0, 4.0, 10.0, 1e-5, 100.0), lambda x: [mp.si(x), mp.ci(x)]),
    unary("jss.owens_t(x, 0.5)", lambda x: jss.owens_t(x, 0.5), (0.7, -1.3, 2.4, 0.0, 1.0), None),
    unary(
        "jss.multigammaln(3)",
        lambda x: jss.multigammaln(x, 3),
        (2.3, 1.7, 5.0, 30.0),
        lambda x: 1.5 * mp.log(mp.pi) + mp.fsum(mp.loggamma(x - mp.mpf(j) / 2) for j in range(3)),
    ),
)
