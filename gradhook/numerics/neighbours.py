"""Find given inputs that coincide, and a point beside them at which nothing does.

At equal numbers a permuted argument does not show, at a symmetric matrix no forgotten transpose, at 0 and 1 no wrong
power. What is drawn from a spec is generic already and stays; what is given and special is moved: by a part of its own
size, so that no number changes its sign, an ordered array stays ordered, and probabilities still sum to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradhook.numerics.finite_difference.directions import magnitude
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.flatten import LeafInfo
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.sampling import generator

LEAST, MOST = 0.05, 0.2
"""How far a number moves, as a part of its size; a 0 as a part of the largest number beside it, up to 1."""
SIZES = (1.0, 2.0**-4, 2.0**-8)
"""The moves that are tried, until the value is finite."""
ROUND = 4
"""Multiples of 1 / 4 are round numbers: no measurement, but what a person writes down."""
REPEATED = 0.75
"""An array of at most so many different numbers, as a part of all, has several equal ones; a symmetric 2 x 2 has."""
CLOSE = 1e-6
"""Rows sum to 1, or are orthonormal, if they are so nearly: they may come from float32."""


def special_inputs(held: FlatFunction) -> tuple[str, str]:
    """The special property of the given inputs, and the errors that it hides; empty where there is none."""
    words = [special(leaf, values) for leaf, values in _parts(held)]
    found = next((one for one in words if one[0]), ("", ""))
    return found if found[0] else _twins(held)


def neighbour(held: FlatFunction, seed: str, size: float) -> Array | None:
    """A point (n,) beside that of ``held``; None where a definite matrix would not stay definite."""
    parts, twins = _parts(held), _equal_leaves(held)
    keeps = _promises_symmetry(held)
    found = []
    for place, (leaf, values) in enumerate(parts):
        random = generator(seed, "beside", size, place)
        moves = bool(special(leaf, values)[0]) or place in twins
        found.append(_moved(leaf, values, random, size, keeps) if moves else values)
    if keeps and not all(_as_definite(leaf, old, new) for (leaf, old), new in zip(parts, found, strict=True)):
        return None
    return np.concatenate(found)


def special(leaf: LeafInfo, values: Array) -> tuple[str, str]:
    """The special property of one given array, and the errors that it hides."""
    finite = values[np.isfinite(values)]
    if not _is_given(leaf) or not finite.size or _is_rotation(leaf, values):
        return "", ""
    name = f"`{leaf.name}`"
    if not finite.any():
        return f"{name} is 0", "a wrong factor or power"
    if finite.size == 1:
        return (f"{name} is {finite[0]:g}", "a wrong power") if _is_round(finite) else ("", "")
    if (finite == finite[0]).all():
        return f"all numbers of {name} are equal", "a permuted argument"
    if _is_symmetric(leaf, values):
        return f"{name} is symmetric", "a forgotten transpose"
    if len(np.unique(finite)) <= REPEATED * finite.size:
        return f"{name} has equal numbers", "a permuted argument"
    return (f"{name} has round numbers only", "a wrong power") if _is_round(finite) else ("", "")


def _twins(held: FlatFunction) -> tuple[str, str]:
    equal, leaves = _equal_leaves(held), held.inputs.leaves
    names = [f"`{leaves[place].name}`" for place in sorted(equal)]
    return (f"{' and '.join(names[:2])} are equal", "exchanged arguments") if names else ("", "")


def _equal_leaves(held: FlatFunction) -> frozenset[int]:
    """The places of given arrays that hold the same numbers as another one."""
    keys: dict[tuple[tuple[int, ...], bytes], list[int]] = {}
    for place, (leaf, values) in enumerate(_parts(held)):
        if _is_given(leaf) and values.size:
            keys.setdefault((leaf.shape, values.tobytes()), []).append(place)
    return frozenset(place for places in keys.values() if len(places) > 1 for place in places)


def _parts(held: FlatFunction) -> list[tuple[LeafInfo, Array]]:
    leaves = held.inputs.leaves
    ends = np.cumsum([leaf.size for leaf in leaves])
    return list(zip(leaves, np.split(held.point, ends[:-1]), strict=True))


def _is_given(leaf: LeafInfo) -> bool:
    return leaf.spec is None or leaf.spec.kind == "full"


def _is_round(finite: Array) -> bool:
    return bool((ROUND * finite == np.round(ROUND * finite)).all())


def _is_symmetric(leaf: LeafInfo, values: Array) -> bool:
    """Whether a real square matrix, or each of a stack, is its transpose."""
    if leaf.complex or len(leaf.shape) < 2 or leaf.shape[-1] != leaf.shape[-2] or leaf.shape[-1] < 2:
        return False
    matrix = values.reshape(leaf.shape)
    return bool(np.array_equal(matrix, np.swapaxes(matrix, -1, -2), equal_nan=True))


def _is_rotation(leaf: LeafInfo, values: Array) -> bool:
    """Whether a matrix is orthogonal and not symmetric: then it is likely meant so, and generic already."""
    if leaf.complex or len(leaf.shape) != 2 or leaf.shape[0] != leaf.shape[1] or _is_symmetric(leaf, values):
        return False
    matrix = values.reshape(leaf.shape)
    return bool(np.abs(matrix @ matrix.T - np.eye(len(matrix))).max() <= CLOSE)


def _moved(leaf: LeafInfo, values: Array, random: np.random.Generator, size: float, keeps: bool) -> Array:
    """Other numbers in the place of the given ones; those that are not finite stay."""
    finite = np.isfinite(values)
    still = np.where(finite, values, 0.0)
    largest = magnitude(still)
    nothing = min(1.0, float(np.abs(still).max())) or 1.0
    step = size * random.uniform(LEAST, MOST, still.shape) * np.where(still == 0, nothing, np.abs(still))
    step *= np.where(still == 0, _side(still), random.choice([-1.0, 1.0], still.shape))
    # Inwards rather than past the next power of two: the scale of the function's directions stays the same.
    moved = np.where(np.abs(still + step) > largest, still - step, still + step)
    return np.where(finite, _structured(leaf, still, moved, keeps), values)


def _side(still: Array) -> float:
    """The side to which a 0 goes: that of the other numbers; up where there are none or both."""
    return -1.0 if (still <= 0).all() and still.any() else 1.0


def _structured(leaf: LeafInfo, old: Array, moved: Array, keeps: bool) -> Array:
    """The moved numbers, as ordered as the given ones, summing to 1 where those did."""
    if leaf.complex or not leaf.shape:
        return moved
    before, after = old.reshape(leaf.shape), moved.reshape(leaf.shape)
    for axis in range(before.ndim):
        after = _ordered(before, after, axis)
    if before.shape[-1] > 1 and (before >= 0).all() and (np.abs(before.sum(axis=-1) - 1) <= CLOSE).all():
        after = after / after.sum(axis=-1, keepdims=True)
    if keeps and _is_symmetric(leaf, old):
        after = np.tril(after) + np.swapaxes(np.tril(after, -1), -1, -2)
    return np.asarray(after.ravel())


def _ordered(before: Array, after: Array, axis: int) -> Array:
    steps = np.diff(before, axis=axis)
    if (steps >= 0).all():
        return np.sort(after, axis=axis)
    return np.flip(np.sort(after, axis=axis), axis) if (steps <= 0).all() else after


def _promises_symmetry(held: FlatFunction) -> bool:
    """Whether a linear solve inside declares its operator symmetric, as ``jax.scipy.sparse.linalg.cg`` does."""
    return any(_is_symmetric_solve(equation) for equation in traverse.equations(held.jaxpr))


def _is_symmetric_solve(equation: Any) -> bool:
    if equation.primitive.name != "custom_linear_solve":
        return False
    product, transposed = equation.params["jaxprs"][:2]
    return product is transposed


def _as_definite(leaf: LeafInfo, old: Array, new: Array) -> bool:
    """Whether a symmetric matrix that was positive definite still is."""
    if not _is_symmetric(leaf, old) or not np.isfinite(old).all():
        return True
    smallest = [np.linalg.eigvalsh(values.reshape(leaf.shape)).min() for values in (old, new)]
    return bool(smallest[0] <= 0 or smallest[1] > 0)
