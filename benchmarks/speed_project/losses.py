"""Losses."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, positive, uniform


@gradcheck(args=(normal(3, 4), uniform(3, 4, low=0.1, high=0.9)))
def cross_entropy(logits, labels):
    return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1))


@gradcheck(args=(normal(6), normal(6)))
def squared_error(x, y):
    return jnp.mean((x - y) ** 2)


@gradcheck(args=(normal(6), normal(6)))
def log_cosh(x, y):
    return jnp.mean(jnp.logaddexp(x - y, y - x) - jnp.log(2.0))


@gradcheck(args=(normal(6), normal(6)))
def pseudo_huber(x, y):
    return jnp.sum(jnp.sqrt(1 + (x - y) ** 2) - 1)


@gradcheck(args=(normal(5), uniform(5, low=0.1, high=0.9)))
def binary_cross_entropy(logits, labels):
    return jnp.mean(jnp.logaddexp(0.0, logits) - labels * logits)


@gradcheck(args=(positive(5), positive(5)))
def poisson(rate, count):
    return jnp.mean(rate - count * jnp.log(rate))


@gradcheck(args=(normal(4, 3), normal(4, 3)))
def contrastive(a, b):
    a = a / jnp.linalg.norm(a, axis=-1, keepdims=True)
    b = b / jnp.linalg.norm(b, axis=-1, keepdims=True)
    return -jnp.mean(jnp.diag(jax.nn.log_softmax(a @ b.T / 0.5)))


@gradcheck(args=(normal(4), positive(4), normal(4)))
def gaussian_likelihood(mean, variance, x):
    return 0.5 * jnp.sum(jnp.log(variance) + (x - mean) ** 2 / variance)


@gradcheck(args=(normal(4), normal(4), normal(4), normal(4)))
def gaussian_divergence(m1, s1, m2, s2):
    return jnp.sum(s2 - s1 + (jnp.exp(2 * s1) + (m1 - m2) ** 2) / (2 * jnp.exp(2 * s2)) - 0.5)


@gradcheck(args=(normal(3, 4),))
def focal(logits):
    p = jax.nn.sigmoid(logits)
    return -jnp.mean((1 - p) ** 2 * jnp.log(p))


@gradcheck(args=(normal(5), normal(5)))
def cosine_distance(a, b):
    return 1 - jnp.vdot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b))
