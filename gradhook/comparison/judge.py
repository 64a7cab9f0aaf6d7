"""Judge AD values against measurements, each element on its own scale; all tolerances are here."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradhook.model.results import RTOL, Smoothness, Verdict

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

COARSE = 1e-6
"""A comparison that would have missed a relative error of this size is no pass."""
TINY = float(np.finfo(np.float64).tiny)
"""The smallest normal number; smaller ones are not distinguished."""
ROUNDING_SHARE = 1e-3
"""At most this part of an element is put down to the rounding of JAX's own derivative."""
ADJOINT = 1e-10
"""How far forward and reverse mode may differ, relative to the terms that are summed: rounding, amplified a little."""
SURROGATE = 1e-12
"""How far a surrogate's derivative may lie from the declared one, relative to the largest: rounding."""


@dataclass(frozen=True)
class Measurement:
    """A measured derivative for every direction and output, each array of shape (D, m).

    ``value`` ± ``error`` where ``accepted``; ``smoothness`` numbers the members of ``Smoothness``; ``left`` ±
    ``left_error`` and ``right`` ± ``right_error`` are the one-sided slopes. ``coarse`` ± ``coarse_error`` is the
    estimate of larger steps where it differs from that of the finest ones (nan where they agree). ``noise`` is the
    absolute noise of the values, measured or read off their grain (0: rounding only). ``surroundings`` is the steepest
    slope nearby along the same line, ``steepest`` that of the change at the finest step, ``level`` the value over the
    natural scale of a step. ``motionless``: no step changes the value, so that differences are no evidence.
    ``centre`` (m,) is the value at the point.
    """

    value: Array
    error: Array
    accepted: Flags
    smoothness: NDArray[np.int8]
    left: Array
    right: Array
    left_error: Array
    right_error: Array
    coarse: Array
    coarse_error: Array
    noise: Array
    surroundings: Array
    steepest: Array
    level: Array
    motionless: Flags
    centre: Array

    def columns(self, columns: slice) -> Measurement:
        """The measurement restricted to some of its columns."""
        return Measurement(**{field.name: getattr(self, field.name)[..., columns] for field in fields(self)})


@dataclass(frozen=True)
class Tolerance:
    """Absolute and relative tolerance, each for one element, never multiplied by a size."""

    atol: float = 0.0
    rtol: float = RTOL

    def around(self, claimed: Array) -> Array:
        """The distance that a claim may lie from the truth."""
        return np.asarray(self.atol + self.rtol * np.abs(claimed))

    def resolves(self, bar: Array, size: Array) -> Flags:
        """Whether a bar is small enough beside an element of this size for a comparison to count."""
        return np.asarray(bar <= max(COARSE, self.rtol) * size + self.atol + TINY)


def measured_columns(estimate: Measurement, columns: slice) -> Measurement:
    """The measurement restricted to some of its columns."""
    return estimate.columns(columns)


@dataclass(frozen=True)
class Judgement:
    """The answer for every element, each array of shape (D, m).

    ``verdict`` holds the values of ``Verdict`` as strings, ``code`` the cause of an undecided one (else empty),
    ``tolerance`` what the claim was allowed to be off, ``size`` what the element is measured by (its own magnitude; for
    a 0 what could have been seen), ``resolution`` the smallest error, relative to ``size``, that would have shown.
    ``witness`` names what resolved the element, ``reference`` ± ``error`` is what it gives.
    """

    verdict: NDArray[np.object_]
    code: NDArray[np.object_]
    tolerance: Array
    resolution: Array
    size: Array
    witness: NDArray[np.object_]
    reference: Array
    error: Array


DIFFERENCES, COMPLEX_STEP, EQUATIONS, DISAGREE = "differences", "complex step", "equations", "disagree"
"""What resolves an element: finite differences, the complex step, a proof that nothing depends; or neither, as the
two disagree."""


def disputed(claimed: Array, estimate: Measurement, tolerance: Tolerance) -> Flags:
    """A mask of claims that are not confirmed yet, or measured too coarsely: refine there."""
    with np.errstate(invalid="ignore"):
        gap = np.abs(claimed - estimate.value)
        borne_out = estimate.accepted & (gap <= tolerance.around(claimed) + estimate.error)
        size = np.where(claimed == 0, estimate.surroundings, np.abs(claimed))
        return np.asarray(~borne_out | ~tolerance.resolves(estimate.error, size))


