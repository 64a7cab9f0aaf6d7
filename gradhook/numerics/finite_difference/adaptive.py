"""What is the derivative along each direction, measured as closely as the claims about it require?

One block of steps serves a smooth function. Where a claim is not borne out by it, where the finest differences do not
settle, or where the point looks like no smooth one, finer blocks and noise probes follow; all of them run the same
compiled program at other abscissae.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradhook.comparison.judge import Estimate, Tolerance, columns_of, disputed
from gradhook.model import Shape
from gradhook.numerics.finite_difference import noise
from gradhook.numerics.finite_difference import richardson as differences
from gradhook.numerics.finite_difference import smoothness as signatures
from gradhook.numerics.finite_difference.readings import Reading, estimate_of, floored, hollow, read, settled, slope_of
from gradhook.numerics.finite_difference.richardson import EPS, LEVELS, RATIO, Array, Flags, Ladder, chosen
from gradhook.numerics.finite_difference.scales import Lines
from gradhook.numerics.finite_difference.smoothness import Signature

POINTS = 2 * LEVELS + 1
"""Evaluations for each direction and block: both sides of every level, and the point itself."""
BLOCKS = 3
"""Blocks of levels one below the other; the last step of the third is 1e-20 of the scale."""
Evaluate = Callable[[Array], Array]
"""Values (D, POINTS, m) at the points ``x + t v`` for ``t`` of shape (D, POINTS)."""
Claims = Sequence[tuple[slice, Array]]
"""What is claimed about some of the columns: (D, width of the slice) each."""


@dataclass(frozen=True)
class Nature:
    """What the equations of a function tell; asked only where its values leave a doubt.

    ``narrow``: it may compute in less than float64 somewhere. ``iterates``: it repeats something until floating
    numbers satisfy a condition, so that its value is known to a tolerance, and its slope to none.
    """

    narrow: Callable[[], bool] = lambda: True
    iterates: Callable[[], bool] = lambda: False


def measure(
    evaluate: Evaluate,
    lines: Lines,
    claims: Claims,
    tolerance: Tolerance,
    step: float | None = None,
    nature: Nature = Nature(),
    keep: Callable[[Ladder], None] | None = None,
) -> Estimate:
    """Measure all directions (D) and outputs (m); look closer wherever one of ``claims`` is in dispute.

    With a fixed ``step`` the answer is one plain central difference, as its user asked. ``keep`` is handed the ladder
    in the end.
    """
    with np.errstate(all="ignore"):  # a ladder meets poles, overflows and empty sides; its flags say so
        if step is not None:
            return _plain(evaluate, lines, step)
        reading = read(_block(evaluate, lines, 1), lines)
        closer = _look_closer(reading, claims, tolerance).any()
        for first in _deeper(lines) if closer else ():
            reading = read(reading.ladder.extended(_block(evaluate, lines, first)), lines)
            if not (closer := _look_closer(reading, claims, tolerance).any()):
                break
        if keep:
            keep(reading.ladder)
        if not (closer or hollow(reading)):
            return estimate_of(reading)
        return _with_noise(reading, *_probe(evaluate, lines), nature)


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
    return Ladder(step, plus, minus, centre, lines.reach, np.broadcast_to(EPS * lines.terms, centre.shape))


def _fit(lines: Lines) -> Array:
    """The scale of the ladder: the natural one, or less where the domain ends before."""
    room = np.minimum(lines.room_back, lines.room_ahead)
    # At an edge of the domain itself only the inner side counts; the outer one is never evaluated.
    room = np.where(room > 2.0**-30 * lines.scale, room, np.maximum(lines.room_back, lines.room_ahead))
    return np.asarray(np.minimum(lines.scale, 2.0 ** np.floor(np.log2(room * 4))))


def _look_closer(reading: Reading, claims: Claims, tolerance: Tolerance) -> Flags:
    slope = reading.slope
    smooth = reading.signature.shape == signatures.number(Shape.SMOOTH)
    closer = ~smooth | ~slope.accepted | ~settled(reading)
    estimate = estimate_of(reading)
    for columns, claim in claims:
        closer[:, columns] |= disputed(claim, columns_of(estimate, columns), tolerance)
    return np.asarray(closer & np.isfinite(reading.ladder.centre))


def _probe(evaluate: Evaluate, lines: Lines) -> tuple[Array, Array]:
    """Noise at equally spaced points, (D, m) each: at the coarse spacing, and the least of all spacings."""
    offsets = np.arange(float(POINTS)) - (POINTS - 1) // 2
    found = []
    for spacing in noise.SPACINGS:
        h = differences.exact(np.maximum(_fit(lines) * spacing, 512 * EPS * lines.reach)[:, None], lines.reach)
        points = h * offsets
        # Near an edge both halves lie on the inner side, one behind the other.
        points = np.where(-points > lines.room_back[:, None], points + h * POINTS, points)
        points = np.where(points > lines.room_ahead[:, None], points - h * POINTS, points)
        found.append(noise.spread(evaluate(points)))
    return found[0], np.min(found, axis=0)


def _with_noise(reading: Reading, coarse: Array, sigma: Array, nature: Nature) -> Estimate:
    """The slope under the noise that was measured, and what large steps alone see if fine ones see something else."""
    ladder, base = reading.ladder, reading.ladder.coarsest()
    rounding = np.maximum(EPS * np.abs(ladder.centre), ladder.floor)
    quantum = np.zeros_like(sigma)
    if nature.narrow():
        quantum = noise.quantum(ladder, _expected(base))
    floor = np.maximum(np.where(sigma > 4 * rounding, 2 * sigma, 0.0), quantum)
    noisy = floored(ladder, floor)
    told = signatures.chosen(reading.signature, floor > 0, signatures.read(noisy))
    final = chosen(reading.slope, floor > 0, slope_of(noisy, told))
    ripple = np.maximum(np.where(coarse > 4 * rounding, 2 * coarse, 0.0), floor)
    large = differences.outline(base) if nature.iterates() else slope_of(floored(base, ripple), told)
    differs = large.accepted & (np.abs(large.value - final.value) > large.error + final.error)
    estimate = estimate_of(replace(reading, slope=final, signature=told))
    return replace(
        estimate,
        noise=floor,
        quantised=quantum > 0,
        coarse=np.where(differs, large.value, np.nan),
        coarse_error=np.where(differs, large.error, np.nan),
    )


def _expected(base: Ladder) -> Array:
    """The slope by which the values should move; that of the largest step where all fine ones see them stand still."""
    alone, rough = differences.central_slope(base), base.central[:, 0]
    known = alone.accepted & (np.abs(alone.value) > alone.error)
    return np.where(known, alone.value, np.where(np.isfinite(rough), rough, 0.0))


def _plain(evaluate: Evaluate, lines: Lines, step: float) -> Estimate:
    block = _block(evaluate, lines, 1)
    fixed = np.full_like(block.steps, step)
    values = evaluate(np.concatenate([np.zeros((len(fixed), 1)), fixed, -fixed], axis=1))
    ladder = replace(block, steps=fixed, plus=values[:, 1 : 1 + LEVELS], minus=values[:, 1 + LEVELS :])
    slope = differences.plain_slope(ladder)
    smooth = np.full(slope.value.shape, signatures.number(Shape.SMOOTH))
    signature = Signature(smooth, slope.value, slope.value)
    size, nothing = np.abs(slope.value), np.zeros_like(slope.value)
    return estimate_of(Reading(ladder, slope, signature, size, nothing, size))
