"""Through how many numbers is a function looked at?

A function of few numbers is looked at as it is. One of very many inputs is followed along a few directions that move
all of them, ``z -> f(x + z_0 v_0 + z_1 v_1 + …)``, and one of very many outputs is seen through a sample of them and a
few combinations of all. Directions and combinations are computed where they are used, never stored: the memory that a
check takes beyond the function's own is a few copies of its input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from gradhook.comparison.probe import Label
from gradhook.numerics.drawing import generator
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.directions import Directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.finite_difference.scales import Lines
from gradhook.numerics.held import Held
from gradhook.numerics.trees import Leaf, Space

MANY = 2048
"""From so many outputs on, not every one is looked at on its own."""
FOLLOWED, COMBINED, SAMPLED = 4, 4, 256
_CHUNK = 2**20
_TABLE = np.array([-1.25, -1.0, -0.75, 0.75, 1.0, 1.25])


@dataclass(frozen=True)
class View:
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
    explicit: Callable[[int], Array]
    """A direction as a tangent (n,) of the function itself."""
    see: Callable[[Any], Any]
    """The part of an output vector that the view shows."""

    def parts(self, t: Array | None = None) -> list[tuple[tuple[Any, ...], Array, Array]]:
        """The directions that share operands: the operands, those directions (d, n), their rows of ``t``."""
        vectors = self.directions.vectors
        steps = np.zeros((len(vectors), 1)) if t is None else t
        if len(self.operands) == 1:
            return [(self.operands[0], vectors, steps)]
        return [(ops, vectors[k : k + 1], steps[k : k + 1]) for k, ops in enumerate(self.operands)]


def view(held: Held, call: Callable[[Any], Any], seed: str) -> View:
    """The view of a function with the inputs and outputs of ``held``."""
    shown, outputs, weights = _shown(held, seed)

    def seen(x: Any) -> Any:
        return shown(call(x))

    if held.inputs.size <= directions.FULL:
        chosen = directions.choose(held.inputs, held.point, generator(seed, "directions"))
        tangent = lambda random: directions.dense(held.inputs, held.point, random)  # noqa: E731
        labels = held.inputs.labels()
        explicit = lambda row: chosen.vectors[row]  # noqa: E731
        return View(seen, ((),), held.point, labels, outputs, chosen, weights, tangent, explicit, shown)
    labels = tuple(Label("direction", (k,)) for k in range(FOLLOWED))
    chosen = Directions(np.ones((FOLLOWED, 1)), labels, _lines(held))
    return View(
        lambda operands, z: seen(_lift(held, operands, z)),
        tuple((held.point, 0, held.inputs.size, np.uint32(k)) for k in range(FOLLOWED)),
        np.zeros(1), (Label("direction"),), outputs, chosen, weights, lambda random: np.ones(1),
        lambda row: np.asarray(_direction(held, np.uint32(row))), shown,
    )  # fmt: skip


def narrowed(whole: View, row: int, start: int, stop: int) -> View:
    """One followed direction of a view, with only the inputs from ``start`` to ``stop`` moving; the same programs."""
    point, _, _, key = whole.operands[row]
    chosen, one = whole.directions, slice(row, row + 1)
    lines = chosen.lines
    geometry = Lines(lines.scale[one], lines.reach[one], lines.room_back[one], lines.room_ahead[one])
    only = Directions(chosen.vectors[one], chosen.labels[one], geometry)
    return replace(whole, operands=((point, start, stop, key),), directions=only)


def nudged(whole: View, units: int) -> View:
    """The view at a point whose numbers are all moved by some units in the last place."""
    factor = 1 + units * np.finfo(np.float64).eps
    operands = tuple((ops[0] * factor, *ops[1:]) if ops else ops for ops in whole.operands)
    return replace(whole, point=whole.point * factor, operands=operands)


def entry(held: Held, row: int, place: int) -> float:
    """How far followed direction ``row`` moves the input at ``place``."""
    begin = 0
    for leaf, magnitude in zip(held.inputs.leaves, _magnitudes(held.inputs, held.point), strict=True):
        if place < begin + leaf.size:
            return float(weights(np, place, place + 1, row)[0] * magnitude)
        begin += leaf.size
    raise IndexError(place)


def _shown(held: Held, seed: str) -> tuple[Callable[[Any], Any], tuple[Label, ...], Array]:
    """What is shown of an output vector: all of it, or a sample of it followed by combinations of all."""
    size = held.outputs.size
    if size < MANY:
        return lambda y: y, held.outputs.labels(), directions.weights(size, generator(seed, "weights"))
    sample = np.sort(generator(seed, "sample").choice(size, SAMPLED, replace=False))
    labels = (*(held.outputs.label(int(k)) for k in sample), *(Label("combination", (k,)) for k in range(COMBINED)))

    def shown(y: Any) -> Any:
        combined = [jnp.sum(y * weights(jnp, 0, size, 64 + k)) for k in range(COMBINED)]
        return jnp.concatenate([y[sample], jnp.stack(combined)])

    return shown, labels, np.concatenate([np.zeros((COMBINED, SAMPLED)), np.eye(COMBINED)], axis=1)


def weights(xp: Any, start: int, stop: int, key: Any) -> Any:
    """Small dyadic numbers that look random: entries ``start`` to ``stop`` of sequence ``key`` (numpy, jax.numpy).

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
    return xp.asarray(_TABLE)[(scrambled ^ (scrambled >> xp.uint32(16))) % xp.uint32(6)]


