"""Compare claims with measurements, and choose which elements a report shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradhook.comparison.adjustments import adjust_judgement, judge_by_differences
from gradhook.comparison.cause import why
from gradhook.comparison.fault import Numbers, fault
from gradhook.comparison.judge import (
    DIFFERENCES,
    TINY,
    Array,
    Flags,
    Judgement,
    Measurement,
    smoothness_of,
)
from gradhook.comparison.messages import SOLVED, ComparedElement, declared_kink, located, mode_name, solver_help, text
from gradhook.comparison.probe import (
    BALANCED,
    CustomRuleUse,
    DerivativeComparison,
    DerivativeError,
    Label,
    PlotSource,
    Probe,
)
from gradhook.model.results import Finding, LeafResolution, Mode, Outcome, Smoothness, Verdict, worst

SHOWN = 4
"""Findings for one comparison: the worst element of so many pairs of leaves; the rest are counted."""


@dataclass(frozen=True)
class ModeComparison:
    """One mode's claims beside the measurement of the same numbers, all of shape (D, columns)."""

    comparison: DerivativeComparison
    mode: Mode
    claimed: Array
    measured: Measurement
    judgement: Judgement
    relevant: Flags

    def output(self, column: int) -> Label:
        """The name of the output, or of the combination of outputs, in a column."""
        return self.comparison.column_labels(self.mode)[column]


def compare_mode(comparison: DerivativeComparison, mode: Mode, probe: Probe, code: str) -> Outcome:
    """Judge one mode of a comparison; values and claims that are not finite are left out (see GRD105)."""
    found = evaluate_mode(comparison, mode, probe)
    return (
        _fault(found, comparison, mode, probe, code)
        if isinstance(found, DerivativeError)
        else _outcome(found, probe, code)
    )


def evaluate_mode(comparison: DerivativeComparison, mode: Mode, probe: Probe) -> ModeComparison | DerivativeError:
    """One mode of a comparison with its judgement; or the reason why it has no derivative."""
    claim = comparison.autodiff[mode]
    if isinstance(claim, DerivativeError):
        return claim
    measured = comparison.measured_by(mode)
    defined = np.isfinite(measured.centre)[None, :] & np.isfinite(claim)
    return ModeComparison(comparison, mode, claim, measured, judge_claim(comparison, mode, claim, probe), defined)


def judge_claim(comparison: DerivativeComparison, mode: Mode, claim: Array, probe: Probe) -> Judgement:
    """The judgement of any claim about the numbers that a comparison measured for a mode."""
    by_differences = judge_by_differences(
        comparison, claim, comparison.measured_by(mode), probe, probe.rounding(comparison.path, mode)
    )
    return adjust_judgement(comparison, mode, claim, by_differences, probe)


def _fault(fault: DerivativeError, comparison: DerivativeComparison, mode: Mode, probe: Probe, code: str) -> Outcome:
    what = mode_name(comparison, mode)
    if fault.missing and probe.modes is None:
        return Outcome(code, Verdict.SKIP, probe.case, note=f"{what}: {fault.message}")
    message = f"{what} was claimed, but {fault.message}" if fault.missing else f"{what} raises {fault.message}"
    finding = Finding(
        code, Verdict.FAIL, message, case=probe.case, mode=mode, order=comparison.order,
        path=fault.path or None, line=fault.line or None, help=_remedy(fault),
    )  # fmt: skip
    return Outcome(code, Verdict.FAIL, probe.case, (finding,))


def _remedy(fault: DerivativeError) -> str:
    if fault.message.startswith(("ConcretizationTypeError", "TracerArrayConversionError", "TracerBoolConversionError")):
        return (
            "the function needs concrete numbers: write it with jax.numpy instead of math or numpy, where instead of if"
        )
    return ""


