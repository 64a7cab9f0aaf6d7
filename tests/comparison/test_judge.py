"""What a claim, a measurement and a tolerance make together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradhook.comparison.judge import (
    DIFFERENCES,
    Measurement,
    Tolerance,
    disputed,
    judge,
    measured_columns,
    smoothness_of,
)
from gradhook.model.results import RTOL, Smoothness, Verdict

PASS, FAIL, UNDECIDED = Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED
SHAPES = list(Smoothness)
DEFAULTS: dict[str, Any] = {
    "value": 1.0, "error": 1e-12, "accepted": True, "smoothness": 0, "left": 1.0, "right": 1.0, "left_error": 1e-9,
    "right_error": 1e-9, "coarse": np.nan, "coarse_error": np.nan, "noise": 0.0, "surroundings": 1.0, "steepest": 1.0,
    "level": 0.0,
    "motionless": False,
}  # fmt: skip


def _estimate(**said: Any) -> Measurement:
    if isinstance(said.get("smoothness"), Smoothness):
        said["smoothness"] = SHAPES.index(said["smoothness"])
    arrays = {name: np.array([[value]]) for name, value in {**DEFAULTS, **said}.items()}
    return Measurement(**arrays, centre=np.array([1.0]))


def _judge(
    claim: float, kink: Any = None, tolerance: Tolerance | None = None, rounding: float = 0.0, **said: Any
) -> tuple[Any, str]:
    judged = judge(np.array([[claim]]), _estimate(**said), tolerance or Tolerance(), kink, rounding)
    return judged.verdict[0, 0], judged.code[0, 0]


BLURRED, NOISY = {"error": 1e-3}, {"error": 1e-3, "noise": 1e-6}
STILL = {"value": 0.0, "error": np.inf, "accepted": False, "surroundings": 0.0, "steepest": 0.0, "motionless": True}
RIPPLED = {"value": -5.5, "error": 1e-6, "coarse": 1.0, "coarse_error": 1e-6}


@pytest.mark.parametrize(
    "claim, said, verdict, code",
    [
        (1.0, {}, PASS, ""),
        (1 + 1e-10, {}, PASS, ""),
        (1 + 1e-9, {}, FAIL, ""),
        (1 - 1e-6, {}, FAIL, ""),
        (-1.0, {}, FAIL, ""),
        (0.0, {}, FAIL, ""),
        (1 + 1e-7, {"error": 2e-7}, PASS, ""),
        (1.0, BLURRED, UNDECIDED, "GRD409"),
        (1.0005, BLURRED, UNDECIDED, "GRD409"),
        (1.0005, NOISY, UNDECIDED, "GRD405"),
        (1.005, BLURRED, UNDECIDED, "GRD409"),
        (1.5, BLURRED, FAIL, ""),
        (1.5, NOISY, FAIL, ""),
        (1.5, {"error": 0.5}, UNDECIDED, "GRD409"),
        (99.0, {"error": 2.0}, UNDECIDED, "GRD409"),
        (1.0, {"accepted": False, "value": np.nan, "error": np.inf}, UNDECIDED, "GRD409"),
        (1.0, {"accepted": False, "noise": 1e-3}, UNDECIDED, "GRD405"),
        (1.0, RIPPLED, UNDECIDED, "GRD407"),
        (-5.5, RIPPLED, PASS, ""),
        (3.0, RIPPLED, FAIL, ""),
        (0.0, {"value": 0.0, "error": 1e-14}, PASS, ""),
        (1e-9, {"value": 0.0, "error": 1e-14}, FAIL, ""),
        (1 + 1e-9, {"rounding": 1e-8}, PASS, ""),
        (1e-9, {"value": 0.0, "error": 1e-14, "rounding": 1e-8}, FAIL, ""),
        (0.0, {"value": 0.0, "error": 1e-5, "surroundings": 1e3}, PASS, ""),
        (0.0, {"value": 0.0, "error": 1e-5, "surroundings": 1.0}, UNDECIDED, "GRD409"),
        (1e-4, {"value": 1e-4, "error": 1e-6, "surroundings": 1e10}, UNDECIDED, "GRD409"),
        (0.0, {"value": 1e-4, "error": 1e-8, "surroundings": 1e10}, FAIL, ""),
        (1e-4, {"value": 1e-4, "error": 1e-8, "noise": 1e-9}, UNDECIDED, "GRD405"),
        (1e300, {"value": 1e300, "error": 1e288}, PASS, ""),
        (1e-300, {"value": 1e-300, "error": 1e-312}, PASS, ""),
        (-1e-300, {"value": 1e-300, "error": 1e-312}, FAIL, ""),
        (0.0, STILL, UNDECIDED, "GRD409"),
        (1.0, STILL, UNDECIDED, "GRD409"),
        (1e-300, STILL, UNDECIDED, "GRD409"),
    ],
)
def test_smooth_points(claim: float, said: dict[str, Any], verdict: Verdict, code: str) -> None:
    assert _judge(claim, **said) == (verdict, code)


KINK = {"smoothness": Smoothness.KINK, "value": 1.0, "left": -1.0, "right": 3.0}


@pytest.mark.parametrize(
    "claim, kink, verdict, code",
    [
        (-1.0, None, UNDECIDED, "GRD401"),
        (1.0, None, UNDECIDED, "GRD401"),
        (3.0, None, UNDECIDED, "GRD401"),
        (3.1, None, FAIL, ""),
        (-1.1, None, FAIL, ""),
        (-1.0, "left", PASS, ""),
        (3.0, "left", FAIL, ""),
        (3.0, "right", PASS, ""),
        (-1.0, "right", FAIL, ""),
        (1.0, "mean", PASS, ""),
        (3.0, "mean", FAIL, ""),
        (-1.0, "subgradient", PASS, ""),
        (0.3, "subgradient", PASS, ""),
        (3.1, "subgradient", FAIL, ""),
        (0.0, 0, PASS, ""),
        (0.25, 0.25, PASS, ""),
        (0.0, 0.25, FAIL, ""),
    ],
)
def test_kinks(claim: float, kink: Any, verdict: Verdict, code: str) -> None:
    assert _judge(claim, kink, **KINK) == (verdict, code)


UNEQUAL = {"smoothness": Smoothness.KINK, "left": 1e-3, "right": 1e3, "left_error": 1e-12, "right_error": 1e-5}


@pytest.mark.parametrize(
    "claim, kink, verdict",
    [
        (1e-3, "left", PASS),
        (1.6e-3, "left", FAIL),
        (1e-3 * (1 + 1e-8), "left", FAIL),
        (1e3, "right", PASS),
        (1e3 + 1e-4, "right", FAIL),
        (1e-3, 1e-3, PASS),
        (1e-3 * (1 + 1e-8), 1e-3, FAIL),
        (500.0005, "mean", PASS),
        (500.0006, "mean", FAIL),
    ],
)
def test_each_side_of_a_kink_is_judged_by_its_own_slope(claim: float, kink: Any, verdict: Verdict) -> None:
    assert _judge(claim, kink, **UNEQUAL) == (verdict, "")


def test_a_side_that_is_too_uncertain_beside_its_slope_is_not_kept_for_certain() -> None:
    assert _judge(1e-3, "left", **{**UNEQUAL, "left_error": 1e-6}) == (UNDECIDED, "GRD401")


def test_the_resolution_at_a_kink_is_that_of_the_side_that_was_asked_for() -> None:
    judged = [judge(np.array([[c]]), _estimate(**UNEQUAL), Tolerance(), k) for c, k in ((1e-3, "left"), (1e3, "right"))]
    assert [j.resolution[0, 0] for j in judged] == pytest.approx([2e-10 + 1e-9, 2e-10 + 1e-8])
    given = judge(np.array([[1e-3]]), _estimate(**UNEQUAL), Tolerance(), 1e-3)
    assert given.resolution[0, 0] == pytest.approx(2e-10)


@pytest.mark.parametrize("kink", ["left", "right", "mean", "subgradient", 0.0])
def test_a_convention_says_nothing_where_the_function_is_smooth(kink: Any) -> None:
    assert _judge(1.0, kink) == (PASS, "")
    assert _judge(2.0, kink) == (FAIL, "")


@pytest.mark.parametrize(
    "shape, code",
    [(Smoothness.JUMP, "GRD402"), (Smoothness.CUSP, "GRD403"), (Smoothness.VERTICAL, "GRD404")],
)
@pytest.mark.parametrize("claim", [1.0, 7.0])
@pytest.mark.parametrize("kink", [None, "mean", "subgradient"])
def test_points_without_a_slope(shape: Smoothness, code: str, claim: float, kink: Any) -> None:
    assert _judge(claim, kink, smoothness=shape) == (UNDECIDED, code)


@pytest.mark.parametrize(
    "shape, claim, expected",
    [
        (Smoothness.CUSP, 0.0, (PASS, "")),
        (Smoothness.CUSP, 1.0, (FAIL, "")),
        (Smoothness.VERTICAL, 0.0, (PASS, "")),
        (Smoothness.JUMP, 0.0, (UNDECIDED, "GRD402")),
    ],
)
def test_a_number_is_a_convention_for_every_point_but_a_jump(shape: Smoothness, claim: float, expected: Any) -> None:
    assert _judge(claim, 0.0, smoothness=shape) == expected


def test_an_edge_of_the_domain() -> None:
    assert _judge(1.0, smoothness=Smoothness.EDGE) == (PASS, "")
    assert _judge(2.0, smoothness=Smoothness.EDGE) == (FAIL, "")
    assert _judge(1.0, smoothness=Smoothness.EDGE, accepted=False) == (UNDECIDED, "GRD408")


@pytest.mark.parametrize(
    "tolerance, claim, verdict",
    [
        (Tolerance(), 1 + 1e-7, FAIL),
        (Tolerance(rtol=1e-6), 1 + 1e-7, PASS),
        (Tolerance(atol=1e-6), 1 + 1e-7, PASS),
        (Tolerance(rtol=1e-6), 1 + 1e-5, FAIL),
        (Tolerance(atol=1e-6), 1 + 1e-5, FAIL),
        (Tolerance(rtol=0.0), 1 + 1e-15, PASS),
    ],
)
def test_tolerances(tolerance: Tolerance, claim: float, verdict: Verdict) -> None:
    assert _judge(claim, tolerance=tolerance) == (verdict, "")


def test_a_stated_tolerance_admits_a_wider_bar() -> None:
    assert _judge(1.0, **BLURRED)[0] == UNDECIDED
    assert _judge(1.0, tolerance=Tolerance(atol=1e-3), **BLURRED)[0] == PASS


def test_a_tolerance_is_for_one_element_whatever_the_size() -> None:
    many = _estimate()
    wide = Measurement(
        **{name: np.broadcast_to(getattr(many, name), (50, 40)) for name in DEFAULTS}, centre=np.ones(40)
    )
    claims = np.ones((50, 40))
    claims[17, 3] += 1e-6
    verdicts = judge(claims, wide, Tolerance()).verdict
    assert verdicts[17, 3] == FAIL and (verdicts == FAIL).sum() == 1


def test_what_was_allowed_and_what_would_have_been_seen() -> None:
    judged = judge(np.array([[2.0]]), _estimate(value=2.0, error=1e-9), Tolerance(1e-8, 1e-7), None, 1e-10)
    assert judged.tolerance[0, 0] == pytest.approx(1e-8 + 2e-7 + 1e-10)
    assert judged.resolution[0, 0] == pytest.approx((1e-8 + 2e-7 + 1e-10 + 1e-9) / 2)


def test_what_an_element_is_measured_by_is_its_own_size() -> None:
    """What else moves the value along the same line counts for a claim of 0 alone."""
    sizes = [
        judge(np.array([[claim]]), _estimate(value=value, error=1e-14, surroundings=50.0), Tolerance()).size[0, 0]
        for claim, value in ((2.0, 2.0), (0.0, 0.0), (0.0, 3.0), (1e-4, 3.0))
    ]
    assert sizes == [2.0, 50.0, 3.0, 3.0]


def test_differences_are_the_witness_and_the_reference() -> None:
    judged = judge(np.array([[1.0]]), _estimate(value=1.5, error=1e-9), Tolerance())
    assert (judged.witness[0, 0], judged.reference[0, 0], judged.error[0, 0]) == (DIFFERENCES, 1.5, 1e-9)


def test_nothing_accepted_would_have_seen_nothing() -> None:
    judged = judge(np.array([[1.0]]), _estimate(value=np.nan, error=np.inf, accepted=False), Tolerance())
    assert judged.resolution[0, 0] == np.inf


def test_no_error_below_the_resolution_fails_and_none_above_passes() -> None:
    estimate = _estimate(error=3e-9)
    resolution = judge(np.array([[1.0]]), estimate, Tolerance()).resolution[0, 0]
    for factor, verdict in ((0.99, PASS), (1.01, FAIL)):
        claim = np.array([[1 + factor * resolution]])
        assert (judge(claim, estimate, Tolerance()).verdict[0, 0] == FAIL) == (verdict == FAIL)


@pytest.mark.parametrize(
    "claim, said, expected",
    [(1.0, {}, False), (2.0, {}, True), (1.0, BLURRED, True), (1.0, {"accepted": False}, True), (np.nan, {}, True)],
)
def test_where_to_look_closer(claim: float, said: dict[str, Any], expected: bool) -> None:
    assert disputed(np.array([[claim]]), _estimate(**said), Tolerance())[0, 0] == expected


def test_columns_and_shapes() -> None:
    both = Measurement(
        **{name: np.array([[getattr(_estimate(), name)[0, 0]] * 2]) for name in DEFAULTS}, centre=np.array([4.0, 5.0])
    )
    assert measured_columns(both, slice(1, 2)).centre == [5.0]
    assert smoothness_of(_estimate(smoothness=Smoothness.CUSP), (0, 0)) is Smoothness.CUSP


def test_the_default_tolerance_is_fine() -> None:
    assert 1e-11 < RTOL <= 1e-9
