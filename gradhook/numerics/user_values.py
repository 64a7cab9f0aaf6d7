"""Lay out the values and derivatives that the author gives like those of the function."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from gradhook.model.errors import GradhookError
from gradhook.numerics.function import FlatFunction


def vector(value: Any, size: int, what: str) -> Any:
    """Given numbers as one vector of the outputs' size; a scalar stands for every element."""
    parts = [np.asarray(leaf) for leaf in jax.tree.leaves(value)]
    flat = np.concatenate(
        [np.concatenate([p.real.ravel(), p.imag.ravel()] if np.iscomplexobj(p) else [p.ravel()]) for p in parts]
    )
    flat = np.broadcast_to(flat, (size,)) if flat.size == 1 else flat
    if flat.size != size:
        raise GradhookError(
            f"{what} holds {flat.size} numbers, the function returns {size}", "give one number for each"
        )
    return flat.astype(np.float64)


def jacobian(derivative: Any, held: FlatFunction) -> Any:
    """A given gradient or Jacobian as one matrix (m, n): leaves in the order outputs, then inputs."""
    leaves = [np.asarray(leaf, dtype=np.float64) for leaf in jax.tree.leaves(derivative)]
    outs, ins = held.outputs.leaves, held.inputs.leaves
    shapes = [(o.size, i.size) for o in outs for i in ins]
    if len(leaves) != len(shapes) or any(leaf.size != a * b for leaf, (a, b) in zip(leaves, shapes, strict=True)):
        wanted = ", ".join(str((*o.shape, *i.shape)) for o in outs for i in ins)
        got = ", ".join(str(leaf.shape) for leaf in leaves)
        raise GradhookError(
            f"the given derivative has the shapes {got}; expected {wanted}",
            "give one array for each pair of output and differentiated argument: output's shape, then argument's",
        )
    blocks = [leaf.reshape(shape) for leaf, shape in zip(leaves, shapes, strict=True)]
    rows = [np.concatenate(blocks[k : k + len(ins)], axis=1) for k in range(0, len(blocks), len(ins))]
    return np.concatenate(rows, axis=0)
