"""Measure the derivative along each direction, as closely as the claims about it require.

One block of steps serves a smooth function. Where a claim is not borne out by it, where the finest differences do not
settle, or where the point looks like no smooth one, finer blocks and noise probes follow; all of them run the same
compiled program at other abscissae.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradhook.comparison.judge import Measurement, Tolerance, disputed, measured_columns, smoothness_code
from gradhook.model.results import Smoothness
from gradhook.numerics.finite_difference import richardson, scales, smoothness
from gradhook.numerics.finite_difference.richardson import (
    EPS,
    LEVELS,
    RATIO,
    Array,
    DerivativeEstimate,
    Flags,
    StepTable,
    select,
)
from gradhook.numerics.finite_difference.scales import StepLimits
from gradhook.numerics.finite_difference.smoothness import PointClassification

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
class TableAnalysis:
    """A step table, the slope extrapolated from it, and the class of the point."""

    table: StepTable
    slope: DerivativeEstimate
    classification: PointClassification


def measure(
    evaluate: Evaluate,
    limits: StepLimits,
    claims: Claims,
    tolerance: Tolerance,
    step: float | None = None,
    iterates: Callable[[], bool] = lambda: False,
    keep: Callable[[StepTable], None] | None = None,
) -> Measurement:
    """Measure all directions (D) and outputs (m); refine wherever one of ``claims`` is in dispute.

    With a fixed ``step`` the answer is one plain central difference. ``iterates`` returns whether the function repeats
    something until floating numbers satisfy a condition; it is called only where noise is probed.
    ``keep`` is called with the final table.
    """
    with np.errstate(all="ignore"):  # a table meets poles, overflows and empty sides; its flags mark them
        if step is not None:
            return _plain(evaluate, limits, step)
        analysis = read(_block(evaluate, limits, 1))
        closer = _needs_refinement(analysis, limits, claims, tolerance).any()
        for first in _refinements(limits) if closer else ():
            analysis = read(_with_grain(analysis.table.extended(_block(evaluate, limits, first))))
            if not (closer := _needs_refinement(analysis, limits, claims, tolerance).any()):
                break
        if keep:
            keep(analysis.table)
        if not closer:
            return measurement_of(analysis, limits)
        return _with_noise(analysis, limits, *_probe(evaluate, limits), iterates)


def read(table: StepTable) -> TableAnalysis:
    """Extrapolate and classify a step table."""
    classification = smoothness.read(table)
    return TableAnalysis(table, slope_of(table, classification), classification)


def slope_of(table: StepTable, classification: PointClassification) -> DerivativeEstimate:
    """Extrapolate central differences; at an edge of the domain, those of the inner side.

    Steps that change nothing show that the slope is small beside the grain of the values, and the grain is unknown as
    long as nothing moves.
    """
    slope = richardson.richardson_central(table)
    edge = classification.smoothness == smoothness_code(Smoothness.EDGE)
    if edge.any():
        ahead, back = richardson.richardson_one_sided(table, +1), richardson.richardson_one_sided(table, -1)
        slope = select(slope, edge, select(ahead, ~np.isfinite(table.plus[:, LEVELS - 1]), back))
    return slope


def _refinements(limits: StepLimits) -> list[Array | int]:
    """The first levels of further blocks: one below the other, then at a tiny abscissa's own magnitude.

    Floating point is dense around a tiny abscissa, and log or sqrt there live on its scale.
    """
    fit = _fit(limits)
    own = np.floor(np.log(fit / np.maximum(limits.abscissa_scale, np.finfo(float).tiny)) / np.log(RATIO))
    last = 1 + BLOCKS * LEVELS
    tiny = np.where(limits.abscissa_scale > 0, np.maximum(own, last), last)
    return [1 + LEVELS, 1 + 2 * LEVELS, *([tiny] if (own[limits.abscissa_scale > 0] > last - LEVELS).any() else [])]


def abscissae(limits: StepLimits) -> Array:
    """The points (D, POINTS) of the block with which a measurement begins."""
    return _abscissae(limits, richardson.steps(_fit(limits), 1, limits.abscissa_scale))


def _abscissae(limits: StepLimits, step: Array) -> Array:
    ahead = np.where(step <= limits.max_step_forward[:, None], step, 0.0)
    back = np.where(step <= limits.max_step_backward[:, None], step, 0.0)
    return np.concatenate([np.zeros((len(step), 1)), ahead, -back], axis=1)


def _block(evaluate: Evaluate, limits: StepLimits, first: Array | int) -> StepTable:
    step = richardson.steps(_fit(limits), first, limits.abscissa_scale)
    t = _abscissae(limits, step)
    ahead, back = t[:, 1 : 1 + LEVELS], -t[:, 1 + LEVELS :]
    values = evaluate(t)
    plus = np.where(ahead[:, :, None] > 0, values[:, 1 : 1 + LEVELS], np.nan)
    minus = np.where(back[:, :, None] > 0, values[:, 1 + LEVELS :], np.nan)
    centre = values[:, 0]  # along a direction of its own a derivative has a value of its own
    return _with_grain(StepTable(step, plus, minus, centre, limits.abscissa_scale, np.zeros_like(centre)))


def _with_grain(table: StepTable) -> StepTable:
    """The table with the grain of its values as noise floor: smaller changes are not resolved."""
    return with_noise_floor(table, scales.grain(table))


def with_noise_floor(table: StepTable, floor: Array) -> StepTable:
    """The table of values that are uncertain by at least ``floor`` (D, m)."""
    return replace(table, floor=np.maximum(floor, table.floor))


def _fit(limits: StepLimits) -> Array:
    """The scale of the steps: the natural one, or less where the domain ends before."""
    room = np.minimum(limits.max_step_backward, limits.max_step_forward)
    # At an edge of the domain itself only the inner side counts; the outer one is never evaluated.
    room = np.where(room > 2.0**-30 * limits.scale, room, np.maximum(limits.max_step_backward, limits.max_step_forward))
    return np.asarray(np.minimum(limits.scale, 2.0 ** np.floor(np.log2(room * 4))))


def _needs_refinement(analysis: TableAnalysis, limits: StepLimits, claims: Claims, tolerance: Tolerance) -> Flags:
    smooth = analysis.classification.smoothness == smoothness_code(Smoothness.SMOOTH)
    closer = ~smooth | ~analysis.slope.accepted | ~_has_converged(analysis)
    estimate = measurement_of(analysis, limits)
    for columns, claim in claims:
        closer[:, columns] |= disputed(claim, measured_columns(estimate, columns), tolerance)
    return np.asarray(closer & np.isfinite(analysis.table.centre) & ~estimate.motionless)


def _has_converged(analysis: TableAnalysis) -> Flags:
    """Whether the finest difference equals the slope within its own noise; else finer steps are needed."""
    table, slope = analysis.table, analysis.slope
    jitter = table.noise[:, -1] / table.steps[:, -1:]
    last = table.central[:, -1]
    return np.asarray(np.isnan(last) | (np.abs(last - slope.value) <= 8 * jitter + slope.error))


def _probe(evaluate: Evaluate, limits: StepLimits) -> tuple[Array, Array]:
    """Noise at equally spaced points, (D, m) each: at the coarse spacing, and the least of all spacings.

    A kink or an oscillation shrinks with the spacing, noise does not, so the least counts. Spacings inside the grain
    of the values, where nothing moves from point to point, would find none and are left out.
    """
    offsets = np.arange(float(POINTS)) - (POINTS - 1) // 2
    found = []
    for spacing in scales.SPACINGS:
        h = richardson.exact(
            np.maximum(_fit(limits) * spacing, 512 * EPS * limits.abscissa_scale)[:, None], limits.abscissa_scale
        )
        points = h * offsets
        # Near an edge both halves lie on the inner side, one behind the other.
        points = np.where(-points > limits.max_step_backward[:, None], points + h * POINTS, points)
        points = np.where(points > limits.max_step_forward[:, None], points - h * POINTS, points)
        values = evaluate(points)
        found.append(np.where(scales.stuck(values), np.inf, scales.spread(values)))
    least = np.min(found, axis=0)
    return np.where(np.isfinite(found[0]), found[0], 0.0), np.where(np.isfinite(least), least, 0.0)


def _with_noise(
    analysis: TableAnalysis, limits: StepLimits, coarse: Array, sigma: Array, iterates: Callable[[], bool]
) -> Measurement:
    """The slope under the measured noise, and the slope of large steps where it differs."""
    table, base = analysis.table, analysis.table.coarsest()
    rounding = EPS * np.abs(table.centre)
    floor = np.maximum(np.where(sigma > 4 * rounding, 2 * sigma, 0.0), table.floor)
    noisy = with_noise_floor(table, floor)
    classification = smoothness.select(analysis.classification, floor > 0, smoothness.read(noisy))
    final = select(analysis.slope, floor > 0, _cautious(slope_of(noisy, classification)))
    ripple = np.maximum(np.where(coarse > 4 * rounding, 2 * coarse, 0.0), floor)
    large = richardson.coarse_estimate(base) if iterates() else slope_of(with_noise_floor(base, ripple), classification)
    differs = large.accepted & (np.abs(large.value - final.value) > large.error + final.error)
    estimate = measurement_of(TableAnalysis(noisy, final, classification), limits)
    return replace(
        estimate,
        noise=np.where(floor > 4 * rounding, floor, 0.0),  # the rest is the rounding of the value itself
        coarse=np.where(differs, large.value, np.nan),
        coarse_error=np.where(differs, large.error, np.nan),
    )


def _cautious(slope: DerivativeEstimate) -> DerivativeEstimate:
    return replace(slope, error=CAUTION * slope.error)


def measurement_of(analysis: TableAnalysis, limits: StepLimits) -> Measurement:
    """The measurement that the judge takes, from a table and its analysis."""
    table, slope, classification = analysis.table, analysis.slope, analysis.classification
    left, right = classification.left, classification.right
    left_error = right_error = np.full_like(slope.error, np.inf)
    if (classification.smoothness != smoothness_code(Smoothness.SMOOTH)).any():
        back, ahead = (richardson.richardson_one_sided(table, side) for side in (-1, +1))
        left, right = np.where(back.accepted, back.value, left), np.where(ahead.accepted, ahead.value, right)
        left_error, right_error = (np.where(s.accepted, s.error, np.inf) for s in (back, ahead))
    nothing = np.full_like(slope.value, np.nan)
    still = scales.motionless(table)
    return Measurement(
        value=np.where(still, 0.0, slope.value),
        error=np.where(still, np.inf, slope.error),
        accepted=slope.accepted & ~still,
        smoothness=classification.smoothness,
        left=left,
        right=right,
        left_error=left_error,
        right_error=right_error,
        coarse=nothing,
        coarse_error=nothing,
        noise=np.zeros_like(slope.value),
        surroundings=scales.surroundings(table),
        steepest=scales.steepest(table),
        level=scales.level(table, limits),
        motionless=still,
        centre=_shared(table.centre),
    )


def _shared(centre: Array) -> Array:
    """One value (m,) for all directions; a non-finite one where some direction has it."""
    if not len(centre):
        return np.zeros(centre.shape[1])
    row = np.argmax(~np.isfinite(centre), axis=0)
    return np.asarray(np.take_along_axis(centre, row[None, :], axis=0)[0])


def _plain(evaluate: Evaluate, limits: StepLimits, step: float) -> Measurement:
    """The central difference of a step that the user chose; the doubled step gives its truncation."""
    block = _block(evaluate, limits, 1)
    fixed = np.full_like(block.steps, step)
    fixed[:, 0] = 2 * step
    values = evaluate(np.concatenate([np.zeros((len(fixed), 1)), fixed, -fixed], axis=1))
    table = replace(block, steps=fixed, plus=values[:, 1 : 1 + LEVELS], minus=values[:, 1 + LEVELS :])
    slope = richardson.fixed_step(table)
    smooth = np.full(slope.value.shape, smoothness_code(Smoothness.SMOOTH))
    return measurement_of(TableAnalysis(table, slope, PointClassification(smooth, slope.value, slope.value)), limits)
