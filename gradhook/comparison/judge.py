"""Does a claim agree with a measurement, and what would the comparison have seen? The one place that judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradhook.model import RTOL, Shape, Verdict

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

COARSE = 1e-6
"""A comparison that would have missed a relative error of this size is no pass."""

ADJOINT = 1e-10
"""How far forward and reverse mode may differ, relative to the terms that are summed: rounding, amplified a little."""
SURROGATE = 1e-12
"""How far a surrogate's derivative may lie from the declared one, relative to the largest: rounding."""


@dataclass(frozen=True)
class Estimate:
    """A measured derivative for every direction and output, each array of shape (D, m).

    ``value`` ± ``error`` where ``accepted``; ``shape`` numbers the members of ``model.Shape``; ``left`` and ``right``
    are the one-sided slopes, each ± ``side_error``. ``coarse`` ± ``coarse_error`` is what larger steps say where they
    say something else than the finest ones (nan where they agree). ``noise`` is the measured absolute noise of the
    values (0: rounding only), ``quantised`` where it comes from a coarser floating format. ``scale`` is the size of
    derivative against which an error bar is coarse or fine; ``rounding`` is what JAX's own derivative may lose by
    rounding, as a sum of terms that may cancel; ``flat`` is the value over its scale, ``swallowed`` a slope that the
    value may have lost in a sum with larger numbers; ``centre`` (m,) is the value at the point.
    """

    value: Array
    error: Array
    accepted: Flags
    shape: NDArray[np.int8]
    left: Array
    right: Array
    side_error: Array
    coarse: Array
    coarse_error: Array
    noise: Array
    quantised: Flags
    scale: Array
    rounding: Array
    flat: Array
    swallowed: Array
    centre: Array


@dataclass(frozen=True)
class Tolerance:
    """Absolute and relative tolerance, each for one element, never multiplied by a size."""

    atol: float = 0.0
    rtol: float = RTOL

    def around(self, claimed: Array) -> Array:
        """How far a claim may lie from the truth."""
        return np.asarray(self.atol + self.rtol * np.abs(claimed))


def disputed(claimed: Array, estimate: Estimate, tolerance: Tolerance) -> Flags:
    """Where a claim is not borne out yet, or the measurement is too coarse to bear it out: look closer there."""
    with np.errstate(invalid="ignore"):
        gap = np.abs(claimed - estimate.value)
        borne_out = estimate.accepted & (gap <= tolerance.around(claimed) + estimate.rounding + estimate.error)
        return np.asarray(~borne_out | _blind(claimed, estimate, tolerance))


def _blind(claimed: Array, estimate: Estimate, tolerance: Tolerance) -> Flags:
    """Where the bar is so wide that a claim inside it means nothing.

    A claim of exactly 0 means something as soon as the bar is small beside the value over its scale.
    """
    size = np.maximum(np.abs(estimate.value), estimate.scale)
    size = np.where(claimed == 0, np.maximum(size, estimate.flat), size)
    # Below the smallest normal number there is nothing left to tell apart: 0 ± a few subnormals is exactly 0.
    smallest = float(np.finfo(np.float64).tiny)
    wide = estimate.error > max(COARSE, tolerance.rtol) * size + 10 * tolerance.atol + smallest
    return np.asarray(~estimate.accepted | wide)


def columns_of(estimate: Estimate, columns: slice) -> Estimate:
    """The part of an estimate that speaks of some of its columns."""
    return Estimate(**{name: getattr(estimate, name)[..., columns] for name in estimate.__dataclass_fields__})


@dataclass(frozen=True)
class Judgement:
    """The answer for every element, each array of shape (D, m).

    ``verdict`` holds the values of ``Verdict`` as strings, ``code`` the cause of an undecided one (else empty),
    ``tolerance`` and ``resolution`` what the element's comparison allowed and the smallest relative error that it would
    have seen.
    """

    verdict: NDArray[np.object_]
    code: NDArray[np.object_]
    tolerance: Array
    resolution: Array


def torn_outputs(directions: Array, estimate: Estimate) -> Flags:
    """Outputs (m,) whose slopes along different directions do not add up: they have no derivative, however smooth.

    The middle one of three equal numbers does not move along any coordinate, but does when all move.
    """
    alone = (directions != 0).sum(axis=1) == 1
    if alone.sum() != directions.shape[1] or alone.all():
        return np.zeros(estimate.value.shape[1], dtype=bool)
    along = directions[~alone] @ np.linalg.inv(directions[alone])
    doubt = np.abs(along) @ estimate.error[alone] + estimate.error[~alone] + 1e-6 * estimate.scale[~alone]
    return np.asarray((np.abs(along @ estimate.value[alone] - estimate.value[~alone]) > doubt).any(axis=0))


def judge(claimed: Array, estimate: Estimate, tolerance: Tolerance, kink: str | float | None = None) -> Judgement:
    """Compare claims (D, m) with a measurement; ``kink`` is the declared convention at non-smooth points.

    A claim passes if it lies within tolerance plus error bar and the bar is fine enough to mean something; it fails if
    it lies outside and the bar can tell. Everything else is undecided, with its cause.
    """
    allowed = tolerance.around(claimed) + estimate.rounding
    verdict, code = _smooth(claimed, estimate, tolerance, allowed)
    for decide in (_kink, _no_slope):
        verdict, code = decide(claimed, estimate, allowed, kink, verdict, code)
    with np.errstate(all="ignore"):
        size = np.maximum(np.maximum(np.nan_to_num(np.abs(estimate.value)), estimate.scale), np.finfo(float).tiny)
        size = np.where(claimed == 0, np.maximum(size, estimate.flat), size)
        resolution = (allowed + _bar(estimate, kink)) / size
    return Judgement(verdict, code, allowed, resolution)


