"""Move inputs through their domain and find discontinuities, mismatches, the bias of the rule and its rounding mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

import jax.numpy as jnp
import numpy as np

from gradhook.comparison.agreement import UNDERFLOW, differ
from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.surrogate_probe import Discontinuity, Mismatch, Sweep
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.sampling import generator
from gradhook.numerics.surrogates.declaration import eager_forward
from gradhook.numerics.surrogates.discontinuities import discontinuities
from gradhook.numerics.surrogates.sweep_program import COUNT, SweepAxis, SweepProgram, SweepSamples, samples, sweep_axes

_RULES: dict[str, Callable[[float, float, float, float], bool]] = {
    "even": lambda left, on, right, step: round(on / step) % 2 == 0,
    "away": lambda left, on, right, step: abs(on) == max(abs(left), abs(right)),
    "up": lambda left, on, right, step: on == right,
    "down": lambda left, on, right, step: on == left,
}


def ties(found: Sequence[Discontinuity]) -> str:
    """The one convention that explains every jump of a staircase; empty without one, or with several."""
    jumps = [b for b in found if b.jumps]
    steps = [b.value[2] - b.value[0] for b in jumps]
    if len(jumps) < 2 or min(steps) <= 0 or not _equal(steps) or not _at_halves(jumps):
        return ""
    fits = [name for name, rule in _RULES.items() if all(rule(*b.value, steps[0]) for b in jumps)]
    return fits[0] if len(fits) == 1 else ""


def _at_halves(jumps: Sequence[Discontinuity]) -> bool:
    """Whether the jumps stand in the middle between multiples of their smallest distance."""
    places = [b.at[1] for b in jumps]
    gap = min(b - a for a, b in pairwise(places))
    return gap > 0 and all(abs((p / gap - 0.5) - round(p / gap - 0.5)) < 1e-9 for p in places)


def _equal(steps: Sequence[float]) -> bool:
    return max(steps) - min(steps) <= 1e-9 * max(steps)


STEP = 2.0**-20
"""The step of the differences that measure a true derivative at a sample; they need not be fine."""
SETTLED, SAME = 1e-3, 1e-4
CONFIRMED = 8
"""Samples at which a value that looks wrong in the compiled program is looked at plainly."""
LARGEST = 4096
"""Of functions with more inputs or outputs than this no sweep is made."""


def sweeps(program: SweepProgram, slopes: Array | None, is_declared: Flags, seed: str) -> tuple[Sweep, ...]:
    """Sweeps of elements of every argument, one for each output that depends on it.

    ``is_declared`` (n,) marks the coordinates that the declaration covers.
    """
    if max(program.held.inputs.size, program.held.outputs.size) > LARGEST or not program.held.outputs.size:
        return ()
    found: list[Sweep] = []
    for coordinate, group in groupby(sweep_axes(program.held, slopes), key=lambda axis: axis.coordinate):
        alike = list(group)
        runs = [_run(program, axis, bool(is_declared[coordinate]), seed) for axis in alike]
        # A number that neither moves nor has a slope depends on another input: at least one of each is kept.
        live = [run for run in runs if not _still(*run)] or runs[:1]
        found += [_sweep(program, axis, points, bool(is_declared[coordinate])) for axis, points in live]
    return tuple(found)


def _run(program: SweepProgram, axis: SweepAxis, is_declared: bool, seed: str) -> tuple[SweepAxis, SweepSamples]:
    """The samples of an axis; if its output is a guess, follow the one that moves most for its size."""
    # All elements of an argument visit the same points, so that alike ones show the same boundaries.
    at = samples(axis, COUNT, generator(seed, "sweep", axis.leaf))
    points = program.run(axis.coordinate, at, np.full(COUNT, axis.output), is_declared)
    if not axis.candidates:
        return axis, points
    values = points.values[:, axis.candidates.start : axis.candidates.stop]
    with np.errstate(all="ignore"):
        moved = np.nan_to_num(np.ptp(values, axis=0) / np.abs(values).max(axis=0), posinf=0.0)
    axis = replace(axis, output=axis.candidates.start + int(np.argmax(moved)), candidates=range(0))
    return axis, program.run(axis.coordinate, at, np.full(COUNT, axis.output), is_declared)


def _still(axis: SweepAxis, points: SweepSamples) -> bool:
    """Whether value, derivative and declaration are all constant along the axis."""
    value = points.values[:, axis.output]
    constant = bool(((value == value[0]) | np.isnan(value)).all())
    return constant and bool((points.slope == 0).all() and (np.nan_to_num(points.declared) == 0).all())


def _sweep(program: SweepProgram, axis: SweepAxis, points: SweepSamples, is_declared: bool) -> Sweep:
    at, free = points.at, program.declared.derivative_of is not None
    found = discontinuities(program, axis, points, is_declared, free)
    bias, coincides = _truth(program, axis, at, [b.at[1] for b in found], is_declared)
    mismatches = (*_values(program, axis, points), *_slopes(program, axis, points))
    output, same = str(program.held.outputs.labels()[axis.output]), coincides and not any(b.jumps for b in found)
    return Sweep(axis.label, output, _inside(axis, points), found, mismatches, ties(found), bias, same, axis.leaf)


def _inside(axis: SweepAxis, points: SweepSamples) -> tuple[Array, Array, Array]:
    """The samples in the range proper: inputs, values and derivatives of the output that is followed."""
    core = (points.at >= axis.low) & (points.at <= axis.high)
    return points.at[core], points.values[core, axis.output], points.slope[core]


def _values(program: SweepProgram, axis: SweepAxis, points: SweepSamples) -> list[Mismatch]:
    """Samples at which the value is not ``forward``'s, plainly called: a compiler may round differently."""
    if program.declared.forward is None or np.isnan(points.reference).all():
        return []
    wrong = ~_same(points.values, points.reference)
    mismatches = []
    for row in np.nonzero(wrong.any(axis=1))[0][:CONFIRMED]:
        x = program.held.point.copy()
        x[axis.coordinate] = points.at[row]
        got = np.asarray(program.held.call(jnp.asarray(x)), dtype=np.float64)
        wanted = eager_forward(program.held, program.declared, x)
        for o in np.nonzero(wrong[row] & ~_same(got, wanted))[0][:1]:
            name = str(program.held.outputs.labels()[o])
            mismatches.append(Mismatch(axis.label, float(points.at[row]), name, float(got[o]), float(wanted[o])))
    return mismatches


