"""Reduce large functions to a few directions and sampled outputs.

A function of few numbers is looked at as it is. One of very many inputs is followed along a few directions that move
all of them, and along one for each argument leaf that moves that leaf alone, ``z -> f(x + z v)``; one of very many
outputs is seen through a sample of them and a few combinations of all. Directions and combinations are computed where
they are used, never stored: the memory that a check takes beyond the function's own is a few copies of its input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import jax.numpy as jnp
import numpy as np

from gradhook.comparison.probe import ALONG, BALANCED, Label
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.directions import Directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.finite_difference.scales import StepLimits
from gradhook.numerics.flatten import FlatLayout, LeafInfo
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.sampling import generator

MANY = 2048
"""From so many outputs on, not every one is looked at on its own."""
FOLLOWED, COMBINED, SAMPLED = 4, 4, 256
BESIDE_LEAVES = 2
"""So many directions move everything where each leaf has a direction of its own."""
GROUPS = 16
"""At most so many directions move one leaf alone, or a group of neighbouring leaves where there are more."""
SPAN = 1e-12
"""Parts of a gradient smaller than this, relative to the largest, count as equal."""
SMALL = 64
"""Neighbouring leaves of up to so many numbers are moved as one array."""
_CHUNK = 2**20


@dataclass(frozen=True)
class Projection:
    """A function of few numbers in the place of one of many: ``call(operands, z)`` near ``point``.

    ``operands`` has one entry for all directions, or one for each: then each direction is a function of one number.
    ``weights`` (r, m) are the combinations of outputs that reverse mode pulls back; none where each output is.
    """

    call: Callable[..., Any]
    operands: tuple[tuple[Any, ...], ...]
    point: Array
    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]
    directions: Directions
    weights: Array
    tangent: Callable[[np.random.Generator], Array]
    direction: Callable[[int], Array]
    """A direction as a tangent (n,) of the function itself."""
    project_outputs: Callable[[Any], Any]
    """Map an output vector to the outputs and combinations that are compared."""

    def parts(self, t: Array | None = None) -> list[tuple[tuple[Any, ...], Array, Array]]:
        """The directions that share operands: the operands, those directions (d, n), their rows of ``t``."""
        vectors = self.directions.vectors
        steps = np.zeros((len(vectors), 1)) if t is None else t
        if len(self.operands) == 1:
            return [(self.operands[0], vectors, steps)]
        return [(ops, vectors[k : k + 1], steps[k : k + 1]) for k, ops in enumerate(self.operands)]


def project(held: FlatFunction, call: Callable[[Any], Any], seed: str, gradient: Array | None = None) -> Projection:
    """The projection of a function with the inputs and outputs of ``held``.

    With a ``gradient`` (n,), one more direction moves each input of a large function by so much that all contribute
    alike, however far apart the elements of the gradient are.
    """
    shown, outputs, weights = _shown(held, seed)

    def seen(x: Any) -> Any:
        return shown(call(x))

    if held.inputs.size <= directions.FULL:
        chosen = directions.choose(held.inputs, held.point, generator(seed, "directions"))
        return Projection(
            call=seen,
            operands=((),),
            point=held.point,
            inputs=held.inputs.labels(),
            outputs=outputs,
            directions=chosen,
            weights=weights,
            tangent=lambda random: directions.dense(held.inputs, held.point, random),
            direction=lambda row: chosen.vectors[row],
            project_outputs=shown,
        )
    rows = _rows(held, seed, gradient)
    labels = tuple(row.label for row in rows)
    return Projection(
        call=lambda operands, z: seen(_embed(held, operands, z)),
        operands=tuple((held.point, row.start, row.stop, row.key, row.size) for row in rows),
        point=np.zeros(1),
        inputs=(Label("direction"),),
        outputs=outputs,
        directions=Directions(np.ones((len(rows), 1)), labels, _lines(held, rows)),
        weights=weights,
        tangent=lambda random: np.ones(1),
        direction=lambda row: _written_out(held, rows[row]),
        project_outputs=shown,
    )


@dataclass(frozen=True)
class Row:
    """A followed direction: the inputs that it moves, the key of its entries, and their factors."""

    label: Label
    start: int
    stop: int
    key: np.uint32
    size: Any = 1.0


def _rows(held: FlatFunction, seed: str, gradient: Array | None) -> list[Row]:
    """A few directions that move everything and, of several leaves, one for each leaf or group of leaves."""
    space = held.inputs
    leaves = [leaf for leaf in space.leaves if leaf.size]
    moved = [] if len(leaves) < 2 else groups(leaves)
    count = BESIDE_LEAVES if moved else FOLLOWED
    everything = [(Label("direction", (k,)), 0, space.size) for k in range(count)]
    keys = generator(seed, "followed").integers(0, 2**32, count + len(moved) + 1, dtype=np.uint32)
    even = 1.0 if gradient is None else np.ones(space.size)
    found = [Row(*what, key, even) for what, key in zip([*everything, *moved], keys[:-1], strict=True)]
    if gradient is not None:
        label = Label("direction", (count,), BALANCED)
        found.append(Row(label, 0, space.size, keys[-1], _balance(held, gradient)))
    return found


def _balance(held: FlatFunction, gradient: Array) -> Array:
    """Factors (n,) up to 1 under which all inputs contribute alike; those without a gradient move most."""
    magnitudes = _magnitudes(held.inputs, held.point)
    moved = np.repeat(magnitudes, [leaf.size for leaf in held.inputs.leaves])
    parts = np.nan_to_num(np.abs(gradient) * moved)
    largest = float(parts.max(initial=0.0))
    smallest = float(np.min(parts, where=parts > SPAN * largest, initial=np.inf))
    return np.asarray(np.where(parts > smallest, smallest / np.maximum(parts, smallest), 1.0))


def groups(leaves: Sequence[LeafInfo]) -> list[tuple[Label, int, int]]:
    """Neighbouring leaves in at most ``GROUPS`` groups: a label, the first input and the end of each."""
    ends = np.cumsum([leaf.size for leaf in leaves])
    found = []
    for group in np.array_split(np.arange(len(leaves)), min(GROUPS, len(leaves))):
        first, last = int(group[0]), int(group[-1])
        name = leaves[first].name if first == last else f"{leaves[first].name} … {leaves[last].name}"
        start, stop = int(ends[first]) - leaves[first].size, int(ends[last])
        label = leaves[first].label(0) if stop - start == 1 else Label(name, part=ALONG)
        found.append((label, start, stop))
    return found


def _written_out(held: FlatFunction, row: Row) -> Array:
    places = np.arange(held.inputs.size)
    inside = (places >= row.start) & (places < row.stop)
    return np.where(inside, np.asarray(_direction(held, row.key)) * row.size, 0.0)


def restricted(whole: Projection, row: int, start: int, stop: int) -> Projection:
    """One followed direction, with only the inputs from ``start`` to ``stop`` moving; the same programs."""
    point, _, _, key, size = whole.operands[row]
    chosen, one = whole.directions, slice(row, row + 1)
    limits = chosen.limits
    geometry = StepLimits(
        limits.scale[one], limits.abscissa_scale[one], limits.max_step_backward[one], limits.max_step_forward[one]
    )
    only = Directions(chosen.vectors[one], chosen.labels[one], geometry)
    return replace(whole, operands=((point, start, stop, key, size),), directions=only)


def perturbed(whole: Projection, units: int) -> Projection:
    """The projection at a point moved by some units in the last place."""
    factor = 1 + units * np.finfo(np.float64).eps
    operands = tuple((ops[0] * factor, *ops[1:]) if ops else ops for ops in whole.operands)
    return replace(whole, point=whole.point * factor, operands=operands)


def at_point(whole: Projection, held: FlatFunction, seed: str) -> Projection:
    """The projection at the point of ``held``, another one of the same function, with the same programs.

    The directions of a large function stay as they are: the point beside one is of the same scale.
    """
    if not whole.operands[0]:
        return project(held, held.call, seed)
    return replace(whole, operands=tuple((held.point, *ops[1:]) for ops in whole.operands))


def entry(held: FlatFunction, whole: Projection, row: int, place: int) -> float:
    """The entry of followed direction ``row`` at the input ``place``."""
    key, size = whole.operands[row][3:]
    begin = 0
    for leaf, magnitude in zip(held.inputs.leaves, _magnitudes(held.inputs, held.point), strict=True):
        if place < leaf.size:
            own = float(np.broadcast_to(size, held.inputs.size)[place + begin])
            return float(weights(np, place + begin, place + begin + 1, key)[0] * magnitude) * own
        begin += leaf.size
        place -= leaf.size
    raise IndexError(place)


def _shown(held: FlatFunction, seed: str) -> tuple[Callable[[Any], Any], tuple[Label, ...], Array]:
    """The projection of outputs: all of them, or a sample followed by combinations of all."""
    size = held.outputs.size
    if size < MANY:
        return lambda y: y, held.outputs.labels(), directions.weights(size, generator(seed, "weights"))
    sample = np.sort(generator(seed, "sample").choice(size, SAMPLED, replace=False))
    labels = (*(held.outputs.label(int(k)) for k in sample), *(Label("combination", (k,)) for k in range(COMBINED)))

    keys = generator(seed, "combined").integers(0, 2**32, COMBINED, dtype=np.uint32)

    def shown(y: Any) -> Any:
        combined = [jnp.sum(y * weights(jnp, 0, size, key)) for key in keys]
        return jnp.concatenate([y[sample], jnp.stack(combined)])

    return shown, labels, np.concatenate([np.zeros((COMBINED, SAMPLED)), np.eye(COMBINED)], axis=1)


def weights(xp: Any, start: int, stop: int, key: Any) -> Any:
    """Pseudo-random numbers like ``directions.mixed``: entries ``start`` to ``stop`` (numpy, jax.numpy).

    Their index is scrambled by a multiplicative hash (Knuth, The Art of Computer Programming 3, 6.4) with xor-shifts.
    """
    with np.errstate(over="ignore"):  # unsigned numbers wrap around: that is the scrambling
        return _scrambled(xp, start, stop, key)


def _scrambled(xp: Any, start: int, stop: int, key: Any) -> Any:
    scrambled = xp.arange(start, stop, dtype=xp.uint32) + (xp.asarray(key, xp.uint32) + xp.uint32(1)) * xp.uint32(
        0x9E3779B9
    )
    for _ in range(2):
        scrambled = (scrambled ^ (scrambled >> xp.uint32(16))) * xp.uint32(0x45D9F3B)
    final = scrambled ^ (scrambled >> xp.uint32(16))
    part = (final >> xp.uint32(1)).astype(xp.float64) * 2.0**-31
    span = directions.LARGEST_WEIGHT - directions.SMALLEST_WEIGHT
    return (1.0 - 2.0 * (final & xp.uint32(1)).astype(xp.float64)) * (directions.SMALLEST_WEIGHT + span * part)


def _embed(held: FlatFunction, operands: Any, z: Any) -> Any:
    """The point moved by ``z`` along direction ``key``, within the inputs from ``start`` to ``stop``."""
    point, start, stop, key, size = operands
    places = jnp.arange(held.inputs.size, dtype=jnp.int32)
    moving = (places >= start) & (places < stop) & jnp.isfinite(point)
    return point + jnp.where(moving, z[0] * _direction(held, key) * size, 0.0)


def _direction(held: FlatFunction, key: Any) -> Any:
    """Direction ``key`` (n,), traceable: each leaf in proportion to its magnitude, inside its domain."""
    parts, begin = [], 0
    for leaves, magnitude in _alike(held):
        size = sum(leaf.size for leaf in leaves)
        parts.append(_inside(leaves[0], weights(jnp, begin, begin + size, key)) * magnitude)
        begin += size
    return jnp.concatenate(parts)


def _alike(held: FlatFunction) -> Iterator[tuple[list[LeafInfo], Any]]:
    """Leaves with their magnitude; small neighbours whose domain is no matter together, with that of each number."""
    pairs = list(zip(held.inputs.leaves, _magnitudes(held.inputs, held.point), strict=True))
    for small, group in groupby(pairs, key=lambda pair: pair[0].size <= SMALL and not _has_domain(pair[0])):
        several = list(group)
        if small:
            leaves = [leaf for leaf, _ in several]
            yield leaves, np.repeat([magnitude for _, magnitude in several], [leaf.size for leaf in leaves])
        else:
            yield from (([leaf], magnitude) for leaf, magnitude in several)


def _has_domain(leaf: LeafInfo) -> bool:
    return leaf.spec is not None and leaf.spec.kind in ("spd", "simplex")


def _inside(leaf: LeafInfo, vector: Any) -> Any:
    kind = leaf.spec.kind if leaf.spec else ""
    if kind == "spd":
        shaped = vector.reshape(leaf.shape)
        return ((shaped + jnp.swapaxes(shaped, -1, -2)) / 2).ravel()
    if kind == "simplex":
        shaped = vector.reshape(leaf.shape)
        return (shaped - shaped.mean(axis=-1, keepdims=True)).ravel()
    return vector


def _magnitudes(space: FlatLayout, point: Array) -> list[float]:
    found, begin = [], 0
    for leaf in space.leaves:
        part = point[begin : begin + leaf.size]
        found.append(
            max((directions.magnitude(part[k : k + _CHUNK]) for k in range(0, leaf.size, _CHUNK)), default=1.0)
        )
        begin += leaf.size
    return found


def _lines(held: FlatFunction, rows: list[Row]) -> StepLimits:
    """The geometry of the followed directions, gathered piece by piece."""
    abscissa_scale, back, ahead = np.zeros(len(rows)), np.full(len(rows), np.inf), np.full(len(rows), np.inf)
    begin = 0
    for leaf, magnitude in zip(held.inputs.leaves, _magnitudes(held.inputs, held.point), strict=True):
        for start in range(0, leaf.size, _CHUNK):
            stop = min(start + _CHUNK, leaf.size)
            moving = [k for k, row in enumerate(rows) if row.start <= begin + start < row.stop]
            piece = FlatLayout((LeafInfo(leaf.name, (stop - start,), "float64", leaf.spec),))
            point = held.point[begin + start : begin + stop]
            part = slice(begin + start, begin + stop)
            sizes = [np.broadcast_to(rows[k].size, held.inputs.size)[part] for k in moving]
            moved = np.stack(
                [
                    weights(np, part.start, part.stop, rows[k].key) * magnitude * size
                    for k, size in zip(moving, sizes, strict=True)
                ]
            )
            limits = directions.step_limits(piece, point, np.where(np.isfinite(point), moved, 0.0), bounds_only=True)
            abscissa_scale[moving] = np.maximum(abscissa_scale[moving], limits.abscissa_scale)
            back[moving] = np.minimum(back[moving], limits.max_step_backward)
            ahead[moving] = np.minimum(ahead[moving], limits.max_step_forward)
        begin += leaf.size
    # A balanced direction moves some inputs by very little, so its reach is large; a step of the others is still of
    # order one.
    scale = np.where(
        [row.label.part == BALANCED for row in rows], 1.0, 2.0 ** np.ceil(np.log2(np.maximum(1.0, abscissa_scale)))
    )
    return StepLimits(scale, abscissa_scale, back, ahead)
