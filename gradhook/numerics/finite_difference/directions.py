"""Choose the directions along which a function is differentiated, and how far each may be followed.

Few inputs: every coordinate, and two directions that move everything. Entries of such a direction are random numbers of
full precision times the magnitude of the element: errors of several elements do not cancel in all directions, and a
cast to a narrower format inside a rule shows, which small dyadic numbers would survive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradhook.comparison.probe import Label
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.finite_difference.scales import StepLimits
from gradhook.numerics.flatten import FlatLayout, LeafInfo

FULL = 64
"""Up to so many inputs the whole Jacobian is measured."""
DENSE_WITH_FULL, DENSE_ALONE = 2, 4
SMALLEST_WEIGHT, LARGEST_WEIGHT = 0.75, 1.25
"""Magnitudes of the entries of a direction that moves everything: no element counts for little."""


@dataclass(frozen=True)
class Directions:
    """Directions (D, n), their names, and the geometry of the lines along them."""

    vectors: Array
    labels: tuple[Label, ...]
    limits: StepLimits


def choose(space: FlatLayout, point: Array, random: np.random.Generator) -> Directions:
    """Directions for a point (n,) of a space; coordinates that are not finite are not moved."""
    vectors, labels = _axes(space, point) if space.size <= FULL else ([], [])
    count = DENSE_WITH_FULL if space.size <= FULL else DENSE_ALONE
    for number in range(count if np.isfinite(point).any() else 0):
        vectors.append(dense(space, point, random))
        labels.append(Label("direction", (number,)))
    matrix = np.stack(vectors) if vectors else np.zeros((0, space.size))
    return Directions(matrix, tuple(labels), step_limits(space, point, matrix))


def combination(size: int, random: np.random.Generator) -> Array:
    """A cotangent (m,) in which every output counts; of a single output, its plain gradient."""
    return mixed(size, random) if size > 1 else np.ones(size)


def weights(size: int, random: np.random.Generator) -> Array:
    """Combinations of outputs for reverse mode: none (each output alone) for few, dense ones for many."""
    return mixed((DENSE_ALONE, size), random) if size > FULL else np.zeros((0, size))


def mixed(shape: int | tuple[int, ...], random: np.random.Generator) -> Array:
    """Random numbers of full precision and either sign, all of about the same magnitude."""
    return np.asarray(random.choice([-1.0, 1.0], shape) * random.uniform(SMALLEST_WEIGHT, LARGEST_WEIGHT, shape))


def _axes(space: FlatLayout, point: Array) -> tuple[list[Array], list[Label]]:
    vectors: list[Array] = []
    labels: list[Label] = []
    start = 0
    for leaf in space.leaves:
        for offsets, label in _moves(leaf):
            axis = np.zeros(space.size)
            for offset, weight in offsets:
                axis[start + offset] += weight
            if np.isfinite(point[axis != 0]).all():
                vectors.append(axis)
                labels.append(label)
        start += leaf.size
    return vectors, labels


def _moves(leaf: LeafInfo) -> list[tuple[list[tuple[int, float]], Label]]:
    """The elementary moves of a leaf: single elements, or pairs where the domain is a subspace."""
    labels = leaf.labels()
    kind = leaf.spec.kind if leaf.spec else ""
    if kind == "spd":
        rows = leaf.shape[-1]
        pairs = [(k, _transposed(k, rows)) for k in range(leaf.size)]
        return [([(k, 0.5), (t, 0.5)], labels[k]) for k, t in pairs if k <= t]
    if kind == "simplex":
        last = leaf.shape[-1] if leaf.shape else 1
        return [([(k, 1.0), (k + 1, -1.0)], labels[k]) for k in range(leaf.size) if (k + 1) % last]
    return [([(k, 1.0)], labels[k]) for k in range(leaf.size)]


def _transposed(k: int, rows: int) -> int:
    block, inside = divmod(k, rows * rows)
    i, j = divmod(inside, rows)
    return block * rows * rows + j * rows + i


def dense(space: FlatLayout, point: Array, random: np.random.Generator) -> Array:
    """A direction (n,) that moves everything finite, each element in proportion to its magnitude."""
    vector = mixed(space.size, random)
    start = 0
    for leaf in space.leaves:
        part = slice(start, start + leaf.size)
        vector[part] = _inside(leaf, vector[part] * _magnitudes(leaf, point[part]))
        start += leaf.size
    return np.where(np.isfinite(point), vector, 0.0)


def _magnitudes(leaf: LeafInfo, values: Array) -> Array:
    """Powers of two not below the magnitude of each element; of a matrix or a simplex, of the largest."""
    if leaf.spec and leaf.spec.kind in ("spd", "simplex"):
        return np.full(values.shape, magnitude(values))
    finite = np.where(np.isfinite(values), np.abs(values), 1.0)
    return np.asarray(2.0 ** np.ceil(np.log2(np.maximum(1.0, finite))))


def _inside(leaf: LeafInfo, vector: Array) -> Array:
    """The part of a direction that stays in the leaf's domain."""
    kind = leaf.spec.kind if leaf.spec else ""
    shaped = vector.reshape(leaf.shape) if kind in ("spd", "simplex") else vector
    if kind == "spd":
        return np.asarray((shaped + np.swapaxes(shaped, -1, -2)).ravel() / 2)
    if kind == "simplex":
        return np.asarray((shaped - shaped.mean(axis=-1, keepdims=True)).ravel())
    return vector