def _same(value: Array, reference: Array) -> Flags:
    """Elementwise equality; the sign of a zero counts only at the author's own points."""
    return np.asarray((value == reference) | (np.isnan(value) & np.isnan(reference)))


def _slopes(program: SweepProgram, axis: SweepAxis, points: SweepSamples) -> list[Mismatch]:
    """The first sample whose derivative is not the declared one, discontinuities excepted (GRD207)."""
    asked, allowed = np.isfinite(points.declared), np.full(1, UNDERFLOW)
    if (asked & differ(points.slope, points.declared, SURROGATE, allowed)).any():
        allowed = UNDERFLOW + program.rounding(axis.coordinate, points.at, np.full(len(points.at), axis.output), True)
    wrong = asked & differ(points.slope, points.declared, SURROGATE, allowed)
    name = str(program.held.outputs.labels()[axis.output])
    rows = np.nonzero(wrong & ~_near_a_leap(program, axis, points, wrong))[0]
    order = sorted(rows, key=lambda row: abs(points.at[row]))
    return [
        Mismatch(axis.label, float(points.at[k]), name, float(points.slope[k]), float(points.declared[k]), True)
        for k in order[:1]
    ]


def _near_a_leap(program: SweepProgram, axis: SweepAxis, points: SweepSamples, wrong: Flags) -> Flags:
    """A mask of samples at which the declared derivative itself jumps."""
    if not wrong.any():
        return wrong
    outputs = np.full(len(points.at), axis.output)
    below, above = (
        program.run(axis.coordinate, np.nextafter(points.at, side), outputs, True).declared
        for side in (-np.inf, np.inf)
    )
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(below - above) > 1e-6 * np.maximum(np.abs(below), np.abs(above)))


def _truth(
    program: SweepProgram, axis: SweepAxis, at: Array, leaps: list[float], is_declared: bool
) -> tuple[float, bool]:
    """The largest distance from the true derivative where it exists, and whether the two coincide.

    Besides samples it is looked at close to leaps, where a surrogate is largest.
    """
    core = at[(at > axis.low) & (at < axis.high)]
    close = [leap + side * STEP * max(1.0, abs(leap)) * 2 for leap in leaps[:8] for side in (-1, 1)]
    even = core[np.linspace(0, len(core) - 1, min(len(core), COUNT // 3 - len(close))).astype(int)]
    chosen = np.concatenate([even, [c for c in close if axis.low < c < axis.high]])
    step = STEP * np.maximum(1.0, np.abs(chosen))
    # A point in the middle of a leap has equal differences on both sides, and no derivative.
    chosen = chosen[np.all([np.abs(chosen - leap) > 1.5 * step for leap in leaps] or [step > 0], axis=0)]
    step = STEP * np.maximum(1.0, np.abs(chosen))
    triple = np.stack([chosen - step, chosen, chosen + step])
    points = program.run(axis.coordinate, triple.ravel(), np.full(triple.size, axis.output), is_declared)
    value, slope = points.values[:, axis.output].reshape(triple.shape), points.slope.reshape(triple.shape)[1]
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