def inconsistent_outputs(directions: Array, estimate: Measurement) -> Flags:
    """Outputs (m,) whose slopes along different directions do not add up: they have no derivative.

    The middle one of three equal numbers does not move along any coordinate, but does when all move.
    """
    alone = (directions != 0).sum(axis=1) == 1
    if alone.sum() != directions.shape[1] or alone.all():
        return np.zeros(estimate.value.shape[1], dtype=bool)
    along = directions[~alone] @ np.linalg.inv(directions[alone])
    error = np.where(estimate.motionless, 0.0, estimate.error)
    sizes = np.abs(along) @ np.abs(estimate.value[alone])
    doubt = np.abs(along) @ error[alone] + error[~alone] + COARSE * sizes
    return np.asarray((np.abs(along @ estimate.value[alone] - estimate.value[~alone]) > doubt).any(axis=0))


def judge(
    claimed: Array,
    estimate: Measurement,
    tolerance: Tolerance,
    kink: str | float | None = None,
    rounding: Array | float = 0.0,
) -> Judgement:
    """Compare claims (D, m) with a measurement; ``kink`` is the declared convention at non-smooth points.

    ``rounding`` (D, m) is that of JAX's own derivative. A claim passes if it lies within tolerance, rounding and
    error bar, and these are small beside the element itself; it fails if it lies outside and the bar is small enough.
    Everything else is undecided, with its cause. A claim of 0 has no size of its own: it is measured by the steepest
    slope of the surroundings.
    """
    with np.errstate(invalid="ignore"):
        # A claim that is all rounding is a wrong gradient, not a noisy one.
        most = ROUNDING_SHARE * np.fmax(np.abs(claimed), np.abs(estimate.value))
        allowed = np.asarray(tolerance.around(claimed) + np.fmin(rounding, most))
    size = np.where(claimed == 0, estimate.surroundings, np.abs(claimed))
    verdict, code = _smooth(claimed, estimate, tolerance, allowed)
    # At a kink the derivative leaps when the point is rounded, which is no rounding of a slope on either side.
    exactly = tolerance.around(claimed)
    verdict, code = _kink(claimed, estimate, tolerance, exactly, kink, verdict, code)
    verdict, code = _no_slope(claimed, estimate, exactly, kink, verdict, code)
    allowed = np.where(estimate.smoothness == smoothness_code(Smoothness.KINK), exactly, allowed)
    with np.errstate(all="ignore"):
        size = np.where(verdict == Verdict.FAIL, np.fmax(np.abs(claimed), np.abs(estimate.value)), size)
        resolution = (allowed + _bar(claimed, estimate, kink)) / np.maximum(size, TINY)
    witness = np.full(claimed.shape, DIFFERENCES, dtype=object)
    return Judgement(verdict, code, allowed, resolution, size, witness, estimate.value, estimate.error)


def _bar(claimed: Array, estimate: Measurement, kink: str | float | None) -> Array:
    """The error bar of what a claim was compared with: a difference, a one-sided slope, or a given number."""
    no_slope = np.isin(estimate.smoothness, [smoothness_code(shape) for shape in (*NO_SLOPE, Smoothness.KINK)])
    given = no_slope & isinstance(kink, (int, float))
    side = (estimate.smoothness == smoothness_code(Smoothness.KINK)) & (kink is not None)
    return np.where(given, 0.0, np.where(side, _side_error(kink, claimed, estimate), estimate.error))


Answer = tuple[NDArray[np.object_], NDArray[np.object_]]


def _smooth(claimed: Array, estimate: Measurement, tolerance: Tolerance, allowed: Array) -> Answer:
    bar = estimate.error
    with np.errstate(all="ignore"):
        gap = np.abs(claimed - estimate.value)
        own = np.where(claimed == 0, estimate.surroundings, np.abs(claimed))
        agrees = estimate.accepted & (gap <= allowed + bar)
        resolved = tolerance.resolves(bar + allowed - tolerance.around(claimed), own)
        differs = estimate.accepted & ~agrees
        # The measured slope and the claim bound the element from below; a bar as large as both proves nothing wrong.
        size = np.maximum(np.abs(claimed), np.abs(estimate.value))
        sure = (bar <= 10 * COARSE * size) | ((bar <= 0.01 * size) & (gap > 10 * bar))
        sure |= tolerance.resolves(bar, size)
        # Where scales disagree, what disturbs the fine steps disturbs the large ones too, by an unknown part of it.
        elsewhere = np.abs(claimed - estimate.coarse) <= allowed + 100 * estimate.coarse_error  # disturbed too
    cause = np.where(estimate.noise > 0, "GRD405", "GRD409")
    return _table(gap.shape, [
        (agrees & resolved, Verdict.PASS, ""),
        (agrees | ~estimate.accepted, Verdict.UNDECIDED, cause),
        (differs & elsewhere, Verdict.UNDECIDED, "GRD407"),
        (differs & sure, Verdict.FAIL, ""),
        (differs, Verdict.UNDECIDED, cause),
    ])  # fmt: skip


