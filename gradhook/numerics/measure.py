"""What is the derivative along each direction, measured as closely as the claims about it require?

One ladder serves a smooth function. Where a claim is not borne out by it, or the point looks like no smooth one, finer
ladders and noise probes follow; all of them run the same compiled program at other abscissae.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradhook.judge import Estimate, Tolerance, disputed
from gradhook.model import Shape
from gradhook.numerics import differences, noise, signatures
from gradhook.numerics.differences import EPS, LEVELS, Array, Flags, Ladder, Slope
from gradhook.numerics.signatures import Signature

POINTS = 2 * LEVELS + 1
"""Evaluations for each direction and ladder: both sides of every level, and the point itself."""
ZOOMS = (1.0, 2.0**-18, 2.0**-36)
Evaluate = Callable[[Array], Array]
"""Values (D, POINTS, m) at the points ``x + t v`` for ``t`` of shape (D, POINTS)."""
Claims = Sequence[tuple[slice, Array]]
"""What is claimed about some of the columns: (D, width of the slice) each."""


@dataclass(frozen=True)
class Lines:
    """Where the directions lead, each (D,): natural ``scale`` of a step, ``reach`` of the abscissa, ``room`` on each side.

    ``scale`` is a power of two not below the abscissa's magnitude. No evaluation goes further than ``room_back`` or
    ``room_ahead``, which is how the domain of an input is respected.
    """

    scale: Array
    reach: Array
    room_back: Array
    room_ahead: Array
    terms: Array = field(default_factory=lambda: np.zeros(1))
    """(m,): the size of the terms that each output sums, where it may be a small difference of them; 0: its own size."""


@dataclass(frozen=True)
class Stage:
    """One ladder and what it says."""

    ladder: Ladder
    slope: Slope
    signature: Signature


def measure(
    evaluate: Evaluate,
    lines: Lines,
    claims: Claims,
    tolerance: Tolerance,
    step: float | None = None,
) -> Estimate:
    """Measure all directions (D) and outputs (m); look closer wherever one of ``claims`` is in dispute.

    With a fixed ``step`` the answer is one plain central difference, as its user asked.
    """
    with np.errstate(all="ignore"):  # a ladder meets poles, overflows and empty sides; its flags say so
        return _measure(evaluate, lines, claims, tolerance, step)


def _measure(evaluate: Evaluate, lines: Lines, claims: Claims, tolerance: Tolerance, step: float | None) -> Estimate:
    if step is not None:
        return _plain(evaluate, lines, step)
    stages = [_stage(evaluate, lines, ZOOMS[0])]
    scale = derivative_scale(stages[0], lines)
    for zoom in ZOOMS[1:]:
        if not _look_closer(stages, claims, scale, tolerance).any():
            return _combine(stages, scale, None, None)
        stages.append(_stage(evaluate, lines, zoom))
    if not _look_closer(stages, claims, scale, tolerance).any():
        return _combine(stages, scale, None, None)
    return _with_noise(stages, scale, *_probe(evaluate, lines))


def derivative_scale(stage: Stage, lines: Lines) -> Array:
    """The size of derivative that matters for each direction and output: the largest change of that output per scale.

    Where an output does not change at all, its own magnitude stands in.
    """
    change = np.where(stage.slope.accepted, np.abs(stage.slope.value), 0.0) * lines.scale[:, None]
    largest = np.maximum(change.max(axis=0, initial=0.0), lines.terms)
    size = np.where(np.isfinite(stage.ladder.centre), np.abs(stage.ladder.centre), 0.0)
    return np.asarray(np.where(largest > 0, largest, size)[None, :] / lines.scale[:, None])


def _stage(evaluate: Evaluate, lines: Lines, zoom: float) -> Stage:
    ladder = _ladder(evaluate, lines, differences.steps(_fit(lines) * zoom))
    signature = signatures.read(ladder)
    slope = differences.central_slope(ladder)
    edge = signature.shape == signatures.number(Shape.EDGE)
    if edge.any():
        slope = _replace(slope, edge, _inner_slope(ladder))
    return Stage(ladder, slope, signature)


def _fit(lines: Lines) -> Array:
    """The scale of the ladder: the natural one, or less where the domain ends before."""
    room = np.minimum(lines.room_back, lines.room_ahead)
    # At an edge of the domain itself only the inner side counts; the outer one is never evaluated.
    room = np.where(room > 2.0**-30 * lines.scale, room, np.maximum(lines.room_back, lines.room_ahead))
    return np.asarray(np.minimum(lines.scale, 2.0 ** np.floor(np.log2(room * 4))))


def _ladder(evaluate: Evaluate, lines: Lines, step: Array) -> Ladder:
    ahead = np.where(step <= lines.room_ahead[:, None], step, 0.0)
    back = np.where(step <= lines.room_back[:, None], step, 0.0)
    values = evaluate(np.concatenate([np.zeros((len(step), 1)), ahead, -back], axis=1))
    plus = np.where(ahead[:, :, None] > 0, values[:, 1 : 1 + LEVELS], np.nan)
    minus = np.where(back[:, :, None] > 0, values[:, 1 + LEVELS :], np.nan)
    return Ladder(step, plus, minus, values[0, 0], lines.reach, np.broadcast_to(EPS * lines.terms, values[:, 0].shape))


def _inner_slope(ladder: Ladder) -> Slope:
    ahead, back = differences.one_sided_slope(ladder, +1), differences.one_sided_slope(ladder, -1)
    return _replace(ahead, ~np.isfinite(ladder.plus[:, -1]), back)


def _replace(slope: Slope, where: Flags, other: Slope) -> Slope:
    return Slope(
        np.where(where, other.value, slope.value),
        np.where(where, other.error, slope.error),
        np.where(where, other.accepted, slope.accepted),
    )


def _look_closer(stages: list[Stage], claims: Claims, scale: Array, tolerance: Tolerance) -> Flags:
    best = _best([s.slope for s in stages])
    shape = _shape(stages).shape
    closer = (shape != signatures.number(Shape.SMOOTH)) | ~best.accepted
    for columns, claim in claims:
        known = best.value[:, columns], best.error[:, columns], best.accepted[:, columns], scale[:, columns]
        closer[:, columns] |= disputed(claim, *known, tolerance)
    return np.asarray(closer & np.isfinite(stages[0].ladder.centre))


def _shape(stages: list[Stage]) -> Signature:
    """The signature of the finest stage that could tell."""
    told = stages[0].signature
    for stage in stages[1:]:
        finer = stage.signature
        pick = finer.telling
        told = Signature(
            np.where(pick, finer.shape, told.shape),
            np.where(pick, finer.left, told.left),
            np.where(pick, finer.right, told.right),
            told.telling | pick,
        )
    return told


def _best(slopes: list[Slope]) -> Slope:
    """For each element the accepted slope with the smallest error bar."""
    best = slopes[0]
    for slope in slopes[1:]:
        best = _replace(best, slope.accepted & (~best.accepted | (slope.error < best.error)), slope)
    return best


def _probe(evaluate: Evaluate, lines: Lines) -> tuple[Array, Array]:
    """Noise at equally spaced points, at a coarse and at a fine spacing: (D, m) each."""
    middle = (POINTS - 1) // 2
    offsets = np.arange(POINTS) - middle
    found = []
    for spacing in (noise.COARSE, noise.FINE):
        points = _fit(lines)[:, None] * spacing * offsets
        inside = (points <= lines.room_ahead[:, None]) & (-points <= lines.room_back[:, None])
        found.append(noise.spread(evaluate(np.where(inside, points, 0.0))))
    return found[0], found[1]


def _with_noise(stages: list[Stage], scale: Array, coarse: Array, fine: Array) -> Estimate:
    rounding = np.maximum(EPS * np.abs(stages[0].ladder.centre), stages[0].ladder.floor)
    best = _best([s.slope for s in stages])
    quantum = noise.quantum([s.ladder for s in stages], _largest_slope(stages))
    sigma = np.minimum(coarse, fine)
    floor = np.maximum(np.where(sigma > 4 * rounding, 2 * sigma, 0.0), quantum)
    noisy = [_floored(stage, floor) for stage in stages[:2]]
    settled = [_replace(s.slope, floor > 0, n) for s, n in zip(stages, noisy, strict=False)] + [
        _replace(
            stages[2].slope,
            floor > 0,
            Slope(best.value, np.full_like(best.error, np.inf), np.zeros_like(best.accepted)),
        )
    ]
    stages = [Stage(s.ladder, slope, s.signature) for s, slope in zip(stages, settled, strict=True)]
    large = _floored(stages[0], np.maximum(2 * np.where(coarse > 4 * rounding, coarse, 0.0), floor))
    estimate = _combine(stages, scale, floor, quantum > 0)
    differs = large.accepted & (np.abs(large.value - estimate.value) > large.error + estimate.error)
    return replace(
        estimate,
        coarse=np.where(differs, large.value, estimate.coarse),
        coarse_error=np.where(differs, large.error, estimate.coarse_error),
    )


def _floored(stage: Stage, floor: Array) -> Slope:
    return differences.central_slope(replace(stage.ladder, floor=np.maximum(floor, stage.ladder.floor)))


def _largest_slope(stages: list[Stage]) -> Array:
    found = [np.where(s.slope.accepted, np.abs(s.slope.value), 0.0) for s in stages]
    return np.asarray(np.max(found, axis=0))


def _combine(stages: list[Stage], scale: Array, floor: Array | None, quantised: Flags | None) -> Estimate:
    best, told = _best([s.slope for s in stages]), _shape(stages)
    sides = [_best([differences.one_sided_slope(s.ladder, side) for s in stages]) for side in (-1, +1)]
    left, right = (
        np.where(s.accepted, s.value, fallback) for s, fallback in zip(sides, (told.left, told.right), strict=True)
    )
    coarse, coarse_error = _contradiction(stages, best)
    return Estimate(
        value=best.value, error=best.error, accepted=best.accepted, shape=told.shape, left=left, right=right,
        side_error=np.maximum(sides[0].error, sides[1].error), coarse=coarse, coarse_error=coarse_error,
        noise=np.zeros_like(best.value) if floor is None else floor,
        quantised=np.zeros(best.value.shape, dtype=bool) if quantised is None else quantised, scale=scale,
        centre=stages[0].ladder.centre,
    )  # fmt: skip


def _contradiction(stages: list[Stage], best: Slope) -> tuple[Array, Array]:
    """What the largest steps say, where both they and the chosen ones are sure of something else; nan elsewhere."""
    first = stages[0].slope
    differs = first.accepted & best.accepted & (np.abs(first.value - best.value) > first.error + best.error)
    return np.where(differs, first.value, np.nan), np.where(differs, first.error, np.nan)


def _plain(evaluate: Evaluate, lines: Lines, step: float) -> Estimate:
    ladder = _ladder(evaluate, lines, np.full((len(lines.scale), LEVELS), step))
    slope = differences.plain_slope(ladder)
    return _combine([Stage(ladder, slope, _nothing_told(slope))], np.abs(slope.value), None, None)


def _nothing_told(slope: Slope) -> Signature:
    smooth = np.full(slope.value.shape, signatures.number(Shape.SMOOTH))
    return Signature(smooth, slope.value, slope.value, np.zeros(slope.value.shape, dtype=bool))
