"""Special functions."""

import jax.numpy as jnp
import jax.scipy.special as sp

from gradhook import gradcheck, normal, positive, uniform


@gradcheck(args=(normal(4),))
def error_function(x):
    return sp.erf(x) * sp.erfc(0.3 * x)


@gradcheck(args=(positive(4),))
def log_gamma(x):
    return sp.gammaln(x + 1)


@gradcheck(args=(positive(4),))
def digamma(x):
    return sp.digamma(x + 0.5)


@gradcheck(args=(positive(3), positive(3)))
def log_beta(a, b):
    return sp.betaln(a + 1, b + 1)


@gradcheck(args=(uniform(4, low=0.1, high=0.9),))
def entropy(p):
    return sp.entr(p) + sp.entr(1 - p)


@gradcheck(args=(uniform(4, low=0.1, high=0.9),))
def logit(p):
    return sp.logit(p)


@gradcheck(args=(normal(4),))
def bessel(x):
    return sp.i0e(x + 3) + sp.i1e(x + 3)


@gradcheck(args=(normal(4),))
def log_normal_tail(x):
    return sp.log_ndtr(x)


@gradcheck(args=(positive(4),))
def relative_entropy(x):
    return sp.rel_entr(x, 0.5 * x + 1)


@gradcheck(args=(normal(4),))
def expit(x):
    return sp.expit(x) * jnp.cos(x)
