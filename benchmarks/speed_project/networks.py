"""Parts of neural networks."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, positive


@gradcheck(args=(normal(2, 3), {"w": normal(3, 4), "b": normal(4)}, {"w": normal(4, 1), "b": normal(1)}))
def perceptron(x, first, last):
    return jnp.tanh(x @ first["w"] + first["b"]) @ last["w"] + last["b"]


@gradcheck(args=(normal(2, 4), positive(4), normal(4)))
def layer_norm(x, scale, shift):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return scale * (x - mean) / jnp.sqrt(variance + 1e-5) + shift


@gradcheck(args=(normal(2, 4), positive(4)))
def rms_norm(x, scale):
    return scale * x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


@gradcheck(args=(normal(3, 2), normal(3, 2), normal(3, 2)))
def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / jnp.sqrt(2.0)) @ v


@gradcheck(args=(normal(8), normal(3)))
def convolution(x, kernel):
    return jnp.convolve(x, kernel, mode="valid")


@gradcheck(args=(normal(1, 5, 5, 1), normal(3, 3, 1, 2)))
def convolution_2d(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@gradcheck(args=(normal(3), normal(3, 9), normal(3, 9)))
def gated_unit(h, w, u):
    z, r, n = jnp.split(h @ w, 3)
    a, b, c = jnp.split(h @ u, 3)
    gate = jax.nn.sigmoid(z + a)
    return gate * h + (1 - gate) * jnp.tanh(n + jax.nn.sigmoid(r + b) * c)


@gradcheck(args=(normal(5, 2), normal(2, 2), normal(2)))
def recurrent(xs, w, h):
    return jax.lax.scan(lambda h, x: (jnp.tanh(w @ h + x),) * 2, h, xs)[0]


@gradcheck(args=(normal(4, 3),))
def embedding_loss(table):
    return jnp.sum(jnp.sin(table[jnp.array([0, 2, 2, 3])]) ** 2)


@gradcheck(args=(normal(4, 4),))
def mean_pool(x):
    return jnp.tanh(x).reshape(2, 2, 2, 2).mean(axis=(1, 3))


@gradcheck(args=(normal(3, 4), normal(3, 4)))
def rotary(x, y):
    angle = jnp.arange(3.0)[:, None]
    return x * jnp.cos(angle) + y * jnp.sin(angle) * x