def magnitude(values: Array) -> float:
    """The power of two not below the largest finite magnitude, nor below 1."""
    finite = np.abs(values[np.isfinite(values)])
    return float(2.0 ** np.ceil(np.log2(max(1.0, float(finite.max(initial=0.0))))))


def step_limits(space: FlatLayout, point: Array, vectors: Array, *, bounds_only: bool = False) -> StepLimits:
    """Scale and largest steps along directions (D, n); with ``bounds_only`` matrices may turn indefinite."""
    still = np.where(np.isfinite(point), point, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        abscissa_scale = np.where(vectors != 0, np.abs(still / vectors), 0.0).max(axis=1, initial=0.0)
    scale = 2.0 ** np.ceil(np.log2(np.maximum(1.0, abscissa_scale)))
    back, ahead = _rooms(space, point, vectors, bounds_only)
    return StepLimits(scale, abscissa_scale, back, ahead)


def _rooms(space: FlatLayout, point: Array, vectors: Array, bounds_only: bool) -> tuple[Array, Array]:
    """The largest steps backward and forward before an input leaves its domain."""
    low, high = _bounds(space)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(vectors > 0, (high - point) / vectors, np.where(vectors < 0, (low - point) / vectors, np.inf))
        down = np.where(vectors > 0, (point - low) / vectors, np.where(vectors < 0, (point - high) / vectors, np.inf))
    limit = np.full(len(vectors), np.inf) if bounds_only else _definite(space, point, vectors)
    return np.minimum(down.min(axis=1, initial=np.inf), limit), np.minimum(up.min(axis=1, initial=np.inf), limit)


def _bounds(space: FlatLayout) -> tuple[Array, Array]:
    bounds = [(leaf.spec.low, leaf.spec.high) if leaf.spec else (-np.inf, np.inf) for leaf in space.leaves]
    sizes = [leaf.size for leaf in space.leaves]
    low = np.repeat([b[0] for b in bounds], sizes) if bounds else np.zeros(0)
    high = np.repeat([b[1] for b in bounds], sizes) if bounds else np.zeros(0)
    return low.astype(float), high.astype(float)


def _definite(space: FlatLayout, point: Array, vectors: Array) -> Array:
    """The largest step that keeps a matrix definite: half its smallest eigenvalue over the norm (Weyl)."""
    limit = np.full(len(vectors), np.inf)
    start = 0
    for leaf in space.leaves:
        part = slice(start, start + leaf.size)
        start += leaf.size
        if leaf.spec and leaf.spec.kind == "spd":
            smallest = float(np.linalg.eigvalsh(point[part].reshape(leaf.shape)).min())
            norm = np.linalg.norm(vectors[:, part], axis=1)
            with np.errstate(divide="ignore"):
                limit = np.minimum(limit, np.where(norm > 0, smallest / 2 / norm, np.inf))
    return limit
