"""Densities."""

import jax.numpy as jnp
import jax.scipy.stats as stats

from gradhook import gradcheck, normal, positive, simplex, spd, uniform


@gradcheck(args=(normal(4), normal(4), positive(4)))
def normal_density(x, mean, scale):
    return stats.norm.logpdf(x, mean, scale)


@gradcheck(args=(positive(4), positive(4)))
def exponential_density(x, scale):
    return stats.expon.logpdf(x, scale=scale)


@gradcheck(args=(uniform(4, low=0.1, high=0.9), positive(4), positive(4)))
def beta_density(x, a, b):
    return stats.beta.logpdf(x, a + 1, b + 1)


@gradcheck(args=(normal(4), positive(4)))
def student_density(x, freedom):
    return stats.t.logpdf(x, freedom + 2)


@gradcheck(args=(normal(3), normal(3), spd(3)))
def multivariate_density(x, mean, covariance):
    return stats.multivariate_normal.logpdf(x, mean, covariance)


@gradcheck(args=(simplex(4), positive(4)))
def dirichlet(p, a):
    return jnp.sum((a - 1) * jnp.log(p))


@gradcheck(args=(normal(4), normal(4), positive(4)))
def cauchy_density(x, location, scale):
    return stats.cauchy.logpdf(x, location, scale)


@gradcheck(args=(normal(4), normal(4), positive(4)))
def logistic_density(x, location, scale):
    return stats.logistic.logpdf((x - location) / scale) - jnp.log(scale)


@gradcheck(args=(normal(4), positive(4)))
def normal_cumulative(x, scale):
    return stats.norm.cdf(x / scale)


@gradcheck(args=(normal(3, 4), positive(3)))
def mixture(x, weight):
    return jnp.sum(jnp.log(jnp.sum(weight[:, None] * jnp.exp(-0.5 * x**2), axis=0)))
