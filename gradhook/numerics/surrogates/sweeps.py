"""What shows when an input is moved through its domain: boundaries, strays, how far the rule is from the truth?"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import jax.numpy as jnp
import numpy as np

from gradhook.comparison.agreement import UNDERFLOW, differ
from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.surrogate_probe import Stray, Sweep
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.sampling import generator
from gradhook.numerics.surrogates.declaration import eager_forward
from gradhook.numerics.surrogates.discontinuities import boundaries
from gradhook.numerics.surrogates.rounding_mode import ties
from gradhook.numerics.surrogates.sweep_axes import Track, samples, tracks
from gradhook.numerics.surrogates.sweep_program import COUNT, Line, Points

STEP = 2.0**-20
"""Of the differences that tell whether a true derivative exists at a sample, and which: they need not be fine."""
SETTLED, SAME = 1e-3, 1e-4
CONFIRMED = 8
"""Samples at which a value that looks wrong in the compiled program is looked at plainly."""
LARGEST = 4096
"""Of functions with more inputs or outputs than this no sweep is made."""


def sweeps(line: Line, slopes: Array | None, spoken: Flags, seed: str) -> tuple[Sweep, ...]:
    """Sweeps of elements of every argument, one for each output that depends on it.

    ``spoken`` (n,) marks the coordinates of which the declaration speaks.
    """
    if max(line.held.inputs.size, line.held.outputs.size) > LARGEST or not line.held.outputs.size:
        return ()
    found: list[Sweep] = []
    for coordinate, group in groupby(tracks(line.held, slopes), key=lambda track: track.coordinate):
        alike = list(group)
        runs = [_run(line, track, bool(spoken[coordinate]), seed) for track in alike]
        # A number that neither moves nor has a slope depends on another input: at least one is told of each.
        live = [run for run in runs if not _still(*run)] or runs[:1]
        found += [_sweep(line, track, points, bool(spoken[coordinate])) for track, points in live]
    return tuple(found)


def _run(line: Line, track: Track, spoken: bool, seed: str) -> tuple[Track, Points]:
    """The samples of a track; one that guessed its output follows the number that moves most beside its size."""
    # All elements of an argument visit the same points, so that alike ones show the same boundaries.
    at = samples(track, COUNT, generator(seed, "sweep", track.leaf))
    points = line.run(track.coordinate, at, np.full(COUNT, track.output), spoken)
    if not track.candidates:
        return track, points
    values = points.values[:, track.candidates.start : track.candidates.stop]
    with np.errstate(all="ignore"):
        moved = np.nan_to_num(np.ptp(values, axis=0) / np.abs(values).max(axis=0), posinf=0.0)
    track = replace(track, output=track.candidates.start + int(np.argmax(moved)), candidates=range(0))
    return track, line.run(track.coordinate, at, np.full(COUNT, track.output), spoken)


def _still(track: Track, points: Points) -> bool:
    """Whether neither value nor derivative nor what was declared shows that the output depends on the input."""
    value = points.values[:, track.output]
    constant = bool(((value == value[0]) | np.isnan(value)).all())
    return constant and bool((points.slope == 0).all() and (np.nan_to_num(points.declared) == 0).all())


def _sweep(line: Line, track: Track, points: Points, spoken: bool) -> Sweep:
    at, free = points.at, line.declared.derivative_of is not None
    found = boundaries(line, track, points, spoken, free)
    bias, coincides = _truth(line, track, at, [b.at[1] for b in found], spoken)
    strays = (*_values(line, track, points), *_slopes(line, track, points))
    output, same = str(line.held.outputs.labels()[track.output]), coincides and not any(b.jumps for b in found)
    return Sweep(track.label, output, _inside(track, points), found, strays, ties(found), bias, same, track.leaf)


def _inside(track: Track, points: Points) -> tuple[Array, Array, Array]:
    """The samples in the range proper: inputs, values and derivatives of the output that is followed."""
    core = (points.at >= track.low) & (points.at <= track.high)
    return points.at[core], points.values[core, track.output], points.slope[core]


def _values(line: Line, track: Track, points: Points) -> list[Stray]:
    """Samples at which the value is not ``forward``'s, plainly called: a compiler may round differently."""
    if line.declared.forward is None or np.isnan(points.reference).all():
        return []
    wrong = ~_same(points.values, points.reference)
    strays = []
    for row in np.nonzero(wrong.any(axis=1))[0][:CONFIRMED]:
        x = line.held.point.copy()
        x[track.coordinate] = points.at[row]
        got = np.asarray(line.held.call(jnp.asarray(x)), dtype=np.float64)
        wanted = eager_forward(line.held, line.declared, x)
        for o in np.nonzero(wrong[row] & ~_same(got, wanted))[0][:1]:
            name = str(line.held.outputs.labels()[o])
            strays.append(Stray(track.label, float(points.at[row]), name, float(got[o]), float(wanted[o])))
    return strays


