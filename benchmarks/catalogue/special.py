"""Functions of ``jax.scipy.special``."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jax.scipy.special as jss
import mpmath as mp
import numpy as np

from catalogue.records import POSITIVE, SMALL, Entry, Mark, edge, jump, kink, outside, several, unary, unclear, wrong

GAMMA = (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 3.0, 1e-5, 20.0, 100.0, -0.5, -1.5, -1.3, -2.7, -10.25)
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
    unary("jss.factorial", jss.factorial, (0.7, 1.3, 2.4, 0.0, 0.5, 1.0, 2.0, 10.0, 100.0), mp.factorial, {0.0: jump("0 for negative numbers by definition")}),
    unary("jss.erf", jss.erf, SMALL, mp.erf),
    unary("jss.erfc", jss.erfc, (*SMALL, 5.0, -5.0), mp.erfc),
    unary("jss.erfcx", jss.erfcx, (0.7, -1.3, 2.4, 0.0, 0.5, 1.0, -1.0, 10.0, 30.0, 1e5), lambda x: mp.exp(x * x) * mp.erfc(x)),
    unary("jss.erfinv", jss.erfinv, (0.3, -0.4, 0.7, 0.0, 0.5, -0.5, 1e-5, 0.999, -0.999999), mp.erfinv),
    unary("jss.dawsn", jss.dawsn, (*CENTRE, 20.0), dawson),
    unary("jss.expit", jss.expit, (*SMALL, 40.0, -700.0), lambda x: 1 / (1 + mp.exp(-x))),
    unary("jss.logit", jss.logit, (0.3, 0.7, 0.5, 1e-5, 1e-12, 0.999, 0.999999), lambda x: mp.log(x / (1 - x))),
    unary("jss.ndtr", jss.ndtr, CENTRE, ndtr),
    unary("jss.ndtri", jss.ndtri, (0.3, 0.7, 0.5, 0.1, 1e-5, 1e-12, 0.999), lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1)),
    unary("jss.log_ndtr", jss.log_ndtr, (*CENTRE, -20.0, 5.0, -5.0, -40.0), log_ndtr),
    unary("jss.entr", jss.entr, (0.3, 0.7, 2.4, 1.0, 0.5, 1e-5, 1e-12, 10.0, 0.0), entr, {0.0: edge()}),
    unary("jss.spence", jss.spence, (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 1e-5, 10.0, 1e3), lambda x: mp.re(mp.polylog(2, 1 - x))),
    unary("jss.i0", jss.i0, (*CENTRE, 30.0), lambda x: mp.besseli(0, x), {0.0: wrong("second derivative is 1/2 (jax-ml/jax#40628)", 2)}),
    unary("jss.i0e", jss.i0e, (*CENTRE, 30.0), lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), {0.0: kink()}),
    unary("jss.i1", jss.i1, (*CENTRE, 30.0), lambda x: mp.besseli(1, x)),
    unary("jss.i1e", jss.i1e, (*CENTRE, 30.0), lambda x: mp.exp(-abs(x)) * mp.besseli(1, x)),
    unary("jss.exp1", jss.exp1, (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 1e-5, 20.0), mp.e1),
    unary("jss.expi", jss.expi, (0.7, 1.3, 2.4, -0.5, -1.3, 1.0, -1.0, 1e-5, 10.0, 50.0), mp.ei),
    unary("jss.expn(2)", lambda x: jss.expn(2, x), (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 10.0, 1e-5), lambda x: mp.expint(2, x)),
    unary("jss.fresnel", jss.fresnel, (0.7, -1.3, 2.4, 0.0, 0.5, 1.0, -1.0, 10.0), lambda x: [mp.fresnels(x), mp.fresnelc(x)]),
    unary("jss.sici", jss.sici, (0.7, 1.3, 2.4, 0.5, 1.0, 4.0, 10.0, 1e-5, 100.0), lambda x: [mp.si(x), mp.ci(x)]),
    unary("jss.owens_t(x, 0.5)", lambda x: jss.owens_t(x, 0.5), (0.7, -1.3, 2.4, 0.0, 1.0), None),
    unary("jss.multigammaln(3)", lambda x: jss.multigammaln(x, 3), (2.3, 1.7, 5.0, 30.0), lambda x: 1.5 * mp.log(mp.pi) + mp.fsum(mp.loggamma(x - mp.mpf(j) / 2) for j in range(3))),
    several("jss.beta", jss.beta, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (20.0, 30.0), (1e-5, 1.0)], mp.beta, ordinary=2),
    several("jss.betaln", jss.betaln, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (1e3, 1e3), (1e-5, 1.0)], lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), ordinary=2),
    several("jss.betainc (x)", lambda x: jss.betainc(2.0, 3.5, x), [(0.3,), (0.7,), (0.5,), (1e-5,), (0.999,)], lambda x: mp.betainc(2, 3.5, 0, x, regularized=True), ordinary=2),
    several("jss.betainc (a, b, x)", jss.betainc, [(2.3, 3.5, 0.3), (0.7, 1.3, 0.6), (1.0, 1.0, 0.5)], lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), ordinary=2, order=1),
    several("jss.gammainc", jss.gammainc, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (5.0, 5.0), (30.0, 20.0), (0.5, 1e-5), (2.0, 50.0)], lambda a, x: mp.gammainc(a, 0, x, regularized=True), ordinary=2, order=1),
    several("jss.gammaincc", jss.gammaincc, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (5.0, 5.0), (30.0, 20.0), (0.5, 1e-5), (2.0, 50.0)], lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), ordinary=2, order=1),
    several("jss.gammainc (x)", lambda x: jss.gammainc(2.5, x), [(0.7,), (2.4,), (1e-5,), (20.0,)], lambda x: mp.gammainc(2.5, 0, x, regularized=True), ordinary=2),
    several("jss.hyp1f1", lambda x: jss.hyp1f1(0.7, 1.9, x), [(0.7,), (-1.3,), (0.0,), (1.0,), (5.0,), (-20.0,)], lambda x: mp.hyp1f1(0.7, 1.9, x), ordinary=2),
    several("jss.hyp1f1 (a, b, x)", jss.hyp1f1, [(0.7, 1.9, 0.6), (2.0, 3.0, -1.3)], mp.hyp1f1, order=1),
    several("jss.hyp2f1", lambda x: jss.hyp2f1(1.0, 1.0, 2.0, x), [(0.3,), (-0.4,), (0.7,), (0.0,), (0.5,), (0.9,), (-1.5,), (-3.0,)], lambda x: mp.hyp2f1(1, 1, 2, x), ordinary=2),
    several("jss.hyp2f1 (generic)", lambda x: jss.hyp2f1(0.7, 1.2, 2.1, x), [(0.3,), (-0.4,), (0.7,), (0.0,), (0.5,)], lambda x: mp.hyp2f1(0.7, 1.2, 2.1, x), ordinary=2),
    several("jss.poch", jss.poch, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (3.0, 2.0), (2.0, 0.0)], mp.rf, ordinary=2),
    several("jss.xlogy", jss.xlogy, [(0.7, 1.3), (-2.4, 0.3), (1.0, 1.0), (0.0, 0.5), (0.0, 1.0), (1e-10, 1e-10)], xlogy, ordinary=2),
    several("jss.xlog1py", jss.xlog1py, [(0.7, 1.3), (-2.4, 0.3), (1.0, 1.0), (0.0, 0.5), (0.0, 0.0), (1.0, 1e-12)], lambda x, y: x * mp.log1p(y), ordinary=2),
    several("jss.rel_entr", jss.rel_entr, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (1e-10, 1.0), (0.0, 0.5)], lambda x, y: xlogy(x, x / y) if x else mp.mpf(0), {5: edge()}, ordinary=2),
    several("jss.kl_div", jss.kl_div, [(0.7, 1.3), (2.4, 0.3), (1.0, 1.0), (0.5, 0.5), (1e-10, 1.0), (0.0, 0.5)], lambda x, y: (xlogy(x, x / y) if x else mp.mpf(0)) - x + y, {5: edge()}, ordinary=2),
    several("jss.zeta", lambda q: jss.zeta(2.5, q), [(0.7,), (2.4,), (1.0,), (20.0,), (1e-3,)], lambda q: mp.zeta(2.5, q), ordinary=2),
    several("jss.boxcox", jss.boxcox, [(0.7, 1.3), (2.4, -0.3), (1.0, 1.0), (2.0, 0.0), (2.0, 1e-9)], lambda x, k: mp.log(x) if k == 0 else (x**k - 1) / k, ordinary=2),
    several("jss.boxcox1p", jss.boxcox1p, [(0.7, 1.3), (2.4, -0.3), (1.0, 1.0), (2.0, 0.0), (1e-9, 0.5)], lambda x, k: mp.log1p(x) if k == 0 else ((1 + x)**k - 1) / k, ordinary=2),
    several("jss.comb", jss.comb, [(5.3, 2.2), (7.4, 3.1)], mp.binomial, ordinary=2),
    several("jss.logsumexp", jss.logsumexp, [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],), ([-1e3, -1e3, -1001.0],), ([1e10, 0.0, 1.0],)], logsumexp),
    several("jss.logsumexp (b)", lambda b: jss.logsumexp(jnp.array([0.7, -1.3, 2.4]), b=b), [([0.5, 1.5, 2.0],), ([0.0, 1.5, 2.0],), ([1e-10, 1.5, 2.0],)],
            lambda b: mp.log(mp.fsum(w * mp.exp(mp.mpf(v)) for w, v in zip(b, [0.7, -1.3, 2.4]))),
            {1: wrong("d/db at b=0 is exp(a)/sum, JAX says 0 (jax-ml/jax#22398)")}),
    several("jss.softmax", jss.softmax, [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],), ([50.0, 0.0, 1.0],)], lambda x: [mp.exp(v) / mp.fsum(map(mp.exp, x)) for v in x]),
    several("jss.log_softmax", jss.log_softmax, [([0.7, -1.3, 2.4],), ([0.0, 0.0, 0.0],), ([1e3, -1e3, 0.0],), ([50.0, 0.0, 1.0],)], lambda x: [v - logsumexp(x) for v in x]),
    several("jss.bessel_jn", lambda x: jss.bessel_jn(x, v=3), [(0.7,), (2.4,), (5.0,), (1.0,)], lambda x: [mp.besselj(n, x) for n in range(4)], ordinary=2),
    several("jss.sph_harm_y", lambda t, p: jss.sph_harm_y(jnp.array([1]), jnp.array([3]), t, p, n_max=3).real, [([0.7], [1.3]), ([1.1], [0.0])], None),
)
