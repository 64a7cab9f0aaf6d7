"""Differentiate a rule twice, to see whether the rule is kept and its derivative the declared one.

The first derivative cannot tell a rule that returns ``round(x)`` from one that returns the decorated function's value:
only differentiating that value once more can.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import ADJOINT
from gradhook.comparison.probe import ConsistencyPair, DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.fused import together
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.sampling import generator
from gradhook.numerics.surrogates.declaration import Declaration, derivative_map

VALUE, DERIVATIVE = "the rule's value", "the derivative"


def second(
    held: FlatFunction, declared: Declaration, modes: tuple[Mode, ...], seed: str, clock: Clock
) -> tuple[ConsistencyPair, ...]:
    """For each mode, applied twice: the value that the rule returns, then the derivative that it returns.

    What the derivative's derivative must be is declared by ``order2``; without it nan is expected, which never differs.
    """
    random = generator(seed, "second")
    one, two = (directions.dense(held.inputs, held.point, random) for _ in range(2))
    w, u = (directions.mixed(held.outputs.size, random) for _ in range(2))
    slope = derivative_map(held, declared) if declared.order2 == "of the surrogate" else None
    questions = {f"{mode} {name}": ask for mode in modes for name, ask in _asked(held.call, mode, slope).items()}
    arguments = held.point, one, two, w, u
    found = together(questions, arguments, clock)

    def rounded(*names: str) -> Array:
        return np.asarray(sum(rounding.of(questions[name], *arguments) for name in names if name in questions))

    pairs = []
    for mode in modes:
        first = found[f"{mode} first"]
        if isinstance(first, DerivativeError):
            continue
        value = ConsistencyPair(VALUE, mode, found[f"{mode} value"], first)
        derivative = ConsistencyPair(
            DERIVATIVE, mode, found[f"{mode} derivative"], _wanted(declared, found, mode, first)
        )
        pairs.append(value.rounded(ADJOINT, partial(rounded, f"{mode} value", f"{mode} first")))
        pairs.append(derivative.rounded(ADJOINT, partial(rounded, f"{mode} derivative", f"{mode} declared")))
    return tuple(pairs)


def _wanted(declared: Declaration, found: dict[str, Any], mode: Mode, like: Any) -> Any:
    if declared.order2 == "zero":
        return np.zeros(like.shape)
    wanted = found.get(f"{mode} declared")
    return np.full(like.shape, np.nan) if wanted is None or isinstance(wanted, DerivativeError) else wanted


def _asked(f: Any, mode: Mode, slope: Any) -> dict[str, Callable[..., Any]]:
    return _forward(f, slope) if mode == "fwd" else _reverse(f, slope)


def _forward(f: Any, slope: Any) -> dict[str, Callable[..., Any]]:
    def twice(x: Any, one: Any, two: Any) -> Any:
        return jax.jvp(lambda x: jax.jvp(f, (x,), (one,)), (x,), (two,))[1]

    asked: dict[str, Callable[..., Any]] = {
        "first": lambda x, one, two, w, u: jax.jvp(f, (x,), (two,))[1],
        "value": lambda x, one, two, w, u: twice(x, one, two)[0],
        "derivative": lambda x, one, two, w, u: twice(x, one, two)[1],
    }
    if slope is not None:
        asked["declared"] = lambda x, one, two, w, u: jax.jvp(lambda x: slope(x, one), (x,), (two,))[1]
    return asked


def _reverse(f: Any, slope: Any) -> dict[str, Callable[..., Any]]:
    def back(x: Any, w: Any) -> Any:
        value, pull = jax.vjp(f, x)
        return value, pull(w)[0]

    def twice(x: Any, w: Any, of_value: Any, of_gradient: Any) -> Any:
        return jax.vjp(lambda x: back(x, w), x)[1]((of_value, of_gradient))[0]

    asked: dict[str, Callable[..., Any]] = {
        "first": lambda x, one, two, w, u: jax.vjp(f, x)[1](u)[0],
        "value": lambda x, one, two, w, u: twice(x, w, u, jnp.zeros_like(x)),
        "derivative": lambda x, one, two, w, u: twice(x, w, jnp.zeros_like(u), one),
    }
    if slope is not None:
        asked["declared"] = lambda x, one, two, w, u: jax.grad(lambda x: w @ slope(x, one))(x)
    return asked
