"""Which input of a function is moved in a sweep, through which range, and at which points?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.held import Held
from gradhook.numerics.trees import Leaf

MOST, OF_MANY = 24, 8
"""Elements that are swept: first one of every argument, then more of each; fewer where the function is large."""
MANY = 256
"""Inputs or outputs that make a function large."""
SPECIAL = (-2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.49999999999999994, 0.5, 1.0, 1.5, 2.5)
EXTREME = (1e4, 2.0**52 + 0.5, 1e17, 1e30)
_CURVED = ("spd", "orthogonal", "simplex")
"""Domains that moving a single element leaves."""


@dataclass(frozen=True)
class Track:
    """One element of the vector of inputs that moves from ``low`` to ``high``, and which output is followed."""

    label: str
    leaf: str
    coordinate: int
    output: int
    low: float
    high: float
    elementwise: bool
    unbounded: bool


def tracks(held: Held, slopes: Array | None) -> list[Track]:
    """The tracks of a held function; ``slopes`` (n, m) is its Jacobian at the case where that is known.

    Of every argument the first element moves (of a complex one both parts), then the last and the middle one.
    """
    starts = np.cumsum([0, *(leaf.size for leaf in held.inputs.leaves)])
    pairs = [(leaf, int(start)) for leaf, start in zip(held.inputs.leaves, starts, strict=False)]
    movable = [(leaf, start) for leaf, start in pairs if _moves(leaf, held.point[start : start + leaf.size])]
    most = MOST if max(held.inputs.size, held.outputs.size) <= MANY else OF_MANY
    ranked = [(rank, leaf, start, k) for leaf, start in movable for rank, k in _elements(leaf)]
    chosen = sorted(ranked, key=lambda one: one[0])[:most]
    return [_track(held, leaf, start, k, slopes) for _, leaf, start, k in sorted(chosen, key=lambda c: c[2] + c[3])]


def _moves(leaf: Leaf, part: Array) -> bool:
    return bool(leaf.size) and bool(np.isfinite(part).all()) and not (leaf.spec and leaf.spec.kind in _CURVED)


def _elements(leaf: Leaf) -> Iterator[tuple[int, int]]:
    """Places in a leaf, the most important first."""
    count = math.prod(leaf.shape)
    for rank, place in enumerate(dict.fromkeys([0, count - 1, count // 2])):
        yield rank, place
        if leaf.complex:
            yield rank, count + place


def _track(held: Held, leaf: Leaf, start: int, place: int, slopes: Array | None) -> Track:
    alike = _alike(held, leaf, place)
    output = alike if alike is not None else _strongest(slopes, start + place)
    low, high = _range(leaf, held.point[start : start + leaf.size])
    unbounded = alike is not None and (leaf.spec is None or not np.isfinite(leaf.spec.high))
    label = leaf.label(place)
    return Track(str(label), label.leaf, start + place, output, low, high, alike is not None, unbounded)


def samples(track: Track, count: int, random: np.random.Generator) -> Array:
    """Sorted points of a track: evenly spread with a jitter, the special ones inside, the extreme ones beyond."""
    special = [s for s in SPECIAL if track.low <= s <= track.high]
    extreme = [e for e in EXTREME if track.unbounded] + [-e for e in EXTREME if track.unbounded and track.low < 0]
    even = np.linspace(track.low, track.high, count - len(special) - len(extreme))
    inside = even[1:-1] + random.uniform(-0.4, 0.4, len(even) - 2) * (even[1] - even[0])
    return np.sort(np.concatenate([even[:1], inside, even[-1:], special, extreme]), kind="stable")


def _alike(held: Held, leaf: Leaf, element: int) -> int | None:
    """The same element of the first output of the same shape: elementwise functions move this one."""
    place = 0
    for output in held.outputs.leaves:
        if output.shape == leaf.shape:
            return place + (element if output.complex else element % max(math.prod(leaf.shape), 1))
        place += output.size
    return None


def _strongest(slopes: Array | None, coordinate: int) -> int:
    if slopes is None or coordinate >= len(slopes):
        return 0
    return int(np.argmax(np.nan_to_num(np.abs(slopes[coordinate]))))


def _range(leaf: Leaf, part: Array) -> tuple[float, float]:
    """The domain of a spec; around given numbers, without changing their common sign."""
    spec = leaf.spec
    if spec is not None and spec.kind == "normal":
        return -4.0, 4.0
    if spec is not None and spec.kind == "positive":
        return 2.0**-20, 8.0
    if spec is not None and np.isfinite([spec.low, spec.high]).all():
        return float(np.nextafter(spec.low, np.inf)), float(np.nextafter(spec.high, -np.inf))
    smallest, largest = float(part.min()), float(part.max())
    span = largest - smallest + 1.0
    low, high = smallest - span, largest + span
    if smallest > 0:
        low = max(low, smallest / 4)
    return (low, min(high, largest / 4)) if largest < 0 else (low, high)