def _outcome(compared: ModeComparison, probe: Probe, code: str) -> Outcome:
    verdicts = compared.judgement.verdict
    if not compared.relevant.any():
        return Outcome(code, Verdict.SKIP, probe.case, note=_why_nothing(compared))
    wrong = compared.relevant & (verdicts == Verdict.FAIL)
    unsure = compared.relevant & (verdicts == Verdict.UNDECIDED) & ~_repeated(compared)
    findings = [
        *_shown(compared, wrong, Verdict.FAIL, probe, code),
        *_shown(compared, unsure, Verdict.UNDECIDED, probe, code),
    ]
    passed = compared.relevant & (verdicts == Verdict.PASS)
    resolution = float(np.max(compared.judgement.resolution[passed if passed.any() else compared.relevant]))
    verdict = worst([f.verdict for f in findings] or [Verdict.PASS])
    answer = Outcome(
        code, verdict, probe.case, tuple(findings), resolution, _held_constant(probe), leaves=_leaves(compared, passed)
    )
    return _pictured(answer, compared, passed, plots) if (plots := probe.plots()) else answer


def _leaves(compared: ModeComparison, passed: Flags) -> tuple[LeafResolution, ...]:
    """The coarsest resolution of each leaf that passed, and its witnesses."""
    labels, judged = compared.comparison.input_labels, compared.judgement
    found = []
    for leaf in dict.fromkeys(label.leaf for label in labels if not label.is_direction):
        mine = passed & np.array([label.leaf == leaf for label in labels])[:, None]
        if mine.any():
            witnesses = ", ".join(sorted(set(map(str, judged.witness[mine]))))
            found.append(LeafResolution(leaf, float(judged.resolution[mine].max()), witnesses))
    return tuple(found)


def _pictured(answer: Outcome, compared: ModeComparison, passed: Flags, plots: PlotSource) -> Outcome:
    """Add plot data: of a pass the worst resolved element, of others all first derivatives."""
    comparison, mode = compared.comparison, compared.mode
    if answer.verdict is Verdict.PASS and passed.any():
        coarse = np.where(passed, np.where(_repeated(compared), -1.0, compared.judgement.resolution), -2.0)
        row, column = np.unravel_index(int(np.argmax(coarse)), coarse.shape)
        return replace(answer, curve=plots.curve(comparison.path, mode, (int(row), int(column))))
    measurable = not comparison.path and any(f.code not in _NO_RESOLUTION for f in answer.findings)
    return replace(answer, jacobian=plots.jacobian(mode)) if measurable else answer


def _held_constant(probe: Probe) -> str:
    count = len(probe.constants())
    places = f"{count} place{'s' if count > 1 else ''}"
    return f"values under stop_gradient were held at the base point ({places})" if count else ""


def _why_nothing(compared: ModeComparison) -> str:
    if not np.isfinite(compared.measured.centre).any():
        return "the value is not finite here, so nothing could be compared"
    return "no claim is finite here (see GRD105), so nothing could be compared"


def _repeated(compared: ModeComparison) -> Flags:
    """Dense directions where every coordinate was followed too: they may accuse, but add no doubt."""
    everything = np.array([label.is_direction for label in compared.comparison.input_labels])
    balanced = np.array([label.part == BALANCED for label in compared.comparison.input_labels])
    return np.broadcast_to(((everything & ~everything.all()) | balanced)[:, None], compared.claimed.shape)


def _shown(compared: ModeComparison, where: Flags, verdict: Verdict, probe: Probe, code: str) -> list[Finding]:
    """The worst element of each pair of leaves, worst pair first, with a count of its other elements."""
    groups: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for d, o in zip(*np.nonzero(where), strict=True):
        groups.setdefault((compared.comparison.input_labels[d].leaf, compared.output(int(o)).leaf), []).append((d, o))
    # A direction that moves everything repeats what a single coordinate shows; it is shown only where none is.
    named = {pair: places for pair, places in groups.items() if pair[0] != "direction"} or groups
    gap = relative_gap(compared)
    ranked = sorted(named.values(), key=lambda places: -max(gap[p] for p in places))
    shown = [
        _finding(compared, max(places, key=lambda p: gap[p]), len(places), verdict, probe, code) for places in ranked
    ]
    return shown[:SHOWN]


