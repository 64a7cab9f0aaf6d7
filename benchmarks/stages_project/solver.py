"""An adaptive solver of ordinary differential equations."""

import jax.numpy as jnp
from diffrax import ODETerm, PIDController, SaveAt, Tsit5, diffeqsolve

from gradhook import gradcheck, uniform


@gradcheck(args=(uniform(2, low=0.5, high=1.5), uniform(4, low=0.5, high=1.5)), modes="rev")
def lotka_volterra(start, rates):
    def field(t, y, rates):
        prey, predators = y
        a, b, c, d = rates
        return jnp.stack([a * prey - b * prey * predators, c * prey * predators - d * predators])

    found = diffeqsolve(
        ODETerm(field),
        Tsit5(),
        0.0,
        2.0,
        0.1,
        start,
        args=rates,
        saveat=SaveAt(t1=True),
        stepsize_controller=PIDController(rtol=1e-8, atol=1e-10),
    )
    return found.ys[0]