def _lift(held: Held, operands: Any, z: Any) -> Any:
    """The point moved by ``z`` along direction ``key``, of which only the part from ``start`` to ``stop`` counts."""
    point, start, stop, key = operands
    places = jnp.arange(held.inputs.size, dtype=jnp.int32)
    moving = (places >= start) & (places < stop) & jnp.isfinite(point)
    return point + z[0] * jnp.where(moving, _direction(held, key), 0.0)


def _direction(held: Held, key: Any) -> Any:
    """Direction ``key`` (n,), traceable: each leaf in proportion to its magnitude, inside its domain."""
    parts, begin = [], 0
    for leaf, magnitude in zip(held.inputs.leaves, _magnitudes(held.inputs, held.point), strict=True):
        parts.append(_inside(leaf, weights(jnp, begin, begin + leaf.size, key)) * magnitude)
        begin += leaf.size
    return jnp.concatenate(parts)


def _inside(leaf: Leaf, vector: Any) -> Any:
    kind = leaf.spec.kind if leaf.spec else ""
    if kind == "spd":
        shaped = vector.reshape(leaf.shape)
        return ((shaped + jnp.swapaxes(shaped, -1, -2)) / 2).ravel()
    if kind == "simplex":
        shaped = vector.reshape(leaf.shape)
        return (shaped - shaped.mean(axis=-1, keepdims=True)).ravel()
    return vector


def _magnitudes(space: Space, point: Array) -> list[float]:
    found, begin = [], 0
    for leaf in space.leaves:
        part = point[begin : begin + leaf.size]
        found.append(
            max((directions.magnitude(part[k : k + _CHUNK]) for k in range(0, leaf.size, _CHUNK)), default=1.0)
        )
        begin += leaf.size
    return found


def _lines(held: Held) -> Lines:
    """The geometry of the followed directions, gathered piece by piece."""
    reach, back, ahead = np.zeros(FOLLOWED), np.full(FOLLOWED, np.inf), np.full(FOLLOWED, np.inf)
    begin = 0
    for leaf, magnitude in zip(held.inputs.leaves, _magnitudes(held.inputs, held.point), strict=True):
        for start in range(0, leaf.size, _CHUNK):
            stop = min(start + _CHUNK, leaf.size)
            piece = Space((Leaf(leaf.name, (stop - start,), "float64", leaf.spec),))
            point = held.point[begin + start : begin + stop]
            moved = np.stack([weights(np, begin + start, begin + stop, k) * magnitude for k in range(FOLLOWED)])
            lines = directions.lines_of(piece, point, np.where(np.isfinite(point), moved, 0.0), bounds_only=True)
            reach, back = np.maximum(reach, lines.reach), np.minimum(back, lines.room_back)
            ahead = np.minimum(ahead, lines.room_ahead)
        begin += leaf.size
    return Lines(2.0 ** np.ceil(np.log2(np.maximum(1.0, reach))), reach, back, ahead)