def relative_gap(compared: ModeComparison) -> Array:
    """The distance of each claim from its reference, relative to the larger of the two."""
    reference = compared.judgement.reference
    with np.errstate(all="ignore"):
        gap = np.abs(compared.claimed - reference) / np.maximum(
            np.maximum(np.abs(reference), np.abs(compared.claimed)), TINY
        )
    return np.asarray(np.nan_to_num(gap, nan=np.inf))


def _finding(
    compared: ModeComparison, place: tuple[int, int], count: int, verdict: Verdict, probe: Probe, code: str
) -> Finding:
    cause, (what, path, line) = why(compared.comparison, compared.mode, compared.judgement, place, probe)
    cause = cause or code
    element = ComparedElement(
        compared.comparison, compared.mode, compared.claimed, compared.measured, compared.judgement, place,
        compared.comparison.input_labels[place[0]], compared.output(place[1]), what,
    )  # fmt: skip
    message, help = declared_kink(element, probe.kink) if _at_kink(compared, place, verdict) else text(cause, element)
    pattern = _pattern(compared, element) if verdict is Verdict.FAIL and not _at_kink(compared, place, verdict) else ""
    if verdict is Verdict.FAIL and (rule := _solver(compared, place, probe)):
        help = solver_help(rule)
    more = f" (and {count - 1} more element{'s' if count > 2 else ''})" if count > 1 else ""
    more += f": {pattern}" if pattern else ""
    if verdict is Verdict.FAIL and element.input.is_direction and not compared.comparison.path:
        found = probe.locate(compared.mode, *place)
        message, element = (
            (located(element, found), replace(element, input=found.input)) if found else (message, element)
        )
    return Finding(
        cause, verdict, message + more, case=probe.case, mode=compared.mode, order=compared.comparison.order,
        leaf=element.input.leaf, index=element.input.index, output=str(element.output),
        claimed=float(compared.claimed[place]), measured=element.reference, error=element.error,
        tolerance=float(compared.judgement.tolerance[place]),
        resolution=_seen(compared, place, cause),
        witness=str(compared.judgement.witness[place]), path=path or None, line=line or None, help=help,
        curve=plots.curve(compared.comparison.path, compared.mode, place) if (plots := probe.plots()) else None,
        fault=pattern or None,
    )  # fmt: skip


def _solver(compared: ModeComparison, place: tuple[int, int], probe: Probe) -> CustomRuleUse | None:
    """A rule over a loop that stops at a tolerance, if the claim is near enough for that to explain it."""
    rules = [rule for rule in probe.rules_in_use() if rule.iterates and not rule.of_jax]
    column = compared.judgement.reference[:, place[1]]
    near = np.abs(compared.claimed[place] - column[place[0]]) <= SOLVED * np.nanmax(np.abs(column))
    return rules[0] if rules and near else None


def _pattern(compared: ModeComparison, element: ComparedElement) -> str:
    """The pattern in the failing elements between two leaves, in words."""
    judgement, comparison = compared.judgement, compared.comparison
    wrong = compared.relevant & (judgement.verdict == Verdict.FAIL)
    numbers = Numbers(
        compared.claimed, judgement.reference, judgement.error + judgement.tolerance, wrong, comparison.input_labels,
        comparison.column_labels(compared.mode),
    )  # fmt: skip
    return fault(numbers, element.input.leaf, element.output.leaf)


def _at_kink(compared: ModeComparison, place: tuple[int, int], verdict: Verdict) -> bool:
    """Whether an element fails by the convention at a kink, not by the complex step."""
    by_slopes = compared.judgement.witness[place] == DIFFERENCES
    return verdict is Verdict.FAIL and by_slopes and smoothness_of(compared.measured, place) is Smoothness.KINK


_NO_RESOLUTION = ("GRD401", "GRD402", "GRD403", "GRD404", "GRD408")


def _seen(compared: ModeComparison, place: tuple[int, int], cause: str) -> float | None:
    """The smallest relative error that would have shown; None where there is no derivative."""
    resolution = float(compared.judgement.resolution[place])
    return resolution if cause not in _NO_RESOLUTION and np.isfinite(resolution) else None
