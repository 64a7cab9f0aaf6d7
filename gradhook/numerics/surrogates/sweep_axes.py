"""Choose the inputs that a sweep moves, their ranges and samples, and the followed outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.flatten import LeafInfo
from gradhook.numerics.function import FlatFunction

MOST, OF_MANY = 24, 8
"""Elements that are swept: first one of every argument, then more of each; fewer where the function is large."""
MANY = 256
"""Inputs or outputs that make a function large."""
SPECIAL = (-2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.49999999999999994, 0.5, 1.0, 1.5, 2.5)
EXTREME = (1e4, 2.0**52 + 0.5, 1e17, 1e30)
FOLLOWED = 8
"""Outputs that are followed while one input moves."""
_CURVED = ("spd", "orthogonal", "simplex")
"""Domains that moving a single element leaves."""


@dataclass(frozen=True)
class SweepAxis:
    """One input element that moves from ``low`` to ``high``, and the output that is followed.

    ``candidates`` are the numbers of that output, of which one that moves is to be followed where ``output`` is only a
    guess.
    """

    label: str
    leaf: str
    coordinate: int
    output: int
    low: float
    high: float
    elementwise: bool
    unbounded: bool
    candidates: range = range(0)


def sweep_axes(held: FlatFunction, slopes: Array | None) -> list[SweepAxis]:
    """The sweep axes of a function; ``slopes`` (n, m) is its Jacobian at the case, where known.

    Of every argument the first element moves (of a complex one both parts), then the last and the middle one; for each
    of them every output is followed.
    """
    starts = np.cumsum([0, *(leaf.size for leaf in held.inputs.leaves)])
    pairs = [(leaf, int(start)) for leaf, start in zip(held.inputs.leaves, starts, strict=False)]
    movable = [(leaf, start) for leaf, start in pairs if _moves(leaf, held.point[start : start + leaf.size])]
    most = MOST if max(held.inputs.size, held.outputs.size) <= MANY else OF_MANY
    ranked = [(rank, leaf, start, k) for leaf, start in movable for rank, k in _elements(leaf)]
    chosen = sorted(ranked, key=lambda one: one[0])[:most]
    ordered = sorted(chosen, key=lambda c: c[2] + c[3])
    return [axis for _, leaf, start, k in ordered for axis in _axes_of(held, leaf, start, k, slopes)]


def _moves(leaf: LeafInfo, part: Array) -> bool:
    return bool(leaf.size) and bool(np.isfinite(part).all()) and not (leaf.spec and leaf.spec.kind in _CURVED)


def _elements(leaf: LeafInfo) -> Iterator[tuple[int, int]]:
    """Places in a leaf, the most important first."""
    count = math.prod(leaf.shape)
    for rank, place in enumerate(dict.fromkeys([0, count - 1, count // 2])):
        yield rank, place
        if leaf.complex:
            yield rank, count + place


def _axes_of(held: FlatFunction, leaf: LeafInfo, start: int, place: int, slopes: Array | None) -> Iterator[SweepAxis]:
    low, high = _range(leaf, held.point[start : start + leaf.size])
    label, first = leaf.label(place), 0
    for output in held.outputs.leaves[:FOLLOWED]:
        candidates = range(first, first + output.size)
        alike = _alike(leaf, output, place)
        number = first + alike if alike is not None else _strongest(slopes, start + place, candidates)
        unbounded = alike is not None and (leaf.spec is None or not np.isfinite(leaf.spec.high))
        if number is not None:
            candidates = range(0)
        if output.size:
            yield SweepAxis(
                str(label),
                label.leaf,
                start + place,
                number or first,
                low,
                high,
                alike is not None,
                unbounded,
                candidates,
            )
        first += output.size


def samples(axis: SweepAxis, count: int, random: np.random.Generator) -> Array:
    """Sorted samples of an axis: jittered even ones, special ones inside, extreme ones beyond."""
    special = [s for s in SPECIAL if axis.low <= s <= axis.high]
    extreme = [e for e in EXTREME if axis.unbounded] + [-e for e in EXTREME if axis.unbounded and axis.low < 0]
    even = np.linspace(axis.low, axis.high, count - len(special) - len(extreme))
    inside = even[1:-1] + random.uniform(-0.4, 0.4, len(even) - 2) * (even[1] - even[0])
    return np.sort(np.concatenate([even[:1], inside, even[-1:], special, extreme]), kind="stable")


def _alike(leaf: LeafInfo, output: LeafInfo, element: int) -> int | None:
    """The same element of an output of the same shape: elementwise functions move this one."""
    if output.shape != leaf.shape:
        return None
    return element if output.complex else element % max(math.prod(leaf.shape), 1)


def _strongest(slopes: Array | None, coordinate: int, candidates: range) -> int | None:
    """The output that depends most on a coordinate at the case; None where that is unknown."""
    if slopes is None or not candidates:
        return None
    sizes = np.nan_to_num(np.abs(slopes[coordinate, candidates.start : candidates.stop]))
    return candidates.start + int(np.argmax(sizes)) if sizes.any() else None


def _range(leaf: LeafInfo, part: Array) -> tuple[float, float]:
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
