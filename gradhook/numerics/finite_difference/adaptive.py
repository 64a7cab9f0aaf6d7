"""Measure the derivative along each direction, as closely as the claims about it require.

One block of steps serves a smooth function. Where a claim is not borne out by it, where the finest differences do not
settle, or where the point looks like no smooth one, finer blocks and noise probes follow; all of them run the same
compiled program at other abscissae.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradhook.comparison.judge import Estimate, Tolerance, columns_of, disputed
from gradhook.model.results import Smoothness
from gradhook.numerics.finite_difference import noise, scales
from gradhook.numerics.finite_difference import richardson as differences
from gradhook.numerics.finite_difference import smoothness as signatures
from gradhook.numerics.finite_difference.richardson import EPS, LEVELS, RATIO, Array, Flags, Ladder, Slope, chosen
from gradhook.numerics.finite_difference.scales import Lines
from gradhook.numerics.finite_difference.smoothness import Signature

POINTS = 2 * LEVELS + 1
"""Evaluations for each direction and block: both sides of every level, and the point itself."""
BLOCKS = 3
"""Blocks of levels one below the other; the last step of the third is 1e-20 of the scale."""
CAUTION = 4
"""Under measured noise the bar is this much wider: a standard deviation from a few values is itself uncertain."""
Evaluate = Callable[[Array], Array]
"""Values (D, POINTS, m) at the points ``x + t v`` for ``t`` of shape (D, POINTS)."""
Claims = Sequence[tuple[slice, Array]]
"""What is claimed about some of the columns: (D, width of the slice) each."""


@dataclass(frozen=True)
class Reading:
    """A ladder and what it says."""

    ladder: Ladder
    slope: Slope
    signature: Signature


def measure(
    evaluate: Evaluate,
    lines: Lines,
    claims: Claims,
    tolerance: Tolerance,
    step: float | None = None,
    iterates: Callable[[], bool] = lambda: False,
    keep: Callable[[Ladder], None] | None = None,
) -> Estimate:
    """Measure all directions (D) and outputs (m); look closer wherever one of ``claims`` is in dispute.

    With a fixed ``step`` the answer is one plain central difference, as its user asked. ``iterates`` says whether the
    function repeats something until floating numbers satisfy a condition; it is asked only where noise is probed.
    ``keep`` is handed the ladder in the end.
    """
    with np.errstate(all="ignore"):  # a ladder meets poles, overflows and empty sides; its flags say so
        if step is not None:
            return _plain(evaluate, lines, step)
        reading = read(_block(evaluate, lines, 1))
        closer = _look_closer(reading, lines, claims, tolerance).any()
        for first in _deeper(lines) if closer else ():
            reading = read(_grained(reading.ladder.extended(_block(evaluate, lines, first))))
            if not (closer := _look_closer(reading, lines, claims, tolerance).any()):
                break
        if keep:
            keep(reading.ladder)
        if not closer:
            return estimate_of(reading, lines)
        return _with_noise(reading, lines, *_probe(evaluate, lines), iterates)


def read(ladder: Ladder) -> Reading:
    """What a ladder says of slope and smoothness."""
    signature = signatures.read(ladder)
    return Reading(ladder, slope_of(ladder, signature), signature)


def slope_of(ladder: Ladder, signature: Signature) -> Slope:
    """Central differences; at an edge of the domain those of the inner side. A value that never moves has no slope.

    Steps that change nothing show that the slope is small beside the grain of the values, and the grain is unknown as
    long as nothing moves.
    """
    slope = differences.central_slope(ladder)
    edge = signature.shape == signatures.number(Smoothness.EDGE)
    if edge.any():
        ahead, back = differences.one_sided_slope(ladder, +1), differences.one_sided_slope(ladder, -1)
        slope = chosen(slope, edge, chosen(ahead, ~np.isfinite(ladder.plus[:, LEVELS - 1]), back))
    return slope


def _deeper(lines: Lines) -> list[Array | int]:
    """Where further blocks begin: one below the other, then at the abscissa's own magnitude if that is tiny.

    Floating point is dense around a tiny abscissa, and log or sqrt there live on its scale.
    """
    fit = _fit(lines)
    own = np.floor(np.log(fit / np.maximum(lines.reach, np.finfo(float).tiny)) / np.log(RATIO))
    last = 1 + BLOCKS * LEVELS
    tiny = np.where(lines.reach > 0, np.maximum(own, last), last)
    return [1 + LEVELS, 1 + 2 * LEVELS, *([tiny] if (own[lines.reach > 0] > last - LEVELS).any() else [])]


def abscissae(lines: Lines) -> Array:
    """The points (D, POINTS) of the block with which a measurement begins."""
    return _abscissae(lines, differences.steps(_fit(lines), 1, lines.reach))


def _abscissae(lines: Lines, step: Array) -> Array:
    ahead = np.where(step <= lines.room_ahead[:, None], step, 0.0)
    back = np.where(step <= lines.room_back[:, None], step, 0.0)
    return np.concatenate([np.zeros((len(step), 1)), ahead, -back], axis=1)


def _block(evaluate: Evaluate, lines: Lines, first: Array | int) -> Ladder:
    step = differences.steps(_fit(lines), first, lines.reach)
    t = _abscissae(lines, step)
    ahead, back = t[:, 1 : 1 + LEVELS], -t[:, 1 + LEVELS :]
    values = evaluate(t)
    plus = np.where(ahead[:, :, None] > 0, values[:, 1 : 1 + LEVELS], np.nan)
    minus = np.where(back[:, :, None] > 0, values[:, 1 + LEVELS :], np.nan)
    centre = values[:, 0]  # along a direction of its own a derivative has a value of its own
    return _grained(Ladder(step, plus, minus, centre, lines.reach, np.zeros_like(centre)))


def _grained(ladder: Ladder) -> Ladder:
    """The ladder with the grain of its values for a floor: steps inside the grain say nothing."""
    return floored(ladder, noise.grain(ladder))


def floored(ladder: Ladder, floor: Array) -> Ladder:
    """The ladder of values that are uncertain by at least ``floor`` (D, m)."""
    return replace(ladder, floor=np.maximum(floor, ladder.floor))


def _fit(lines: Lines) -> Array:
    """The scale of the ladder: the natural one, or less where the domain ends before."""
    room = np.minimum(lines.room_back, lines.room_ahead)
    # At an edge of the domain itself only the inner side counts; the outer one is never evaluated.
    room = np.where(room > 2.0**-30 * lines.scale, room, np.maximum(lines.room_back, lines.room_ahead))
    return np.asarray(np.minimum(lines.scale, 2.0 ** np.floor(np.log2(room * 4))))


def _look_closer(reading: Reading, lines: Lines, claims: Claims, tolerance: Tolerance) -> Flags:
    smooth = reading.signature.shape == signatures.number(Smoothness.SMOOTH)
    closer = ~smooth | ~reading.slope.accepted | ~_settled(reading)
    estimate = estimate_of(reading, lines)
    for columns, claim in claims:
        closer[:, columns] |= disputed(claim, columns_of(estimate, columns), tolerance)
    return np.asarray(closer & np.isfinite(reading.ladder.centre) & ~estimate.motionless)


def _settled(reading: Reading) -> Flags:
    """Whether the finest difference is the slope within its own noise: else there is something finer still."""
    ladder, slope = reading.ladder, reading.slope
    jitter = ladder.noise[:, -1] / ladder.steps[:, -1:]
    last = ladder.central[:, -1]
    return np.asarray(np.isnan(last) | (np.abs(last - slope.value) <= 8 * jitter + slope.error))


def _probe(evaluate: Evaluate, lines: Lines) -> tuple[Array, Array]:
    """Noise at equally spaced points, (D, m) each: at the coarse spacing, and the least of all spacings.

    A kink or an oscillation shrinks with the spacing, noise does not, so the least counts. Spacings inside the grain
    of the values, where nothing moves from point to point, would find none and are left out.
    """
    offsets = np.arange(float(POINTS)) - (POINTS - 1) // 2
    found = []
    for spacing in noise.SPACINGS:
        h = differences.exact(np.maximum(_fit(lines) * spacing, 512 * EPS * lines.reach)[:, None], lines.reach)
        points = h * offsets
        # Near an edge both halves lie on the inner side, one behind the other.
        points = np.where(-points > lines.room_back[:, None], points + h * POINTS, points)
        points = np.where(points > lines.room_ahead[:, None], points - h * POINTS, points)
        values = evaluate(points)
        found.append(np.where(noise.stuck(values), np.inf, noise.spread(values)))
    least = np.min(found, axis=0)
    return np.where(np.isfinite(found[0]), found[0], 0.0), np.where(np.isfinite(least), least, 0.0)


def _with_noise(reading: Reading, lines: Lines, coarse: Array, sigma: Array, iterates: Callable[[], bool]) -> Estimate:
    """The slope under the noise that was measured, and what large steps alone see if fine ones see something else."""
    ladder, base = reading.ladder, reading.ladder.coarsest()
    rounding = EPS * np.abs(ladder.centre)
    floor = np.maximum(np.where(sigma > 4 * rounding, 2 * sigma, 0.0), ladder.floor)
    noisy = floored(ladder, floor)
    told = signatures.chosen(reading.signature, floor > 0, signatures.read(noisy))
    final = chosen(reading.slope, floor > 0, _cautious(slope_of(noisy, told)))
    ripple = np.maximum(np.where(coarse > 4 * rounding, 2 * coarse, 0.0), floor)
    large = differences.outline(base) if iterates() else slope_of(floored(base, ripple), told)
    differs = large.accepted & (np.abs(large.value - final.value) > large.error + final.error)
    estimate = estimate_of(Reading(noisy, final, told), lines)
    return replace(
        estimate,
        noise=np.where(floor > 4 * rounding, floor, 0.0),  # the rest is the rounding of the value itself
        coarse=np.where(differs, large.value, np.nan),
        coarse_error=np.where(differs, large.error, np.nan),
    )


def _cautious(slope: Slope) -> Slope:
    return replace(slope, error=CAUTION * slope.error)


def estimate_of(reading: Reading, lines: Lines) -> Estimate:
    """The numbers of a reading as the judge takes them."""
    ladder, slope, told = reading.ladder, reading.slope, reading.signature
    left, right = told.left, told.right
    left_error = right_error = np.full_like(slope.error, np.inf)
    if (told.shape != signatures.number(Smoothness.SMOOTH)).any():
        back, ahead = (differences.one_sided_slope(ladder, side) for side in (-1, +1))
        left, right = np.where(back.accepted, back.value, left), np.where(ahead.accepted, ahead.value, right)
        left_error, right_error = (np.where(s.accepted, s.error, np.inf) for s in (back, ahead))
    nothing = np.full_like(slope.value, np.nan)
    still = noise.motionless(ladder)
    return Estimate(
        value=np.where(still, 0.0, slope.value),
        error=np.where(still, np.inf, slope.error),
        accepted=slope.accepted & ~still,
        shape=told.shape,
        left=left,
        right=right,
        left_error=left_error,
        right_error=right_error,
        coarse=nothing,
        coarse_error=nothing,
        noise=np.zeros_like(slope.value),
        around=scales.surroundings(ladder),
        steepest=scales.steepest(ladder),
        level=scales.level(ladder, lines),
        motionless=still,
        centre=_shared(ladder.centre),
    )


def _shared(centre: Array) -> Array:
    """One value (m,) for all directions; of an output that is not finite along some, what it is there."""
    if not len(centre):
        return np.zeros(centre.shape[1])
    row = np.argmax(~np.isfinite(centre), axis=0)
    return np.asarray(np.take_along_axis(centre, row[None, :], axis=0)[0])


def _plain(evaluate: Evaluate, lines: Lines, step: float) -> Estimate:
    """The central difference of a step that the user chose; the doubled step tells its truncation."""
    block = _block(evaluate, lines, 1)
    fixed = np.full_like(block.steps, step)
    fixed[:, 0] = 2 * step
    values = evaluate(np.concatenate([np.zeros((len(fixed), 1)), fixed, -fixed], axis=1))
    ladder = replace(block, steps=fixed, plus=values[:, 1 : 1 + LEVELS], minus=values[:, 1 + LEVELS :])
    slope = differences.plain_slope(ladder)
    smooth = np.full(slope.value.shape, signatures.number(Smoothness.SMOOTH))
    return estimate_of(Reading(ladder, slope, Signature(smooth, slope.value, slope.value)), lines)
