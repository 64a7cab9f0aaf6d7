"""Adjust verdicts by evidence beyond differences: proofs of 0, the complex step, noise, iterations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradhook.comparison.judge import (
    COMPLEX_STEP,
    DIFFERENCES,
    DISAGREE,
    EQUATIONS,
    NO_SLOPE,
    ROUNDING_SHARE,
    TINY,
    Array,
    Flags,
    Judgement,
    Measurement,
    Tolerance,
    inconsistent_outputs,
    judge,
    smoothness_code,
)
from gradhook.comparison.probe import ALONG, ComplexStep, DerivativeComparison, DerivativeError, Probe
from gradhook.model.results import Mode, Smoothness, Verdict

EPS = float(np.finfo(np.float64).eps)
BAR = 4
"""The roundoff that a few perturbed runs show is itself uncertain: the bar of the complex step is this much wider."""
ZERO = 64
"""A claim within so many roundoffs of its terms, where the complex step gives 0 within its bar, is a 0 made by
cancellation. It is measured by how steep the surroundings are on the same line, or by the value over its scale."""
STILL = 0.1
"""This part of what running a loop on has changed may change yet."""
DROWNED = 0.01
"""Noise of this part of the value leaves nothing of it to measure."""
SINGLE = 2.0**-23
"""A unit in the last place of float32, beside 1."""
UNRESOLVED = ("GRD405", "GRD406", "GRD408", "GRD409")
"""The causes of doubt in which the derivative exists, and only differences cannot see it."""
PROVEN = (COMPLEX_STEP, EQUATIONS)
"""Witnesses of a derivative whose shape differences do not see."""


def adjust_judgement(
    comparison: DerivativeComparison, mode: Mode, claim: Array, judged: Judgement, probe: Probe
) -> Judgement:
    """Apply, in order: proofs of 0, the complex step, and excuses of a failure."""
    measured = comparison.measured_by(mode)
    judged = prove_zeros(comparison, mode, claim, measured, judged, probe)
    judged = apply_complex_step(comparison, mode, claim, measured, judged, probe)
    judged = pass_cancelled(comparison, mode, claim, measured, judged, probe)
    judged = downgrade_iteration_failures(comparison, mode, claim, judged, probe)
    return downgrade_noisy_failures(comparison, mode, claim, measured, judged, probe)


def prove_zeros(
    comparison: DerivativeComparison, mode: Mode, claim: Array, measured: Measurement, judged: Judgement, probe: Probe
) -> Judgement:
    """Decide elements whose output provably depends on no moving input: their derivative is 0."""
    asked = measured.motionless & np.isfinite(claim) & (judged.verdict == Verdict.UNDECIDED)
    if not asked.any():
        return judged
    proven = asked & probe.independent(comparison.path, mode)
    right = np.abs(claim) <= judged.tolerance - probe.tolerance.rtol * np.abs(claim)
    return replace(
        judged,
        verdict=np.where(proven, np.where(right, Verdict.PASS, Verdict.FAIL), judged.verdict),
        code=np.where(proven, "", judged.code),
        resolution=np.where(proven, 0.0, judged.resolution),
        witness=np.where(proven, EQUATIONS, judged.witness),
        reference=np.where(proven, 0.0, judged.reference),
        error=np.where(proven, 0.0, judged.error),
    )


def apply_complex_step(
    comparison: DerivativeComparison, mode: Mode, claim: Array, measured: Measurement, judged: Judgement, probe: Probe
) -> Judgement:
    """Let the complex step decide elements that differences leave unresolved or dispute."""
    steep = np.isin(judged.code, list(NO_SLOPE.values()))
    smooth = np.isin(measured.smoothness, [smoothness_code(shape) for shape in (Smoothness.SMOOTH, Smoothness.EDGE)])
    # A bend that is seen above noise or a plateau alone may lie beside the point: the equations at the point decide.
    beside = (judged.code == "GRD401") & (measured.noise > 0)
    bent = _off_both_sides(claim, measured, judged, probe) & ~beside
    open_ = (judged.verdict == Verdict.UNDECIDED) & (np.isin(judged.code, (*UNRESOLVED, "GRD407")) | steep | beside)
    asked = (open_ | (smooth & (judged.verdict == Verdict.FAIL)) | _barely(claim, judged) | bent) & np.isfinite(claim)
    asked &= (judged.witness != EQUATIONS) & np.isfinite(measured.centre)[None, :]
    if not asked.any():
        return judged
    found = probe.witness(comparison.path, mode)
    if found is None:
        return _unmoved(comparison, mode, claim, measured, judged, asked, probe)
    with np.errstate(all="ignore"):
        answered = asked & np.isfinite(found.value) & np.isfinite(found.error)
        # A jump on every step is none if the function is that steep: it is smooth on a scale below the finest step.
        answered &= ~steep | (np.abs(found.value) >= 0.5 * measured.steepest)
        # A complex step whose own terms round by more than what is disputed cannot settle the dispute.
        disputed = (judged.verdict == Verdict.FAIL) & measured.accepted
        answered &= ~disputed | (BAR * found.error <= np.abs(claim - measured.value) / 10)
        judged = _still_bent(judged, _by_witness(claim, measured, judged, found, answered, probe), bent & answered)
    return _unmoved(comparison, mode, claim, measured, judged, asked & ~answered, probe)


def _off_both_sides(claim: Array, measured: Measurement, judged: Judgement, probe: Probe) -> Flags:
    """Claims at a kink without a convention that are the slope of neither side: between them, or outside of both.

    If the kink lies beside the point, the function has one slope at the point, and that claim is not it.
    """
    if probe.kink is not None:
        return np.zeros(claim.shape, dtype=bool)
    with np.errstate(all="ignore"):
        own = probe.tolerance.around(claim)
        left = np.abs(claim - measured.left) <= own + measured.left_error
        right = np.abs(claim - measured.right) <= own + measured.right_error
    open_ = (judged.verdict == Verdict.FAIL) | (judged.code == "GRD401")
    return np.asarray((measured.smoothness == smoothness_code(Smoothness.KINK)) & open_ & ~left & ~right)


def _still_bent(before: Judgement, after: Judgement, bent: Flags) -> Judgement:
    """The second witness may accuse beside a kink; what it bears out stays undecided: differences see two slopes."""
    open_ = bent & (after.verdict != Verdict.FAIL)
    kept = {name: np.where(open_, getattr(before, name), getattr(after, name)) for name in _ANSWER}
    return replace(
        after,
        **kept,
        verdict=np.where(open_, Verdict.UNDECIDED, after.verdict),
        code=np.where(open_, "GRD401", after.code),
    )


_ANSWER = ("resolution", "size", "witness", "reference", "error")
"""What is told of an element, beside its verdict and cause."""


def _unmoved(
    comparison: DerivativeComparison,
    mode: Mode,
    claim: Array,
    measured: Measurement,
    judged: Judgement,
    unanswered: Flags,
    probe: Probe,
) -> Judgement:
    """Pass claims of 0 about outputs that no step, nan or infinity changes, without a complex step."""
    still = unanswered & measured.motionless & (claim == 0) & (judged.verdict == Verdict.UNDECIDED)
    if not still.any():
        return judged
    still &= probe.unaffected_by_nan(comparison.path, mode)
    return replace(
        judged,
        verdict=np.where(still, Verdict.PASS, judged.verdict),
        code=np.where(still, "", judged.code),
        resolution=np.where(still, 0.0, judged.resolution),
        witness=np.where(still, EQUATIONS, judged.witness),
        reference=np.where(still, 0.0, judged.reference),
        error=np.where(still, 0.0, judged.error),
    )


def pass_cancelled(
    comparison: DerivativeComparison, mode: Mode, claim: Array, measured: Measurement, judged: Judgement, probe: Probe
) -> Judgement:
    """Pass a 0 up to the rounding of the terms that cancel in it, where differences give 0.

    An eigenvalue does not change with the phase of a coupling: JAX gives 4e-17, of terms of size 1. These terms, which
    random rounding shows, are their measure. A claim of 0 that is no sum has no terms and stays open.
    """
    open_ = (judged.verdict == Verdict.UNDECIDED) & (judged.witness == DIFFERENCES) & np.isin(judged.code, UNRESOLVED)
    # A value that no step changes is known to its rounding over the largest step.
    bar = np.where(measured.motionless, BAR * EPS * measured.level, measured.error)
    with np.errstate(invalid="ignore"):
        open_ &= measured.motionless | (measured.accepted & (np.abs(measured.value) <= bar) & (np.abs(claim) <= bar))
    if not open_.any():
        return judged
    roundoff = probe.roundoff(comparison.path, mode) + np.zeros_like(claim)
    terms = roundoff / (BAR * EPS)
    zero = open_ & (roundoff > 0) & (np.abs(claim) <= roundoff) & probe.tolerance.resolves(bar + roundoff, terms)
    return replace(
        judged,
        verdict=np.where(zero, Verdict.PASS, judged.verdict),
        code=np.where(zero, "", judged.code),
        size=np.where(zero, terms, judged.size),
        resolution=np.where(zero, (bar + roundoff) / np.maximum(terms, TINY), judged.resolution),
        error=np.where(zero, bar, judged.error),
    )


def _barely(claim: Array, judged: Judgement) -> Flags:
    """Claims that pass only because the bar is wide: a right one lies well inside, except a lost 0."""
    with np.errstate(invalid="ignore"):
        inside = (np.abs(claim - judged.reference) <= judged.tolerance + judged.error / 4) & (claim != 0)
    return np.asarray((judged.verdict == Verdict.PASS) & (judged.witness != EQUATIONS) & ~inside)


def _by_witness(
    claim: Array, measured: Measurement, judged: Judgement, found: ComplexStep, answered: Flags, probe: Probe
) -> Judgement:
    value = found.value
    vanishing = (np.abs(value) <= BAR * found.error) & (np.abs(claim) <= ZERO * found.error)
    bar = np.where(vanishing, ZERO, BAR) * found.error
    size = np.where(vanishing, np.maximum(measured.surroundings, measured.level), np.abs(claim))
    own = probe.tolerance.around(claim)
    # A claim that is right to its last digits needs no allowance for its rounding: cos(pi / 2) is 6e-17.
    allowed = np.where(np.abs(claim - value) <= own + bar, own, judged.tolerance)
    rounding = allowed - own
    agrees = np.abs(claim - value) <= allowed + bar
    spoke = measured.accepted & (measured.smoothness == smoothness_code(Smoothness.SMOOTH))
    conflict = spoke & (np.abs(measured.value - value) > 3 * measured.error + bar)
    resolved = probe.tolerance.resolves(bar + rounding, size)
    size = np.where(agrees, size, np.maximum(np.abs(claim), np.abs(value)))
    accusing = probe.tolerance.resolves(bar + rounding, np.maximum(np.abs(claim), np.abs(value)))
    rows: list[tuple[Flags, Verdict, str]] = [
        (conflict, Verdict.UNDECIDED, "GRD407"),
        (agrees & resolved, Verdict.PASS, ""),
        (~agrees & accusing, Verdict.FAIL, ""),
        (np.ones_like(agrees), Verdict.UNDECIDED, "GRD405"),
    ]
    # What both witnesses refuse stands as differences put it.
    answered = answered & ~((judged.verdict == Verdict.FAIL) & ~agrees & ~conflict)
    open_ = answered
    verdict, code = judged.verdict, judged.code
    for holds, answer, cause in rows:
        verdict, code = np.where(open_ & holds, answer, verdict), np.where(open_ & holds, cause, code)
        open_ = open_ & ~holds
    settled = answered & ~conflict
    # Told is what would not have passed: not by rounding that is allowed elsewhere, nor by differences that resolve.
    widest = np.where(probe.tolerance.resolves(bar + judged.tolerance - own, size), judged.tolerance, allowed)
    told = (widest + bar) / np.maximum(size, TINY)
    enough = probe.tolerance.resolves(judged.error + judged.tolerance - own, np.abs(claim)) & measured.accepted
    told = np.where(enough, np.fmax(told, judged.resolution), told)
    return replace(
        judged,
        verdict=verdict,
        code=code,
        witness=np.where(settled, COMPLEX_STEP, np.where(answered, DISAGREE, judged.witness)),
        reference=np.where(answered, value, judged.reference),
        error=np.where(answered, bar, judged.error),
        size=np.where(settled, size, judged.size),
        resolution=np.where(settled, told, judged.resolution),
    )


def downgrade_iteration_failures(
    comparison: DerivativeComparison, mode: Mode, claim: Array, judged: Judgement, probe: Probe
) -> Judgement:
    """Make a failure undecided if it is smaller than the error of an iteration on the element's path.

    Not if the author states an accuracy; an element without an iteration on its way is as exact as any.
    """
    measured = comparison.measured_by(mode)
    failed = (judged.verdict == Verdict.FAIL) & (measured.smoothness == smoothness_code(Smoothness.SMOOTH))
    if not failed.any() or probe.tolerance != Tolerance():
        return judged
    open_ = probe.iteration_error(comparison, mode)
    if not (failed & (open_ > 0)).any():
        return judged
    with np.errstate(all="ignore"):
        near = np.abs(claim - judged.reference) <= open_ * _terms(comparison, judged.reference)
        near = failed & (open_ > 0) & _settled_further(comparison, mode, claim, near, probe)
    return replace(
        judged,
        verdict=np.where(near, Verdict.UNDECIDED, judged.verdict),
        code=np.where(near, "GRD407", judged.code),
    )


def _settled_further(comparison: DerivativeComparison, mode: Mode, claim: Array, near: Flags, probe: Probe) -> Flags:
    """Whether a claim is that of the converged iteration, as running it on shows; else what is known beforehand.

    What is still changing after that is a small part of what running on has changed.
    """
    found, measured, made = (
        probe.continued_iteration(comparison.path, mode),
        comparison.measured_by(mode),
        comparison.autodiff[mode],
    )
    if found is None or isinstance(made, DerivativeError):
        return near
    changed = np.abs(found.value - measured.value) + np.abs(found.claim - made)
    # Another claim than the function's own is asked about as well: it is as far from what it will be as that.
    gap = np.abs(found.claim + (claim - made) - found.value)
    return np.where(found.converged, gap <= probe.tolerance.around(claim) + found.error + STILL * changed, near)


def downgrade_noisy_failures(
    comparison: DerivativeComparison, mode: Mode, claim: Array, measured: Measurement, judged: Judgement, probe: Probe
) -> Judgement:
    """Make a failure undecided where AD is noisy, or where slopes along several directions do not add up."""
    failed = judged.verdict == Verdict.FAIL
    if not failed.any():
        return judged
    accused = failed & (measured.smoothness == smoothness_code(Smoothness.SMOOTH))
    with np.errstate(all="ignore"):
        gap, size = np.abs(claim - judged.reference), np.maximum(np.abs(judged.reference), np.abs(claim))
        # A claim that changes altogether under rounding is a wrong gradient, not a noisy one.
        noisy = (
            accused & (gap <= 16 * probe.rounding_sensitivity(comparison.path, mode)) & (gap <= ROUNDING_SHARE * size)
        )
        proven = failed & (np.isin(judged.witness, PROVEN) | (accused & (gap <= ROUNDING_SHARE * size)))
        # This covers a claim of 0 as well: 1 - tanh(25)**2 is 0, of terms that round by more than what it should be.
        if (proven & ~noisy).any():
            noisy |= proven & (gap <= BAR * probe.roundoff(comparison.path, mode))
    noisy |= failed & _answered(comparison, claim, judged)
    noisy |= _narrowed(comparison, mode, claim, measured, judged, accused, probe)
    torn = accused & ~noisy & inconsistent_outputs(comparison.directions, measured)[None, :]
    return replace(
        judged,
        verdict=np.where(noisy | torn, Verdict.UNDECIDED, judged.verdict),
        code=np.where(noisy, "GRD405", np.where(torn, "GRD401", judged.code)),
    )


def _narrowed(
    comparison: DerivativeComparison,
    mode: Mode,
    claim: Array,
    measured: Measurement,
    judged: Judgement,
    accused: Flags,
    probe: Probe,
) -> Flags:
    """A mask of failures that lie behind a float32 number, whose staircase distorts the measured slope.

    Noise as large as the value: whatever the function does between two stairs looks like noise, and no finer step
    tells otherwise. Fine and large steps that differ. A gap within the rounding of the narrower number.
    """
    with np.errstate(all="ignore"):
        found = (measured.noise > DROWNED * np.abs(measured.centre)[None, :]) | np.isfinite(measured.coarse)
        found |= np.abs(claim - judged.reference) <= SINGLE * np.abs(claim)
    found &= accused & (judged.witness == DIFFERENCES)
    columns = comparison.column_labels(mode)
    for row, column in zip(*np.nonzero(found), strict=True):
        found[row, column] = bool(probe.downcasts(comparison.path, comparison.input_labels[row], columns[column]))
    return np.asarray(found)


def _repeating(comparison: DerivativeComparison) -> Flags:
    """Directions (D,) that move everything, where every coordinate is followed too; none where that is not so."""
    everything = np.array([label.moves_many for label in comparison.input_labels])
    large = any(label.part == ALONG for label in comparison.input_labels)
    if large or everything.all() or comparison.directions[~everything].shape[0] != comparison.directions.shape[1]:
        return np.zeros(everything.shape, dtype=bool)
    return everything


def _terms(comparison: DerivativeComparison, reference: Array) -> Array:
    """The size of each element; along a direction that moves everything that of the terms which it adds up."""
    sizes, everything = np.abs(reference), _repeating(comparison)
    if everything.any():
        along = comparison.directions[everything] @ np.linalg.inv(comparison.directions[~everything])
        sizes[everything] = np.fmax(np.abs(along) @ sizes[~everything], sizes[everything])
    return np.asarray(sizes)


def _answered(comparison: DerivativeComparison, claim: Array, judged: Judgement) -> Flags:
    """Dense directions that add nothing: every coordinate passes and the claims add up.

    Differences may fail along such a direction where scales are far apart; only a claim that is not linear is new.
    """
    everything = _repeating(comparison)
    if not everything.any():
        return np.zeros(claim.shape, dtype=bool)
    along = comparison.directions[everything] @ np.linalg.inv(comparison.directions[~everything])
    sums, sizes = along @ claim[~everything], np.abs(along) @ np.abs(claim[~everything])
    answered = np.zeros(claim.shape, dtype=bool)
    passed = (judged.verdict[~everything] == Verdict.PASS).all(axis=0)
    answered[everything] = (np.abs(claim[everything] - sums) <= 1e-9 * sizes) & passed[None, :]
    return answered


def judge_by_differences(
    comparison: DerivativeComparison, claim: Array, measured: Measurement, probe: Probe, rounding: Array | float
) -> Judgement:
    """Judge by differences alone; a kink's convention applies to coordinates only.

    Along a direction that moves everything any slope between both sides is kept.
    """
    judged = judge(claim, measured, probe.tolerance, probe.kink, rounding)
    if probe.kink is None:
        return judged
    everything = np.array([label.moves_many for label in comparison.input_labels])[:, None]
    loose = judge(claim, measured, probe.tolerance, "subgradient", rounding)
    return replace(
        judged,
        verdict=np.where(everything, loose.verdict, judged.verdict),
        code=np.where(everything, loose.code, judged.code),
        resolution=np.where(everything, loose.resolution, judged.resolution),
    )
