"""Functions of many kinds, smooth at their inputs, so that both sides can check them."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, positive, spd, uniform


@gradcheck(args=(normal(4),))
def bump(x):
    return jnp.sum(jnp.sin(x) * jnp.exp(-x * x))


@gradcheck(args=(normal(5), normal(5)))
def cosine(a, b):
    return a @ b / jnp.sqrt((a @ a) * (b @ b))


@gradcheck(args=(normal(3, 4),))
def softmax_entropy(x):
    p = jax.nn.softmax(x)
    return -jnp.sum(p * jnp.log(p), axis=-1)


@gradcheck(args=(normal(2, 3), normal(3, 4), normal(4)))
def layer(x, w, b):
    return jnp.tanh(x @ w + b)


@gradcheck(args=(spd(3),))
def log_determinant(a):
    return jnp.linalg.slogdet(a)[1]


@gradcheck(args=(spd(3), normal(3)))
def quadratic(a, b):
    return b @ jnp.linalg.solve(a, b)


@gradcheck(args=(positive(4), positive(4)))
def divergence(p, q):
    return jnp.sum(p * jnp.log(p / q) - p + q)


@gradcheck(args=(normal(6),))
def log_sum(x):
    return jax.nn.logsumexp(x)


@gradcheck(args=(normal(8),))
def cumulative(x):
    return jnp.cumprod(1 + 0.1 * x)


@gradcheck(args=(normal(2), uniform(low=0.1, high=0.5)))
def oscillator(state, step):
    def body(y, _):
        return y + step * jnp.array([y[1], -jnp.sin(y[0])]), None

    return jax.lax.scan(body, state, None, length=10)[0]


@gradcheck(args=(positive(5),))
def gamma_density(x):
    return jax.scipy.stats.gamma.logpdf(x, 2.5)


@gradcheck(args=(normal(4),))
@jax.custom_jvp
def softplus(x):
    return jnp.logaddexp(x, 0.0)


@softplus.defjvp
def _softplus_rule(primals, tangents):
    return softplus(primals[0]), jax.nn.sigmoid(primals[0]) * tangents[0]
