"""Control flow, solvers, rules of one's own."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, positive, uniform


@gradcheck(args=(normal(2), positive()))
def runge_kutta(y, h):
    def slope(y):
        return jnp.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])

    def step(y, _):
        a = slope(y)
        b = slope(y + 0.05 * h * a)
        return y + 0.1 * h * b, None

    return jax.lax.scan(step, y, None, length=5)[0]


@gradcheck(args=(normal(4),))
def branch(x):
    return jax.lax.cond(x[0] > 0, lambda x: jnp.sin(x), lambda x: x**3, x)


@gradcheck(args=(normal(4),))
def switch(x):
    return jax.lax.switch(1, [jnp.sin, jnp.tanh, jnp.exp], x)


@gradcheck(args=(normal(4),))
def loop(x):
    return jax.lax.fori_loop(0, 4, lambda i, x: x + 0.1 * jnp.sin(x), x)


@gradcheck(args=(normal(4),))
def checkpointed(x):
    return jax.checkpoint(lambda x: jnp.sin(jnp.exp(0.3 * x)))(x)


@gradcheck(args=(normal(3, 2),))
def mapped(x):
    return jax.vmap(lambda row: jnp.sum(jnp.sin(row) * jnp.cos(row[::-1])))(x)


@gradcheck(args=(normal(3),))
def gradient_penalty(x):
    return jnp.sum(jax.grad(lambda x: jnp.sum(jnp.sin(x) ** 3))(x) ** 2)


@gradcheck(args=(positive(3),))
def fixed_point(x):
    def body(_, y):
        return 0.5 * (y + x / y)

    return jax.lax.fori_loop(0, 5, body, jnp.ones_like(x))


@gradcheck(args=(normal(5),))
def associative(x):
    return jax.lax.associative_scan(jnp.multiply, 1 + 0.1 * x)


@gradcheck(args=(uniform(4, low=0.2, high=0.8),))
@jax.custom_jvp
def log_odds(p):
    return jnp.log(p) - jnp.log1p(-p)


@log_odds.defjvp
def _log_odds_rule(primals, tangents):
    (p,), (t,) = primals, tangents
    return log_odds(p), t / (p * (1 - p))


@gradcheck(args=(normal(6),))
def polynomial(x):
    return jnp.polyval(x[:4], x[4]) + x[5] ** 3


@gradcheck(args=(normal(6),))
def interpolation(x):
    return jnp.sum(jnp.interp(jnp.linspace(0.1, 0.9, 5), jnp.linspace(0, 1, 6), x) ** 2)


@gradcheck(args=(normal(8),))
def spectrum(x):
    return jnp.abs(jnp.fft.rfft(x)) ** 2


@gradcheck(args=(normal(6),))
def soft_sort(x):
    return jnp.sum(jnp.sort(x) * jnp.arange(6.0))
