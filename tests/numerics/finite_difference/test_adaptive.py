"""What is measured at a point, and what the judge makes of it: functions that mislead plain differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.judge import Measurement, Tolerance, judge
from gradhook.model.results import Verdict
from gradhook.numerics.finite_difference.adaptive import POINTS, measure
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.finite_difference.scales import StepLimits

Measured = Callable[..., Measurement]
PASS, FAIL, UNDECIDED = Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED
KINK, JUMP, CUSP, UPRIGHT, GRAIN, RIPPLE = "GRD401", "GRD402", "GRD403", "GRD404", "GRD405", "GRD407"
NOISY, STILL = ("GRD405", "GRD407"), "GRD409"
PERIOD = 2 * np.pi * 2**20


def _single(x: Any) -> Any:
    return x.astype(jnp.float32)


def _ramp(x: Any) -> Any:
    return jnp.maximum(x, 0)


def _ramp_at_one(x: Any) -> Any:
    return jnp.maximum(x - 1.0, 0)


def _abs_at_one(x: Any) -> Any:
    return jnp.abs(x - 1.0)


def _clip(x: Any) -> Any:
    return jnp.clip(x, 0, 6)


def _folded(x: Any) -> Any:
    return jnp.abs(jnp.sin(x) - np.sin(0.7))


def _rippled(x: Any) -> Any:
    return jnp.sin(x) + 1e-8 * jnp.sin(1e9 * x + 3)


def _single_sine(x: Any) -> Any:
    return jnp.sin(_single(x)).astype(x.dtype)


def _rounded_sine(x: Any) -> Any:
    return _single(jnp.sin(x)).astype(x.dtype)


def _shifted(x: Any) -> Any:
    return jnp.sin(x) + 1e9


@dataclass(frozen=True)
class Point:
    """A claim about a function of one number, and the answer that it deserves."""

    about: str
    function: Callable[[Any], Any]
    x: float
    claim: float
    verdict: Verdict | tuple[Verdict, ...]
    codes: str | tuple[str, ...] = ""


COSINE = float(np.cos(0.7))
POINTS_OF_INTEREST = [
    Point("the slope of a sine", jnp.sin, 0.7, COSINE, PASS),
    Point("a millionth too steep", jnp.sin, 0.7, COSINE * (1 + 1e-6), FAIL),
    Point("uphill for downhill", jnp.sin, 0.7, -COSINE, FAIL),
    Point("a constant that is said to grow", lambda x: 0 * x + 3, 0.7, 1.0, UNDECIDED, STILL),
    Point("a constant", lambda x: 0 * x + 3, 0.7, 0.0, UNDECIDED, STILL),
    Point("abs at its kink, slope between the sides", jnp.abs, 0.0, 0.0, UNDECIDED, KINK),
    Point("abs at its kink, steeper than either side", jnp.abs, 0.0, 2.0, FAIL),
    Point("a ramp at its kink", _ramp, 0.0, 0.0, UNDECIDED, KINK),
    Point("a thousandth right of the kink", _ramp, 1e-3, 1.0, PASS),
    Point("a billionth right of the kink", _ramp, 1e-9, 1.0, PASS),
    Point("left of the kink, where nothing moves", _ramp, -1e-5, 0.0, UNDECIDED, KINK),
    Point("left of the kink, the slope of the other side", _ramp, -1e-5, 1.0, UNDECIDED, KINK),
    Point("left of the kink, steeper than either side", _ramp, -1e-5, 1.01, FAIL),
    Point("a kink at no round number", _folded, 0.7, COSINE, UNDECIDED, KINK),
    Point("inside a clip, a ten-millionth from its bound", _clip, 5.9999999, 1.0, PASS),
    Point("a clip at its bound, the mean slope", _clip, 6.0, 0.5, UNDECIDED, KINK),
    Point("rounding where it jumps", jnp.round, 2.5, 1.0, UNDECIDED, JUMP),
    Point("a floor where it jumps", jnp.floor, 3.0, 0.0, UNDECIDED, JUMP),
    Point("rounding between its jumps", jnp.round, 2.3, 0.0, UNDECIDED, GRAIN),
    Point("rounding that claims to be the identity", jnp.round, 2.3, 1.0, UNDECIDED, GRAIN),
    Point("the root of |x| at its cusp", lambda x: jnp.sqrt(jnp.abs(x)), 0.0, 0.0, UNDECIDED, CUSP),
    Point("a cubic root at its upright tangent", jnp.cbrt, 0.0, 1.0, UNDECIDED, UPRIGHT),
    Point("x|x|, smooth enough for one derivative", lambda x: x * jnp.abs(x), 0.0, 0.0, PASS),
    Point("a fine ripple, the slope under it", _rippled, 0.7, COSINE, UNDECIDED, NOISY),
    Point("a fine ripple, twice the slope under it", _rippled, 0.7, 2 * COSINE, FAIL),
    Point("single precision throughout", _single_sine, 0.7, COSINE, UNDECIDED, GRAIN),
    Point("single precision of the result alone", _rounded_sine, 0.7, COSINE, UNDECIDED, GRAIN),
    Point("single precision, a hundredth too steep", _single_sine, 0.7, 1.01 * COSINE, FAIL),
    Point("ten thousand radians to a unit", lambda x: jnp.sin(1e4 * x), 0.7, 1e4 * np.cos(1e4 * 0.7), PASS),
    Point("a million radians to a unit", lambda x: jnp.sin(1e6 * x), 0.7, 1e6 * np.cos(1e6 * 0.7), PASS),
    Point(
        "a period that is a power of two", lambda x: jnp.sin(PERIOD * x), 0.7, PERIOD * np.cos(PERIOD * 0.7), PASS
    ),
    Point("a logarithm close to its pole", jnp.log, 1e-5, 1e5, PASS),
    Point("a logarithm far out", jnp.log, 1e6, 1e-6, PASS),
    Point("an arcsine close to its edge", jnp.arcsin, 0.999999, 1 / np.sqrt(1 - (1 - 1e-6) ** 2), PASS),
    Point("a large constant added", _shifted, 0.7, COSINE, UNDECIDED, "GRD409"),
    Point("a large constant added, a hundredth too steep", _shifted, 0.7, 1.01 * COSINE, FAIL),
    Point("close to overflow", jnp.exp, 700.0, np.exp(700.0), PASS),
    Point("close to underflow", lambda x: 1e-200 * jnp.sin(x), 0.7, 1e-200 * COSINE, PASS),
    Point("a parabola a long way up", lambda x: x * x, 1e12, 2e12, PASS),
    Point("the tail of a softplus", lambda x: jnp.logaddexp(0, x), -40.0, np.exp(-40.0), PASS),
]  # fmt: skip
FURTHER_POINTS = [
    Point("a nanometre in metres", lambda x: jnp.tanh(x / 1e-9), 5e-10, 1e9 / np.cosh(0.5) ** 2, PASS),
    Point("a nanometre, flat by claim", lambda x: jnp.tanh(x / 1e-9), 5e-10, 0.0, (FAIL, UNDECIDED), ("", RIPPLE)),
    Point("a bell a picometre wide", lambda x: jnp.exp(-((x / 1e-12) ** 2)), 1e-12, -2e12 / np.e, PASS),
    Point("a hundred-millionth left of a steep ramp", lambda x: 1e8 * _ramp(x), -1e-8, 0.0, UNDECIDED, KINK),
    Point("a billionth from a jump", lambda x: jnp.floor(x + 1e-9), 3.0, 0.0, UNDECIDED, GRAIN),
    Point("a root at the edge of its domain", jnp.sqrt, 0.0, 1.0, (UNDECIDED, FAIL), ("", "GRD408", UPRIGHT)),
    Point("x to the 3/2 at its edge", lambda x: x * jnp.sqrt(x), 0.0, 0.0, (PASS, UNDECIDED), ("", "GRD408")),
    Point("an exponential at an edge", lambda x: jnp.where(x < 0, jnp.nan, jnp.exp(x)), 0.0, 1.0, PASS),
]  # fmt: skip


@pytest.mark.parametrize("point", [*POINTS_OF_INTEREST, *FURTHER_POINTS], ids=lambda point: point.about)
def test_verdicts(measured: Measured, point: Point) -> None:
    estimate = measured(point.function, point.x, point.claim)
    judged = judge(np.array([[point.claim]]), estimate, Tolerance())
    verdicts = point.verdict if isinstance(point.verdict, tuple) else (point.verdict,)
    codes = point.codes if isinstance(point.codes, tuple) else (point.codes,)
    assert judged.verdict[0, 0] in verdicts
    assert judged.code[0, 0] in codes


NAIVE: list[tuple[str, Callable[[Any], Any], float, float]] = [
    ("a binary cross entropy", lambda z: -jnp.log(1 - 1 / (1 + jnp.exp(-z))), -34.0, np.exp(-34.0)),
    ("a softplus", lambda x: jnp.log(1 + jnp.exp(x)), -32.0, np.exp(-32.0)),
    ("a sagitta", lambda d: jnp.sqrt(4.096e13 + d * d) - 6.4e6, 1.0, 1.5625e-7),
    ("a small root", lambda c: (-1e6 + jnp.sqrt(1e12 - 4 * c)) / 2, 1.0, -1e-6),
]


@pytest.mark.parametrize("claimed", [1.0, 0.0, -1.0])
@pytest.mark.parametrize("name, function, x, slope", NAIVE, ids=[row[0] for row in NAIVE])
def test_a_plateau_of_rounded_values_is_no_slope(
    measured: Measured, name: str, function: Callable[[Any], Any], x: float, slope: float, claimed: float
) -> None:
    """Cancellation leaves a few grains of the terms: neither the derivative nor a 0 can be told by differences."""
    estimate = measured(function, x, claimed * slope)
    judged = judge(np.array([[claimed * slope]]), estimate, Tolerance())
    assert (judged.verdict[0, 0], judged.code[0, 0]) == (UNDECIDED, GRAIN)
    assert abs(estimate.value[0, 0] - slope) <= estimate.error[0, 0]


CANCELLED: list[tuple[str, Callable[[Any], Any], float, float]] = [
    ("exp(x) - 1", lambda x: jnp.exp(x) - 1, 1e-8, np.exp(1e-8)),
    ("1 - cos(x)", lambda x: 1 - jnp.cos(x), 1e-4, np.sin(1e-4)),
]


@pytest.mark.parametrize("name, function, x, slope", CANCELLED, ids=[row[0] for row in CANCELLED])
def test_large_steps_see_beyond_the_grain(
    measured: Measured, name: str, function: Callable[[Any], Any], x: float, slope: float
) -> None:
    for claim, verdict in ((slope, PASS), (slope * (1 + 1e-3), FAIL)):
        assert judge(np.array([[claim]]), measured(function, x, claim), Tolerance()).verdict[0, 0] == verdict


@pytest.mark.parametrize("units", [0, 3, 30, 45, 60, 100, 200])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("function, left", [(_abs_at_one, -1.0), (_ramp_at_one, 0.0)], ids=["abs", "ramp"])
def test_a_kink_some_units_beside_the_point_is_one(
    measured: Measured, function: Callable[[Any], Any], left: float, side: int, units: int
) -> None:
    """No step is as small as its distance: neither the mean of both slopes nor one of them can be told."""
    x = 1.0 + side * units * 2.0**-52
    for claim in (-1.0, 0.0, 0.5, 1.0):
        inside = claim >= left
        judged = judge(np.array([[claim]]), measured(function, x, claim), Tolerance())
        told = (UNDECIDED, KINK) if inside else (FAIL, "")
        assert (judged.verdict[0, 0], judged.code[0, 0]) == told


def test_the_sides_of_a_kink_are_as_certain_as_each_allows(measured: Measured) -> None:
    """A gentle slope is not measured by what a steep one on the other side loses."""
    estimate = measured(lambda x: jnp.where(x <= 0, 1e-3 * x, 1e3 * x), 0.0, 1e-3)
    assert abs(estimate.left[0, 0] - 1e-3) <= estimate.left_error[0, 0] < 1e-12
    assert abs(estimate.right[0, 0] - 1e3) <= estimate.right_error[0, 0] < 1e-6


@pytest.mark.parametrize("back, ahead", [(0.0, np.inf), (np.inf, 0.0)])
def test_what_moves_on_one_side_only_moves(measured: Measured, back: float, ahead: float) -> None:
    assert not measured(jnp.exp, 0.0, 1.0, back=back, ahead=ahead).motionless[0, 0]


def test_an_element_is_measured_on_its_own_line(along_axis: Callable[..., StepLimits]) -> None:
    """A small slope beside a large one, in the same output: another direction lends it no size."""
    limits = StepLimits(*(np.repeat(part, 2) for part in along_axis(1.0).__dict__.values()))

    def evaluate(t: Array) -> Array:
        return np.stack([1e10 * (1 + t[0]) + 1e-4, 1e10 + 1e-4 * (1 + t[1])])[:, :, None]

    claims = np.array([[1e10], [0.0]])
    estimate = measure(evaluate, limits, [(slice(0, 1), claims)], Tolerance())
    judged = judge(claims, estimate, Tolerance())
    assert list(judged.verdict[:, 0]) == [PASS, UNDECIDED]
    assert estimate.surroundings[1, 0] <= 1e-4 and judged.size[0, 0] == 1e10


def test_the_one_sided_slopes_of_a_kink(measured: Measured) -> None:
    estimate = measured(lambda x: jnp.where(x > 0, 3 * x, -x), 0.0, 0.0)
    assert abs(estimate.left[0, 0] + 1) <= estimate.left_error[0, 0] < 1e-6
    assert abs(estimate.right[0, 0] - 3) <= estimate.right_error[0, 0] < 1e-6


def test_a_ripple_shows_both_slopes(measured: Measured) -> None:
    estimate = measured(_rippled, 0.7, COSINE)
    assert abs(estimate.value[0, 0] - (COSINE + 10 * np.cos(0.7e9 + 3))) < 1e-2
    assert abs(estimate.coarse[0, 0] - COSINE) <= estimate.coarse_error[0, 0]


@pytest.mark.parametrize("step", [1e-1, 1e-4])
def test_a_step_of_the_user_s_is_taken_as_it_is(measured: Measured, step: float) -> None:
    estimate = measured(jnp.exp, 0.5, 123.0, step)
    plain = (np.exp(0.5 + step) - np.exp(0.5 - step)) / (2 * step)
    assert estimate.value[0, 0] == pytest.approx(plain, rel=1e-15 / step)
    truncation = abs(plain - np.exp(0.5))
    assert truncation <= estimate.error[0, 0] <= 4 * truncation + 1e-14 / step


@dataclass
class Recorder:
    """A numpy function of one number on a line through ``x`` that remembers where it was evaluated."""

    function: Callable[[Any], Any]
    x: float

    def __post_init__(self) -> None:
        self.calls: list[Array] = []

    def __call__(self, t: Array) -> Array:
        self.calls.append(t)
        with np.errstate(all="ignore"):
            return np.asarray(self.function(self.x + t))[:, :, None]

    @property
    def points(self) -> Array:
        return self.x + np.concatenate([t.ravel() for t in self.calls])


def _measure(recorder: Recorder, line: StepLimits, claim: float) -> Measurement:
    return measure(recorder, line, [(slice(0, 1), np.array([[claim]]))], Tolerance())


def test_a_right_claim_costs_one_ladder(along_axis: Callable[..., StepLimits]) -> None:
    recorder = Recorder(np.sin, 0.7)
    _measure(recorder, along_axis(0.7), COSINE)
    assert [t.shape for t in recorder.calls] == [(1, POINTS)]


def test_all_that_follows_runs_the_same_program(along_axis: Callable[..., StepLimits]) -> None:
    recorder = Recorder(np.sin, 0.7)
    _measure(recorder, along_axis(0.7), 2.0)
    assert {t.shape for t in recorder.calls} == {(1, POINTS)}
    assert 3 <= len(recorder.calls) <= 8


@pytest.mark.parametrize("x, back, ahead", [(0.5, 0.5, np.inf), (0.5, 0.25, 0.125), (1e-3, 1e-3, 1.0), (0.0, 0.0, 2.0)])
@pytest.mark.parametrize("claim", ["right", "wrong"])
def test_no_evaluation_leaves_the_room(
    along_axis: Callable[..., StepLimits], x: float, back: float, ahead: float, claim: str
) -> None:
    recorder = Recorder(np.exp, x)
    estimate = _measure(recorder, along_axis(x, back, ahead), np.exp(x) * (1 if claim == "right" else 1.5))
    assert recorder.points.min() >= x - back and recorder.points.max() <= x + ahead
    assert abs(estimate.value[0, 0] - np.exp(x)) <= estimate.error[0, 0] < 1e-6


def test_columns_are_looked_at_more_closely_for_their_own_claims(along_axis: Callable[..., StepLimits]) -> None:
    def two(t: Array) -> Array:
        return np.stack([np.sin(0.7 + t), np.tanh((0.7 + t - 0.7) / 1e-9)], axis=-1)

    claims = [(slice(0, 1), np.array([[COSINE]])), (slice(1, 2), np.array([[1e9]]))]
    estimate = measure(two, along_axis(0.7), claims, Tolerance())
    assert (np.abs(estimate.value[0] - [COSINE, 1e9]) <= estimate.error[0]).all()
    assert estimate.error[0, 0] < 1e-11


def test_nothing_is_measured_where_the_value_is_undefined(along_axis: Callable[..., StepLimits]) -> None:
    estimate = _measure(Recorder(np.log, -1.0), along_axis(-1.0), 1.0)
    assert not np.isfinite(estimate.centre[0]) and not estimate.accepted[0, 0]