def _bar(estimate: Estimate, kink: str | float | None) -> Array:
    """The error bar of what a claim was compared with: a difference, a one-sided slope, or a given number."""
    no_slope = np.isin(estimate.shape, [_SHAPES.index(shape) for shape in (*NO_SLOPE, Shape.KINK)])
    given = no_slope & isinstance(kink, (int, float))
    side = (estimate.shape == _SHAPES.index(Shape.KINK)) & (kink is not None)
    return np.where(given, 0.0, np.where(side, estimate.side_error, estimate.error))


Answer = tuple[NDArray[np.object_], NDArray[np.object_]]


def _smooth(claimed: Array, estimate: Estimate, tolerance: Tolerance, allowed: Array) -> Answer:
    with np.errstate(all="ignore"):
        gap = np.abs(claimed - estimate.value)
        size = np.maximum(np.abs(estimate.value), estimate.scale)
        blind = _blind(claimed, estimate, tolerance)
        agrees = estimate.accepted & (gap <= allowed + estimate.error)
        fine = estimate.error <= np.maximum(10 * tolerance.around(claimed), 1e-5 * np.abs(estimate.value))
        # A bar as large as the value carries no accusation; under measured noise a bar is luck: it takes ten to accuse.
        far = gap > 10 * estimate.error
        sure = (fine & ((estimate.noise == 0) | far)) | (far & (estimate.error <= 0.01 * size))
        # Where scales disagree, what disturbs the fine steps disturbs the large ones too, by an unknown part of it.
        elsewhere = np.abs(claimed - estimate.coarse) <= allowed + 100 * estimate.coarse_error  # disturbed too
    cause = np.where(estimate.quantised, "GRD406", np.where(estimate.noise > 0, "GRD405", "GRD409"))
    differs = estimate.accepted & ~agrees
    hollow = np.isfinite(estimate.coarse) & ~elsewhere & (np.abs(estimate.value) <= estimate.error)
    return _table(gap.shape, [
        (agrees & hollow, Verdict.UNDECIDED, "GRD407"),  # a 0 of steps too fine to move anything, no larger one's
        (agrees & ~blind, Verdict.PASS, ""),
        (agrees | ~estimate.accepted, Verdict.UNDECIDED, cause),
        (differs & elsewhere, Verdict.UNDECIDED, "GRD407"),
        (differs & (np.abs(claimed) < estimate.swallowed), Verdict.UNDECIDED, cause),
        (differs & sure, Verdict.FAIL, ""),
        (differs, Verdict.UNDECIDED, cause),
    ])  # fmt: skip


def _kink(
    claimed: Array, estimate: Estimate, allowed: Array, kink: str | float | None, verdict: Any, code: Any
) -> Answer:
    with np.errstate(all="ignore"):
        slack = allowed + estimate.side_error + 1e-6 * np.abs(estimate.right - estimate.left)
        low, high = np.minimum(estimate.left, estimate.right), np.maximum(estimate.left, estimate.right)
        inside = (claimed >= low - slack) & (claimed <= high + slack)
        kept = inside if kink is None else np.abs(claimed - _convention(kink, claimed, estimate, low, high)) <= slack
    here = estimate.shape == _SHAPES.index(Shape.KINK)
    good = Verdict.UNDECIDED if kink is None else Verdict.PASS
    return (
        np.where(here, np.where(kept, good, Verdict.FAIL), verdict),
        np.where(here, np.where(kept & (kink is None), "GRD401", ""), code),
    )


def _convention(kink: str | float, claimed: Array, estimate: Estimate, low: Array, high: Array) -> Array:
    """The slope that a declared convention asks for at a kink."""
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


NO_SLOPE = {Shape.JUMP: "GRD402", Shape.CUSP: "GRD403", Shape.VERTICAL: "GRD404"}


def _no_slope(
    claimed: Array, estimate: Estimate, allowed: Array, kink: str | float | None, verdict: Any, code: Any
) -> Answer:
    """No derivative exists at a jump, a cusp or a vertical tangent; at an edge only what the inner side resolves."""
    edge = (estimate.shape == _SHAPES.index(Shape.EDGE)) & (verdict == Verdict.UNDECIDED)
    code = np.where(edge, "GRD408", code)
    for shape, name in NO_SLOPE.items():
        here = estimate.shape == _SHAPES.index(shape)
        verdict, code = np.where(here, Verdict.UNDECIDED, verdict), np.where(here, name, code)
    if isinstance(kink, str) or kink is None:
        return verdict, code
    # A number is a convention for every point without a slope; only a jump has none that could be meant.
    kept = np.where(np.abs(claimed - float(kink)) <= allowed, Verdict.PASS, Verdict.FAIL)
    agreed = np.isin(code, ("GRD403", "GRD404", "GRD408"))
    return np.where(agreed, kept, verdict), np.where(agreed, "", code)


_SHAPES = list(Shape)


def shape_number(shape: Shape) -> int:
    """The small integer by which ``Estimate.shape`` holds a shape."""
    return _SHAPES.index(shape)


def shape_of(estimate: Estimate, place: tuple[int, int]) -> Shape:
    """What the function looks like at one element."""
    return _SHAPES[int(estimate.shape[place])]


def _table(shape: tuple[int, ...], rows: list[tuple[Flags, Verdict, Any]]) -> Answer:
    """The first row whose condition holds, element by element."""
    verdict = np.full(shape, Verdict.UNDECIDED, dtype=object)
    code = np.full(shape, "GRD409", dtype=object)
    open_ = np.ones(shape, dtype=bool)
    for holds, answer, cause in rows:
        now = open_ & holds
        verdict, code = np.where(now, answer, verdict), np.where(now, cause, code)
        open_ &= ~holds
    return verdict, code