def _same(value: Array, reference: Array) -> Flags:
    """Equal; the sign of a zero counts at the author's own points only: no stop_gradient trick keeps it everywhere."""
    return np.asarray((value == reference) | (np.isnan(value) & np.isnan(reference)))


def _slopes(line: Line, track: Track, points: Points) -> list[Stray]:
    """Samples at which the derivative is not the declared one; on a boundary of the latter another check asks."""
    asked, allowed = np.isfinite(points.declared), np.full(1, UNDERFLOW)
    if (asked & differ(points.slope, points.declared, SURROGATE, allowed)).any():
        allowed = UNDERFLOW + line.rounding(track.coordinate, points.at, np.full(len(points.at), track.output), True)
    wrong = asked & differ(points.slope, points.declared, SURROGATE, allowed)
    name = str(line.held.outputs.labels()[track.output])
    rows = np.nonzero(wrong & ~_near_a_leap(line, track, points, wrong))[0]
    order = sorted(rows, key=lambda row: abs(points.at[row]))
    return [
        Stray(track.label, float(points.at[k]), name, float(points.slope[k]), float(points.declared[k]), True)
        for k in order[:1]
    ]


def _near_a_leap(line: Line, track: Track, points: Points, wrong: Flags) -> Flags:
    """Whether the declared derivative leaps at a sample itself."""
    if not wrong.any():
        return wrong
    outputs = np.full(len(points.at), track.output)
    below, above = (
        line.run(track.coordinate, np.nextafter(points.at, side), outputs, True).declared for side in (-np.inf, np.inf)
    )
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(below - above) > 1e-6 * np.maximum(np.abs(below), np.abs(above)))


def _truth(line: Line, track: Track, at: Array, leaps: list[float], spoken: bool) -> tuple[float, bool]:
    """The largest distance from the true derivative, where both one-sided differences agree on one; all the same?

    Besides samples it is looked at close to leaps, where a surrogate is largest.
    """
    core = at[(at > track.low) & (at < track.high)]
    close = [leap + side * STEP * max(1.0, abs(leap)) * 2 for leap in leaps[:8] for side in (-1, 1)]
    even = core[np.linspace(0, len(core) - 1, min(len(core), COUNT // 3 - len(close))).astype(int)]
    chosen = np.concatenate([even, [c for c in close if track.low < c < track.high]])
    step = STEP * np.maximum(1.0, np.abs(chosen))
    # A point in the middle of a leap has equal differences on both sides, and no derivative.
    chosen = chosen[np.all([np.abs(chosen - leap) > 1.5 * step for leap in leaps] or [step > 0], axis=0)]
    step = STEP * np.maximum(1.0, np.abs(chosen))
    triple = np.stack([chosen - step, chosen, chosen + step])
    points = line.run(track.coordinate, triple.ravel(), np.full(triple.size, track.output), spoken)
    value, slope = points.values[:, track.output].reshape(triple.shape), points.slope.reshape(triple.shape)[1]
    with np.errstate(all="ignore"):
        left, right = (value[1] - value[0]) / (chosen - triple[0]), (value[2] - value[1]) / (triple[2] - chosen)
        exists = np.abs(right - left) <= SETTLED * np.maximum(np.abs(left), np.abs(right))
        exists |= (left == 0) & (right == 0)
        gap = np.abs(slope - (value[2] - value[0]) / (triple[2] - triple[0]))
    known = exists & np.isfinite(gap)
    if not known.any():
        return float("nan"), False
    bias = float(gap[known].max())
    size = float(np.abs(np.concatenate([left[known], slope[known]])).max())
    flat = bool((slope == 0).all())
    settled = known.sum() >= 0.8 * len(known)
    return (0.0 if bias <= SAME * size else bias), bool(settled and not flat and bias <= SAME * size)
