"""Through how many numbers is a function looked at?

A function of few numbers is looked at as it is. One of very many inputs is followed along a few directions that move all
of them, ``z -> f(x + z_0 v_0 + z_1 v_1 + …)``, and one of very many outputs is seen through a sample of them and a few
combinations of all. Directions and combinations are computed where they are used, never stored: the memory that a check
takes beyond the function's own is a few copies of its input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from gradhook.numerics import directions
from gradhook.numerics.differences import Array
from gradhook.numerics.directions import Directions
from gradhook.numerics.drawing import generator
from gradhook.numerics.held import Held
from gradhook.numerics.measure import Lines
from gradhook.numerics.trees import Leaf, Space
from gradhook.probe import Label

MANY = 2048
"""From so many inputs or outputs on, not every number is looked at on its own."""
FOLLOWED, COMBINED, SAMPLED = 4, 4, 256
_CHUNK = 2**20
_TABLE = np.array([-1.25, -1.0, -0.75, 0.75, 1.0, 1.25])


@dataclass(frozen=True)
class View:
    """A function of few numbers in the place of one of many: ``call(operands, z)`` near ``point``.

    ``weights`` (r, m) are the combinations of outputs that reverse mode pulls back; none where each output is.
    """

    call: Callable[[Any, Any], Any]
    operands: tuple[Any, ...]
    point: Array
    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]
    directions: Directions
    weights: Array
    tangent: Callable[[np.random.Generator], Array]


def view(held: Held, call: Callable[[Any], Any], seed: str) -> View:
    """The view of a function with the inputs and outputs of ``held``."""
    seen, outputs, weights = _seen(held, call, seed)
    if held.inputs.size < MANY:
        chosen = directions.choose(held.inputs, held.point, generator(seed, "directions"))
        tangent = lambda random: directions.dense(held.inputs, held.point, random)  # noqa: E731
        labels = held.inputs.labels()
        return View(lambda _, x: seen(x), (), held.point, labels, outputs, chosen, weights, tangent)
    labels = tuple(Label("direction", (k,)) for k in range(FOLLOWED))
    chosen = Directions(np.eye(FOLLOWED), labels, _lines(held))
    return View(
        lambda operands, z: seen(_lift(held, operands, z)), (held.point, 0, held.inputs.size), np.zeros(FOLLOWED),
        labels, outputs, chosen, weights, lambda random: directions.combination(FOLLOWED, random),
    )  # fmt: skip


def narrowed(whole: View, start: int, stop: int) -> View:
    """The view of a function of many inputs with only those from ``start`` to ``stop`` moving; same programs."""
    return View(**{**vars(whole), "operands": (whole.operands[0], start, stop)})


def _seen(held: Held, call: Callable[[Any], Any], seed: str) -> tuple[Callable[[Any], Any], tuple[Label, ...], Array]:
    """The function with all its outputs, or with a sample of them followed by combinations of all."""
    size = held.outputs.size
    if size < MANY:
        return call, held.outputs.labels(), directions.weights(size, generator(seed, "weights"))
    sample = np.sort(generator(seed, "sample").choice(size, SAMPLED, replace=False))
    labels = (*(held.outputs.label(int(k)) for k in sample), *(Label("combination", (k,)) for k in range(COMBINED)))

    def seen(x: Any) -> Any:
        y = call(x)
        combined = [jnp.sum(y * weights(jnp, 0, size, 64 + k)) for k in range(COMBINED)]
        return jnp.concatenate([y[sample], jnp.stack(combined)])

    return seen, labels, np.concatenate([np.zeros((COMBINED, SAMPLED)), np.eye(COMBINED)], axis=1)


def weights(xp: Any, start: int, stop: int, key: int) -> Any:
    """Small dyadic numbers that look random: entries ``start`` to ``stop`` of the sequence ``key`` (numpy or jax.numpy).

    Their index is scrambled by a multiplicative hash (Knuth, The Art of Computer Programming 3, 6.4) with xor-shifts.
    """
    scrambled = xp.arange(start, stop, dtype=xp.uint32) + xp.uint32((0x9E3779B9 * (key + 1)) & 0xFFFFFFFF)
    for _ in range(2):
        scrambled = (scrambled ^ (scrambled >> xp.uint32(16))) * xp.uint32(0x45D9F3B)
    return xp.asarray(_TABLE)[(scrambled ^ (scrambled >> xp.uint32(16))) % xp.uint32(6)]


def _lift(held: Held, operands: Any, z: Any) -> Any:
    """The point moved by ``z_k`` along every direction k, inside the moving part only."""
    point, start, stop = operands
    places = jnp.arange(held.inputs.size)
    moving = (places >= start) & (places < stop) & jnp.isfinite(point)
    step = sum(z[k] * _direction(held, k) for k in range(FOLLOWED))
    return point + jnp.where(moving, step, 0.0)


def _direction(held: Held, key: int) -> Any:
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
