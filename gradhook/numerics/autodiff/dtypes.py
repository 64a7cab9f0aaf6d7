"""The dtype of the gradient of each differentiated leaf."""

from __future__ import annotations

from typing import Any

import jax

from gradhook.comparison.probe import Label
from gradhook.numerics.function import FlatFunction


def gradient_dtypes(held: FlatFunction) -> list[tuple[Label, str, str]]:
    """Each leaf, its dtype, and the dtype of its gradient by reverse mode; nothing is computed."""

    def gradients(moved: list[Any]) -> Any:
        value, pull = jax.vjp(held.replayed.to_leaves, moved)
        return pull(value)[0]

    moved = held.inputs.structs()
    given = jax.eval_shape(gradients, moved)
    names = [Label(leaf.name) for leaf in held.inputs.leaves]
    return [(n, str(m.dtype), str(g.dtype)) for n, m, g in zip(names, moved, given, strict=True)]