def _kink(
    claimed: Array, estimate: Measurement, tolerance: Tolerance, allowed: Array, kink: str | float | None, verdict: Any,
    code: Any,
) -> Answer:  # fmt: skip
    """Judge kinks: by the declared convention, or undecided between the one-sided slopes."""
    with np.errstate(all="ignore"):
        slack = allowed + (0.0 if _is_number(kink) else _side_error(kink, claimed, estimate))
        low, high = np.minimum(estimate.left, estimate.right), np.maximum(estimate.left, estimate.right)
        inside = (claimed >= low - slack) & (claimed <= high + slack)
        kept = inside if kink is None else np.abs(claimed - _convention(kink, claimed, estimate, low, high)) <= slack
        size = np.where(claimed == 0, estimate.surroundings, np.abs(claimed))
        told = kept & (kink is not None) & tolerance.resolves(slack - tolerance.around(claimed), size)
    here = estimate.smoothness == smoothness_code(Smoothness.KINK)
    answer = np.where(told, Verdict.PASS, np.where(kept, Verdict.UNDECIDED, Verdict.FAIL))
    return np.where(here, answer, verdict), np.where(here, np.where(kept & ~told, "GRD401", ""), code)


def _is_number(kink: str | float | None) -> bool:
    return isinstance(kink, (int, float))


def _side_error(kink: str | float | None, claimed: Array, estimate: Measurement) -> Array:
    """The error bar of the one-sided slope that a claim at a kink is compared with."""
    match kink:
        case "left":
            return estimate.left_error
        case "right":
            return estimate.right_error
        case "mean":
            return np.asarray((estimate.left_error + estimate.right_error) / 2)
    with np.errstate(invalid="ignore"):
        nearer_left = np.abs(claimed - estimate.left) <= np.abs(claimed - estimate.right)
    return np.where(nearer_left, estimate.left_error, estimate.right_error)


def _convention(kink: str | float, claimed: Array, estimate: Measurement, low: Array, high: Array) -> Array:
    """The slope that the declared convention selects at a kink."""
    match kink:
        case "left":
            return estimate.left
        case "right":
            return estimate.right
        case "mean":
            return np.asarray((estimate.left + estimate.right) / 2)
        case "subgradient":
            return np.clip(claimed, low, high)
        case _:
            return np.full(claimed.shape, float(kink))


NO_SLOPE = {Smoothness.JUMP: "GRD402", Smoothness.CUSP: "GRD403", Smoothness.VERTICAL: "GRD404"}


def _no_slope(
    claimed: Array, estimate: Measurement, allowed: Array, kink: str | float | None, verdict: Any, code: Any
) -> Answer:
    """Judge jumps, cusps and vertical tangents as undecided; edges by what the inner side resolves."""
    edge = (estimate.smoothness == smoothness_code(Smoothness.EDGE)) & (verdict == Verdict.UNDECIDED)
    code = np.where(edge, "GRD408", code)
    for shape, name in NO_SLOPE.items():
        here = estimate.smoothness == smoothness_code(shape)
        verdict, code = np.where(here, Verdict.UNDECIDED, verdict), np.where(here, name, code)
    if isinstance(kink, str) or kink is None:
        return verdict, code
    # A number is a convention for every point without a slope; only a jump has none that could be meant.
    kept = np.where(np.abs(claimed - float(kink)) <= allowed, Verdict.PASS, Verdict.FAIL)
    agreed = np.isin(code, ("GRD403", "GRD404", "GRD408"))
    return np.where(agreed, kept, verdict), np.where(agreed, "", code)


_CLASSES = list(Smoothness)
_CODES = {member: np.int8(code) for code, member in enumerate(_CLASSES)}


def smoothness_code(smoothness: Smoothness) -> np.int8:
    """The small integer that encodes a ``Smoothness`` in arrays."""
    return _CODES[smoothness]


def smoothness_of(estimate: Measurement, place: tuple[int, int]) -> Smoothness:
    """The ``Smoothness`` of the function at one element."""
    return _CLASSES[int(estimate.smoothness[place])]


def _table(shape: tuple[int, ...], rows: list[tuple[Flags, Verdict, Any]]) -> Answer:
    """Verdict and cause of the first row whose condition holds, element by element."""
    verdict = np.full(shape, Verdict.UNDECIDED, dtype=object)
    code = np.full(shape, "GRD409", dtype=object)
    open_ = np.ones(shape, dtype=bool)
    for holds, answer, cause in rows:
        now = open_ & holds
        verdict, code = np.where(now, answer, verdict), np.where(now, cause, code)
        open_ &= ~holds
    return verdict, code
