"""Parameters of twenty leaves."""

import jax.numpy as jnp

from gradhook import gradcheck, normal

LAYERS = {f"layer{k}": {"w": normal(3, 3), "b": normal(3)} for k in range(10)}


@gradcheck(args=(LAYERS, normal(4, 3)))
def network(parameters, x):
    for layer in parameters.values():
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean(x**2)
