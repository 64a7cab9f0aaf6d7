"""What does a straight-through estimator buy, and what does it cost? A small run, and a plot.

A network whose hidden units are 0 or 1 learns whether a point lies inside a circle. Its true gradient is zero in every
weight before the units, so only the last layer learns; with a surrogate all of them do. The surrogate is no derivative:
the right-hand plot compares it with what the loss really does along the direction that it recommends.

    python examples/surrogates/train.py plot.png     # needs matplotlib
"""

import sys

import jax
import jax.numpy as jnp
from spikes import heaviside, superspike

STEPS, RATE, WIDTH = 400, 0.5, 16


def data():
    """Points, and whether each lies inside a circle."""
    points = jax.random.uniform(jax.random.key(0), (512, 2), minval=-1, maxval=1)
    return points, (jnp.sum(points**2, axis=1) < 0.5).astype(points.dtype)


def start():
    """Small random weights."""
    first, second = jax.random.split(jax.random.key(1))
    hidden = 2 * jax.random.normal(first, (2, WIDTH)), jax.random.uniform(second, (WIDTH,), minval=-1, maxval=1)
    return hidden, jnp.zeros(WIDTH), jnp.zeros(())


def loss(params, spike):
    """Mean cross-entropy."""
    (weights, bias), last, offset = params
    points, labels = data()
    logits = spike(points @ weights + bias) @ last + offset
    return jnp.mean(jax.nn.softplus(logits) - labels * logits)


def train(spike):
    """The loss at every step, and the last parameters."""

    def step(params, _):
        value, gradient = jax.value_and_grad(loss)(params, spike)
        return jax.tree.map(lambda p, g: p - RATE * g, params, gradient), value

    return jax.lax.scan(step, start(), None, STEPS)[::-1]


def bias(params, reach=0.4, count=81):
    """The true loss along the surrogate's direction in the hidden layer, and the slope that the surrogate promises."""
    gradient = jax.grad(loss)(params, superspike)[0]
    size = jnp.sqrt(sum(jnp.sum(g**2) for g in gradient))
    along = jnp.linspace(-reach, reach, count)

    def at(t):
        hidden = jax.tree.map(lambda p, g: p - t * g / size, params[0], gradient)
        return loss((hidden, *params[1:]), heaviside)

    return along, jax.vmap(at)(along), -size


def plot(path):
    """Both pictures in one file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with_rule, params = train(superspike)
    without, _ = train(heaviside)
    along, true, slope = bias(params)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), constrained_layout=True)
    left.plot(without, label="true gradient (0 in the hidden layer)")
    left.plot(with_rule, label="surrogate gradient")
    left.set(xlabel="step", ylabel="loss", title="what it buys", ylim=(0, None))
    left.legend(frameon=False, loc="upper right")
    right.plot(along, true, label="loss")
    right.plot(along, true[len(true) // 2] + slope * along, label="slope that the surrogate promises")
    right.set(xlabel="distance along the surrogate's direction", title="what it costs: it is no derivative")
    right.legend(frameon=False)
    figure.savefig(path, dpi=120)
    return float(without[-1]), float(with_rule[-1])


if __name__ == "__main__":
    print("loss without and with the surrogate: {:.3f}, {:.3f}".format(*plot(sys.argv[1])))
