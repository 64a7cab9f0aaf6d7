"""Choose the inputs that a sweep moves, and evaluate value, derivative and declaration along them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.programs import Clock, compiled
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.flatten import LeafInfo
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.surrogates.declaration import (
    Declaration,
    declared_derivatives,
    derivative_map,
    eager_forward,
    forward_map,
)

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


COUNT = 256
"""Points of one run: one program serves the samples, the bisection and the neighbours of a boundary."""

RECALLED = 24
"""Points at which a function and what was declared for it are called once more; each may cost a compilation."""


@dataclass(frozen=True)
class SweepSamples:
    """Samples at T points: all values (T, m), one output's slope (T,), the declared ones (nan: none)."""

    at: Array
    values: Array
    slope: Array
    reference: Array
    declared: Array


@dataclass
class SweepProgram:
    """A function along any one of its coordinates, as one compiled program."""

    held: FlatFunction
    declared: Declaration
    mode: Mode
    clock: Clock
    _program: list[Any] = field(default_factory=list)

    def run(self, coordinate: int, at: Array, outputs: NDArray[np.int64], is_declared: bool) -> SweepSamples:
        """Evaluate up to COUNT points; ``outputs`` (T,) are the outputs whose slopes are returned."""
        started = time.perf_counter()
        padded = np.resize(at, COUNT), np.resize(outputs, COUNT)
        if not self._program:
            self._program.append(compiled(self._traced(), (self.held.point, coordinate, *padded)))
        ready = time.perf_counter()
        found = self._program[0](self.held.point, coordinate, *padded)
        values, slope, reference, declared = (np.asarray(a, dtype=np.float64)[: len(at)] for a in found)
        self.clock.compile += ready - started
        self.clock.run += time.perf_counter() - ready
        return SweepSamples(at, values, slope, reference, declared if is_declared else np.full(len(at), np.nan))

    def filled(
        self, coordinate: int, points: SweepSamples, outputs: NDArray[np.int64], is_declared: bool
    ) -> SweepSamples:
        """The same samples with untraceable declarations called in Python; slow, so for few points only."""
        reference, declared = points.reference, points.declared
        xs = np.repeat(self.held.point[None], len(points.at), axis=0)
        xs[:, coordinate] = points.at
        if self.declared.forward is not None and np.isnan(reference).all() and len(xs):
            reference = np.stack([eager_forward(self.held, self.declared, x) for x in xs])
        if is_declared and np.isnan(declared).all() and len(xs):
            along = declared_derivatives(self.held, self.declared, xs, np.eye(self.held.inputs.size)[[coordinate]])[
                :, 0
            ]
            declared = along[np.arange(len(xs)), outputs]
        return SweepSamples(points.at, points.values, points.slope, reference, declared)

    def plain(self, coordinate: int, points: SweepSamples, output: int, is_declared: bool) -> SweepSamples:
        """The same samples called plainly where a compiler's rounding alone makes a difference.

        XLA divides by a scalar by multiplying with its reciprocal. At a tie that moves ``round(x / s)`` by one step, in
        one of two programs.
        """
        value, slope, reference, declared = (
            of.copy() for of in (points.values, points.slope, points.reference, points.declared)
        )
        for k in _apart(points, output)[:RECALLED]:
            x = self.held.point.copy()
            x[coordinate] = points.at[k]
            if self.declared.forward is not None:
                got, wanted = np.asarray(self.held.call(jnp.asarray(x))), eager_forward(self.held, self.declared, x)
                if got[output] == wanted[output]:
                    value[k], reference[k] = got, wanted
            if is_declared and np.isfinite(declared[k]):
                pair = self._slopes(jnp.asarray(x), coordinate, output)
                slope[k], declared[k] = pair if np.isclose(*pair, rtol=1e-9, atol=0) else (slope[k], declared[k])
        return SweepSamples(points.at, value, slope, reference, declared)

    def _slopes(self, x: Any, coordinate: int, output: int) -> tuple[float, float]:
        """The slope and the declared one at a point, called plainly."""
        axis = jnp.zeros(x.size).at[coordinate].set(1.0)
        declared = derivative_map(self.held, self.declared, traced=False)
        assert declared is not None
        if self.mode == "fwd":
            moved = jax.jvp(self.held.call, (x,), (axis,))[1][output]
        else:
            moved = jax.vjp(self.held.call, x)[1](jnp.zeros(self.held.outputs.size).at[output].set(1.0))[0][coordinate]
        return float(moved), float(declared(x, axis)[output])

    def rounding(self, coordinate: int, at: Array, outputs: NDArray[np.int64], is_declared: bool) -> Array:
        """The rounding of the slope and the declared one together, at up to COUNT points."""
        program = self._traced()

        def both(x: Any, at: Any, outputs: Any) -> Any:
            _, slope, _, declared = program(x, coordinate, at, outputs)
            return jnp.stack([slope, declared])

        moved = rounding.of(both, jnp.asarray(self.held.point), at, outputs)
        return np.asarray((moved if is_declared else moved[:1]).sum(axis=0) + np.zeros(len(at)))

    def _traced(self) -> Any:
        f, n, m = self.held.call, self.held.inputs.size, self.held.outputs.size
        forward, slope = forward_map(self.held, self.declared), derivative_map(self.held, self.declared)

        def one(x: Any, coordinate: Any, at: Any, output: Any) -> Any:
            x, axis = x.at[coordinate].set(at), jnp.zeros(n).at[coordinate].set(1.0)
            if self.mode == "fwd":
                value, tangent = jax.jvp(f, (x,), (axis,))
                moved = tangent[output]
            else:
                value, pull = jax.vjp(f, x)
                moved = pull(jnp.zeros(m).at[output].set(1.0))[0][coordinate]
            reference = jnp.full(m, jnp.nan) if forward is None else forward(x)
            declared = jnp.nan if slope is None else slope(x, axis)[output]
            return value, moved, reference, jnp.asarray(declared, jnp.float64)

        def program(x: Any, coordinate: Any, at: Any, outputs: Any) -> Any:
            return jax.lax.map(lambda pair: one(x, coordinate, *pair), (at, outputs))

        return program


def _apart(points: SweepSamples, output: int) -> NDArray[np.int64]:
    """Indices where value or slope differ from the declared ones in some but not all of a triple."""
    with np.errstate(invalid="ignore"):
        value = (points.values[:, output] != points.reference[:, output]) & np.isfinite(points.reference[:, output])
        slope = ~np.isclose(points.slope, points.declared, rtol=1e-9, atol=0) & np.isfinite(points.declared)
    return np.flatnonzero(_mixed_triples(value) | _mixed_triples(slope))


def _mixed_triples(mask: Flags) -> Flags:
    """The mask restricted to triples in which some but not all elements are True."""
    triples = mask.reshape(-1, 3)
    mixed = triples.any(axis=1) & ~triples.all(axis=1)
    return np.asarray(np.repeat(mixed, 3) & mask)
