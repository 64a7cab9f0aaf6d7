"""What a comparison of many elements says: which of them, in which words, and how many others there are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from gradhook.comparison.compare import SHOWN, compare_mode
from gradhook.comparison.judge import Measurement, Tolerance
from gradhook.comparison.probe import (
    ComplexStep,
    ContinuedIteration,
    CustomRuleUse,
    DerivativeComparison,
    DerivativeError,
    Downcast,
    Label,
)
from gradhook.model.results import Outcome, Smoothness, Verdict

EMPTY = np.zeros((0, 0))


@dataclass
class FakeProbe:
    """A probe of which only the settings are asked."""

    modes: Any = None
    kink: Any = None
    case: str = "batch"
    order: int = 1
    tolerance: Tolerance = field(default_factory=Tolerance)
    narrow: dict[tuple[str, str], list[Downcast]] = field(default_factory=dict)
    iterating: Any = 0.0
    on: ContinuedIteration | None = None
    rounded: float = 0.0
    proven: Any = False
    second: ComplexStep | None = None
    lost: float = 0.0
    rules: tuple[CustomRuleUse, ...] = ()

    def downcasts(self, path: Any, input: Label, output: Label) -> list[Downcast]:
        return self.narrow.get((input.leaf, output.leaf), [])

    def iteration_error(self, comparison: DerivativeComparison, mode: Any) -> Any:
        return np.asarray(self.iterating)

    def continued_iteration(self, path: Any, mode: Any) -> ContinuedIteration | None:
        return self.on

    def constants(self) -> tuple[tuple[str, int], ...]:
        return ()

    def rounding_sensitivity(self, path: Any, mode: str) -> Any:
        return np.zeros(1)

    def rounding(self, path: Any, mode: str) -> Any:
        return self.rounded

    def roundoff(self, path: Any, mode: str) -> Any:
        return self.lost

    def unaffected_by_nan(self, path: Any, mode: str) -> Any:
        return np.zeros((1, 1), dtype=bool)

    def independent(self, path: Any, mode: str) -> Any:
        return np.asarray(self.proven)

    def witness(self, path: Any, mode: str) -> ComplexStep | None:
        return self.second

    def rules_in_use(self) -> tuple[CustomRuleUse, ...]:
        return self.rules

    def plots(self) -> None:
        return None

    def locate(self, mode: str, row: int, column: int) -> None:
        return None


def _estimate(value: Any, **said: Any) -> Measurement:
    value = np.atleast_2d(np.asarray(value, dtype=float))
    fill = {
        "error": 2e-11, "accepted": True, "smoothness": np.int8(0), "left": 0.0, "right": 0.0, "left_error": 1e-9,
        "right_error": 1e-9, "coarse": np.nan, "coarse_error": np.nan, "noise": 0.0, "surroundings": 1.0,
        "steepest": 1.0, "level": 0.0,
        "motionless": False,
        **said,
    }  # fmt: skip
    arrays = {name: np.broadcast_to(given, value.shape) for name, given in fill.items()}
    return Measurement(value=value, centre=np.ones(value.shape[1]), **arrays)


def _comparison(claims: dict[str, Any], measured: Measurement, **said: Any) -> DerivativeComparison:
    rows, columns = measured.value.shape
    parts: dict[str, Any] = {
        "path": (), "seeds": (), "directions": np.eye(rows), "weights": EMPTY,
        "input_labels": tuple(Label("delta", (k,)) for k in range(rows)),
        "output_labels": tuple(Label("out", (k,) if columns > 1 else ()) for k in range(columns)), **said,
    }  # fmt: skip
    arrays = {
        m: c if isinstance(c, DerivativeError) else np.atleast_2d(np.asarray(c, dtype=float)) for m, c in claims.items()
    }
    return DerivativeComparison(measured=measured, autodiff=arrays, **parts)


def _compare(claim: Any, measured: Any, mode: str = "rev", probe: Any = None, **said: Any) -> Outcome:
    estimate = measured if isinstance(measured, Measurement) else _estimate(measured)
    return compare_mode(_comparison({mode: claim}, estimate, **said), mode, probe or FakeProbe(), "GRD102")


def test_the_message_names_the_place_and_both_numbers() -> None:
    outcome = _compare([[1.0], [1.0], [1.0], [-0.5]], [[1.0], [1.0], [1.0], [0.5]])
    (finding,) = outcome.findings
    assert finding.message == (
        "d out / d delta[3]: JAX gives -0.5 (grad), finite differences give 0.5 ± 2e-11: the sign is wrong"
    )
    assert (outcome.verdict, finding.code, finding.verdict) == (Verdict.FAIL, "GRD102", Verdict.FAIL)
    assert (finding.case, finding.mode, finding.order, finding.leaf, finding.index, finding.output) == (
        "batch", "rev", 1, "delta", (3,), "out",
    )  # fmt: skip
    assert (finding.claimed, finding.measured, finding.error) == (-0.5, 0.5, 2e-11)
    assert finding.tolerance == pytest.approx(1e-10) and finding.resolution == pytest.approx(2.4e-10)
    assert "check the rule for this argument" in finding.help


def test_a_pass_has_no_finding_but_the_coarsest_resolution() -> None:
    outcome = _compare([[1.0, 2.0]], _estimate([[1.0, 2.0]], error=[[1e-12, 1e-9]], surroundings=[[1.0, 1.0]]))
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())
    assert outcome.resolution == pytest.approx((4e-10 + 1e-9) / 2)


def test_a_millionth_can_be_told_from_the_numbers() -> None:
    (finding,) = _compare([[1.000001]], [[1.0]]).findings
    assert "JAX gives 1.000001 (grad)" in finding.message and "differences give 1 ±" in finding.message


@pytest.mark.parametrize("wrong, words", [(1, ""), (2, " (and 1 more element)"), (5, " (and 4 more elements)")])
def test_others_of_the_same_leaf_are_counted(wrong: int, words: str) -> None:
    (finding,) = _compare([[2.3]] * wrong + [[1.0]], [[1.0]] * (wrong + 1)).findings
    assert finding.message.endswith("give 1 ± 2e-11" + words)


def test_the_worst_element_speaks_for_its_leaf() -> None:
    (finding,) = _compare([[1.1], [3.0], [1.5]], [[1.0]] * 3).findings
    assert finding.index == (1,)


def test_the_worst_leaf_comes_first_and_only_some_are_shown() -> None:
    labels = tuple(Label(f"leaf{k}") for k in range(7))
    outcome = _compare([[1 + (k % 4 + 1) / 10] for k in range(7)], [[1.0]] * 7, input_labels=labels)
    gaps = [abs(f.claimed - f.measured) for f in outcome.findings]  # type: ignore[operator]
    assert len(gaps) == SHOWN
    assert gaps == sorted(gaps, reverse=True) and outcome.findings[0].leaf == "leaf3"


def test_outputs_are_leaves_as_well() -> None:
    labels = (Label("out['loss']"), Label("out['aux']", (0,)), Label("out['aux']", (1,)))
    outcome = _compare([[2.0, 2.0, 3.0]], [[1.0, 1.0, 1.0]], output_labels=labels)
    assert [(f.output, f.message.endswith("(and 1 more element)")) for f in outcome.findings] == [
        ("out['aux'][1]", True),
        ("out['loss']", False),
    ]


def test_a_direction_that_moves_everything_speaks_only_if_no_coordinate_does() -> None:
    labels = (Label("x", (0,)), Label("direction", (0,)))
    assert [f.leaf for f in _compare([[2.0], [5.0]], [[1.0], [1.0]], input_labels=labels).findings] == ["x"]
    (alone,) = _compare([[1.0], [5.0]], [[1.0], [1.0]], input_labels=labels).findings
    assert alone.leaf == "direction" and "along a random direction" in alone.message


def test_failures_and_undecided_elements_are_both_shown() -> None:
    measured = _estimate([[1.0], [1.0]], error=[[1e-12], [1e-2]])
    outcome = _compare([[2.0], [1.0]], measured)
    assert outcome.verdict is Verdict.FAIL
    assert [(f.verdict, f.code) for f in outcome.findings] == [
        (Verdict.FAIL, "GRD102"),
        (Verdict.UNDECIDED, "GRD409"),
    ]


def test_what_is_undefined_is_left_out() -> None:
    measured = replace(_estimate([[np.nan, 1.0]]), centre=np.array([np.nan, 1.0]))
    assert _compare([[np.nan, 1.0]], measured).verdict is Verdict.PASS
    assert _compare([[7.0, 2.0]], measured).findings[0].output == "out[1]"


def test_a_claim_that_is_not_finite_is_another_question() -> None:
    assert _compare([[np.nan, 1.0]], [[1.0, 1.0]]).verdict is Verdict.PASS
    outcome = _compare([[np.nan, np.inf]], [[1.0, 1.0]])
    assert outcome.verdict is Verdict.SKIP and outcome.note


@pytest.mark.parametrize(
    "said, code, words",
    [
        (
            {"smoothness": np.int8(list(Smoothness).index(Smoothness.KINK)), "left": -1.0, "right": 3.0},
            "GRD401",
            ["kink", "-1 and 3"],
        ),
        ({"smoothness": np.int8(list(Smoothness).index(Smoothness.JUMP))}, "GRD402", ["jump"]),
        ({"smoothness": np.int8(list(Smoothness).index(Smoothness.CUSP))}, "GRD403", ["cusp"]),
        ({"smoothness": np.int8(list(Smoothness).index(Smoothness.VERTICAL))}, "GRD404", ["vertical tangent"]),
        ({"error": 1e-3, "noise": 1e-6}, "GRD405", ["noise", "1e-06", "± 0.001"]),
        ({"value": -5.5, "coarse": 1.0, "coarse_error": 1e-6}, "GRD407", ["scale", "-5.5 ±", "1 ± 1e-06"]),
        (
            {"smoothness": np.int8(list(Smoothness).index(Smoothness.EDGE)), "accepted": False, "error": np.inf},
            "GRD408",
            ["edge of the domain"],
        ),
        ({"error": 1e-3}, "GRD409", ["± 0.001", "too coarse"]),
    ],
)
def test_every_undecided_cause_has_its_words_and_a_remedy(said: dict[str, Any], code: str, words: list[str]) -> None:
    value = said.pop("value", 1.0)
    outcome = _compare([[1.0]], _estimate([[value]], **said))
    (finding,) = outcome.findings
    assert (outcome.verdict, finding.verdict, finding.code) == (Verdict.UNDECIDED, Verdict.UNDECIDED, code)
    assert "d out / d delta[0]: JAX gives 1 (grad)" in finding.message
    assert all(word in finding.message for word in words)
    assert finding.help


@pytest.mark.parametrize("said", [{"error": 1e-3}, {"error": 1e-3, "noise": 1e-6}])
def test_a_cast_in_the_function_explains_what_differences_cannot(said: dict[str, Any]) -> None:
    probe = FakeProbe(narrow={("delta", "out"): [("a cast to float32", "/project/losses.py", 12)]})
    (finding,) = _compare([[1.0]], _estimate([[1.0]], **said), probe=probe).findings
    assert (finding.code, finding.path, finding.line) == ("GRD406", "/project/losses.py", 12)
    assert "a cast to float32" in finding.message


@pytest.mark.parametrize(
    "said, code",
    [({"error": 1e-3}, "GRD409"), ({"error": 1e-3, "noise": 1e-6}, "GRD405")],
)
def test_a_cast_on_the_way_of_other_elements_explains_nothing(said: dict[str, Any], code: str) -> None:
    probe = FakeProbe(narrow={("other", "out"): [("a cast to float32", "/project/losses.py", 12)]})
    (finding,) = _compare([[1.0]], _estimate([[1.0]], **said), probe=probe).findings
    assert (finding.code, finding.path) == (code, None)


@pytest.mark.parametrize("kink, words", [("mean", "kink='mean'"), ("left", "kink='left'"), (0.5, "kink=0.5")])
def test_a_declared_convention_that_is_not_kept(kink: Any, words: str) -> None:
    bent = _estimate([[1.0]], smoothness=np.int8(list(Smoothness).index(Smoothness.KINK)), left=-1.0, right=3.0)
    (finding,) = _compare([[3.0]], bent, probe=FakeProbe(kink=kink)).findings
    assert (finding.verdict, finding.code) == (Verdict.FAIL, "GRD102")
    assert "slopes on its two sides are -1 and 3" in finding.message and words in finding.message


def test_a_convention_is_for_coordinates() -> None:
    """Along a direction that also moves backwards, left and right are not those of the coordinates."""
    bent = _estimate(
        [[1.0], [0.0]],
        smoothness=np.int8(list(Smoothness).index(Smoothness.KINK)),
        left=[[-1.0], [-1.25]],
        right=[[1.0], [1.25]],
    )
    labels = (Label("x"), Label("direction", (0,)))
    outcome = _compare([[1.0], [-1.25]], bent, probe=FakeProbe(kink="right"), input_labels=labels)
    assert outcome.verdict is Verdict.PASS


MISSING = DerivativeError(True, "a while_loop has no reverse rule")
BROKEN = DerivativeError(False, "KeyError: forgotten", "/project/rules.py", 7)


def test_a_mode_that_does_not_exist_is_skipped_with_the_reason() -> None:
    outcome = _compare(MISSING, [[1.0]])
    assert (outcome.verdict, outcome.findings) == (Verdict.SKIP, ())
    assert outcome.note == "reverse mode: a while_loop has no reverse rule"


def test_a_mode_that_was_asked_for_must_exist() -> None:
    (finding,) = _compare(MISSING, [[1.0]], probe=FakeProbe(modes=("rev",))).findings
    assert finding.verdict is Verdict.FAIL
    assert finding.message == "reverse mode was claimed, but a while_loop has no reverse rule"


@pytest.mark.parametrize("modes", [None, ("rev",)])
def test_a_rule_that_raises_fails_at_its_place(modes: Any) -> None:
    (finding,) = _compare(BROKEN, [[1.0]], probe=FakeProbe(modes=modes)).findings
    assert finding.message == "reverse mode raises KeyError: forgotten"
    assert (finding.path, finding.line) == ("/project/rules.py", 7)


def test_combinations_of_many_outputs() -> None:
    measured = _estimate([[1.0, 1.0, 4.0, 5.0]])
    parts = {"weights": np.ones((2, 2)), "output_labels": (Label("out", (0,)), Label("out", (1,)))}
    (finding,) = _compare([[4.0, 6.0]], measured, **parts).findings
    assert (finding.output, finding.measured) == ("combination[1]", 5.0)
    assert _compare([[1.0, 1.0]], measured, mode="fwd", **parts).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "path, mode, words",
    [
        (("rev",), "fwd", "jvp of grad"),
        (("rev",), "rev", "grad of grad"),
        (("fwd",), "rev", "grad of jvp"),
        (("fwd", "rev"), "fwd", "jvp of grad of jvp"),
    ],
)
def test_higher_orders_are_named_by_their_composition(path: tuple[str, ...], mode: str, words: str) -> None:
    (finding,) = _compare([[2.0]], [[1.0]], mode=mode, path=path).findings
    assert f": JAX gives 2 ({words})" in finding.message
    assert finding.order == len(path) + 1
    assert "differentiating it once more" in finding.help


@pytest.mark.parametrize(
    "gap, said, verdict",
    [
        (4e-3, Tolerance(), Verdict.UNDECIDED),
        (6e-3, Tolerance(), Verdict.FAIL),
        (4e-3, Tolerance(rtol=1e-6), Verdict.FAIL),
        (4e-3, Tolerance(rtol=1e-2), Verdict.PASS),
    ],
)
def test_what_an_iteration_leaves_open_is_no_accusation(gap: float, said: Tolerance, verdict: Verdict) -> None:
    """Unless the author says which accuracy is meant."""
    outcome = _compare([[1.0 + gap]], [[1.0]], probe=FakeProbe(iterating=5e-3, tolerance=said))
    assert outcome.verdict is verdict
    told = any("an iteration that stops at a tolerance" in finding.message for finding in outcome.findings)
    assert told is (verdict is Verdict.UNDECIDED)


def test_an_iteration_excuses_only_what_comes_out_of_it() -> None:
    probe = FakeProbe(iterating=[[5e-3], [0.0]])
    labels = (Label("inside"), Label("outside"))
    outcome = _compare([[1.001], [1.001]], [[1.0], [1.0]], probe=probe, input_labels=labels)
    assert [(f.leaf, f.verdict) for f in outcome.findings] == [
        ("outside", Verdict.FAIL),
        ("inside", Verdict.UNDECIDED),
    ]


def test_an_iteration_excuses_a_part_of_the_element_itself() -> None:
    """Not of the larger derivatives beside it."""
    large_neighbour = _estimate([[1e-3]], error=1e-15, surroundings=1.0)
    assert _compare([[2e-3]], large_neighbour, probe=FakeProbe(iterating=5e-3)).verdict is Verdict.FAIL


def test_without_an_iteration_a_small_gap_is_one() -> None:
    assert _compare([[1.0 + 4e-7]], [[1.0]]).verdict is Verdict.FAIL


STILL = {"error": np.inf, "accepted": False, "surroundings": 0.0, "steepest": 0.0, "level": 0.0, "motionless": True}


@pytest.mark.parametrize("claim, verdict", [(0.0, Verdict.PASS), (1.0, Verdict.FAIL), (1e-300, Verdict.FAIL)])
def test_a_proof_decides_what_never_moves(claim: float, verdict: Verdict) -> None:
    still = _estimate([[0.0]], **STILL)
    assert [f.code for f in _compare([[claim]], still).findings] == ["GRD409"]
    outcome = _compare([[claim]], still, probe=FakeProbe(proven=[[True]]))
    assert outcome.verdict is verdict
    assert all("does not depend on it, so the derivative is exactly 0" in f.message for f in outcome.findings)


def test_a_proof_is_asked_of_what_never_moves_alone() -> None:
    assert _compare([[0.0]], [[1.0]], probe=FakeProbe(proven=[[True]])).verdict is Verdict.FAIL


def _second(value: float, error: float = 1e-16) -> FakeProbe:
    return FakeProbe(second=ComplexStep(np.array([[value]]), np.array([[error]])))


BLURRED = {"error": 1e-3, "noise": 1e-6}


@pytest.mark.parametrize(
    "said, claim, second, verdict, code",
    [
        ({**STILL, "surroundings": 1.0}, 0.0, 0.0, Verdict.PASS, ""),
        (STILL, 0.0, 0.0, Verdict.UNDECIDED, "GRD405"),
        (STILL, 1.0, 0.0, Verdict.FAIL, "GRD102"),
        (STILL, 0.0, np.nan, Verdict.UNDECIDED, "GRD409"),
        (BLURRED, 1.0, 1.0, Verdict.PASS, ""),
        (BLURRED, 1 + 1e-6, 1.0, Verdict.FAIL, "GRD102"),
        (BLURRED, 1.0, np.nan, Verdict.UNDECIDED, "GRD405"),
        ({}, 1 + 1e-9, 1.0, Verdict.FAIL, "GRD102"),
        ({}, 1 + 1e-9, 1 + 1e-9, Verdict.UNDECIDED, "GRD407"),
        (BLURRED, 2.0, 2.0, Verdict.UNDECIDED, "GRD407"),
    ],
)
def test_the_complex_step_settles_what_differences_leave_open_or_accuse(
    said: dict[str, Any], claim: float, second: float, verdict: Verdict, code: str
) -> None:
    """Where both speak they must agree; else nothing is decided."""
    value = 0.0 if said is STILL else 1.0
    outcome = _compare([[claim]], _estimate([[value]], **said), probe=_second(second))
    assert (outcome.verdict, "".join(f.code for f in outcome.findings)) == (verdict, code)


def test_what_differences_resolve_is_not_asked_again() -> None:
    assert _compare([[1.0]], [[1.0]], probe=_second(5.0)).verdict is Verdict.PASS


def test_the_message_of_a_conflict_shows_both_numbers() -> None:
    (finding,) = _compare([[1.5]], [[1.0]], probe=_second(1.5)).findings
    assert "finite differences give 1 ±" in finding.message and "the complex step gives 1.5 ±" in finding.message


def test_a_failure_by_the_complex_step_names_it() -> None:
    (finding,) = _compare([[1.001]], _estimate([[1.0]], **BLURRED), probe=_second(1.0)).findings
    assert "the complex step gives 1 ± 4e-16" in finding.message and finding.measured == 1.0


def test_a_derivative_that_is_all_roundoff_is_not_decided_by_the_complex_step() -> None:
    (finding,) = _compare([[1.0]], _estimate([[1.0]], **BLURRED), probe=_second(1.0, 1e-4)).findings
    assert (finding.verdict, finding.code) == (Verdict.UNDECIDED, "GRD405")


KINKED = {"smoothness": np.int8(list(Smoothness).index(Smoothness.KINK)), "left": 0.0, "right": 1.0}


@pytest.mark.parametrize("claim, verdict", [(0.0, Verdict.PASS), (1.0, Verdict.FAIL)])
def test_a_bend_seen_above_a_plateau_alone_is_decided_by_the_equations(claim: float, verdict: Verdict) -> None:
    """It may lie anywhere inside the plateau; a bend that every step sees lies at the point."""
    beside = _estimate([[0.5]], **KINKED, noise=1e-6)
    outcome = _compare([[claim]], beside, probe=_second(0.0))
    assert outcome.verdict is verdict
    assert all("the complex step gives 0 ±" in f.message and "kink" not in f.message for f in outcome.findings)
    (finding,) = _compare([[claim]], _estimate([[0.5]], **KINKED), probe=_second(0.0)).findings
    assert finding.code == "GRD401"


@pytest.mark.parametrize(
    "second, verdict", [(1e25, Verdict.PASS), (1.0, Verdict.UNDECIDED), (np.nan, Verdict.UNDECIDED)]
)
def test_a_jump_on_every_step_is_none_where_the_function_is_that_steep(second: float, verdict: Verdict) -> None:
    jump = _estimate(
        [[1e16]], smoothness=np.int8(list(Smoothness).index(Smoothness.JUMP)), accepted=False, steepest=1e16
    )
    assert _compare([[second if second > 1 else 1e25]], jump, probe=_second(second)).verdict is verdict


def test_what_the_derivative_loses_by_rounding_is_allowed_and_told() -> None:
    assert _compare([[1 + 1e-9]], [[1.0]]).verdict is Verdict.FAIL
    outcome = _compare([[1 + 1e-9]], [[1.0]], probe=FakeProbe(rounded=1e-8))
    assert outcome.verdict is Verdict.PASS
    assert outcome.resolution == pytest.approx(1.022e-8, rel=1e-3)


@pytest.mark.parametrize("lost, verdict", [(1e-6, Verdict.UNDECIDED), (1e-8, Verdict.FAIL)])
def test_a_failure_by_less_than_the_derivative_s_own_roundoff_is_none(lost: float, verdict: Verdict) -> None:
    (finding,) = _compare([[1 + 3e-6]], [[1.0]], probe=FakeProbe(lost=lost)).findings
    assert (finding.verdict, finding.code) == (verdict, "GRD405" if verdict is Verdict.UNDECIDED else "GRD102")
