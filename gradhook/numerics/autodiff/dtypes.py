"""The dtype of the gradient of each differentiated leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from gradhook.comparison.probe import Label
from gradhook.numerics.function import BoundArguments


def gradient_dtypes(function: Callable[..., Any], arguments: BoundArguments) -> list[tuple[Label, str, str]]:
    """Each leaf, its dtype, and the dtype of its gradient by reverse mode; nothing is computed."""

    def gradients(moved: list[Any]) -> Any:
        def call(moved: list[Any]) -> list[Any]:
            args, kwargs = arguments.rebuild(moved)
            leaves = jax.tree.leaves(function(*args, **kwargs))
            return [leaf for leaf in leaves if jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.inexact)]

        value, pull = jax.vjp(call, moved)
        return pull(value)[0]

    moved = [arguments.leaves[place] for place in arguments.moved]
    given = jax.eval_shape(gradients, moved)
    names = [Label(leaf.name) for leaf in arguments.space.leaves]
    return [(n, str(m.dtype), str(g.dtype)) for n, m, g in zip(names, moved, given, strict=True)]
