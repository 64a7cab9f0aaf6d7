"""Compare claims with measurements, and choose which elements a report shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradhook.comparison.adjustments import adjusted, with_convention
from gradhook.comparison.cause import why
from gradhook.comparison.fault import Numbers, fault
from gradhook.comparison.judge import (
    DIFFERENCES,
    TINY,
    Array,
    Estimate,
    Flags,
    Judgement,
    shape_of,
)
from gradhook.comparison.messages import SOLVED, Spot, declared_kink, located, mode_name, solver_help, text
from gradhook.comparison.probe import BALANCED, Fault, Label, Pictures, Probe, Study, Suspect
from gradhook.model.results import Finding, LeafResolution, Mode, Outcome, Smoothness, Verdict, worst

SHOWN = 4
"""Findings for one comparison: the worst element of so many pairs of leaves; the rest are counted."""


@dataclass(frozen=True)
class Compared:
    """One mode's claims beside the measurement of the same numbers, all of shape (D, columns)."""

    study: Study
    mode: Mode
    claimed: Array
    measured: Estimate
    judgement: Judgement
    relevant: Flags


def compare(study: Study, mode: Mode, probe: Probe, code: str) -> Outcome:
    """Judge one mode of a study; a claim that is not finite is left to GRD105, an undefined value is left out."""
    found = compared(study, mode, probe)
    return _fault(found, study, mode, probe, code) if isinstance(found, Fault) else _outcome(found, probe, code)


def compared(study: Study, mode: Mode, probe: Probe) -> Compared | Fault:
    """One mode of a study, judged; or why it claims nothing."""
    claim = study.claims[mode]
    if isinstance(claim, Fault):
        return claim
    measured = study.measured_by(mode)
    defined = np.isfinite(measured.centre)[None, :] & np.isfinite(claim)
    return Compared(study, mode, claim, measured, judged(study, mode, claim, probe), defined)


def judged(study: Study, mode: Mode, claim: Array, probe: Probe) -> Judgement:
    """The judgement of any claim about the numbers that a study measured for a mode."""
    by_differences = with_convention(study, claim, study.measured_by(mode), probe, probe.rounding(study.path, mode))
    return adjusted(study, mode, claim, by_differences, probe)


def _fault(fault: Fault, study: Study, mode: Mode, probe: Probe, code: str) -> Outcome:
    what = mode_name(study, mode)
    if fault.missing and probe.modes is None:
        return Outcome(code, Verdict.SKIP, probe.case, note=f"{what}: {fault.message}")
    message = f"{what} was claimed, but {fault.message}" if fault.missing else f"{what} raises {fault.message}"
    finding = Finding(
        code, Verdict.FAIL, message, case=probe.case, mode=mode, order=study.order,
        path=fault.path or None, line=fault.line or None, help=_remedy(fault),
    )  # fmt: skip
    return Outcome(code, Verdict.FAIL, probe.case, (finding,))


def _remedy(fault: Fault) -> str:
    if fault.message.startswith(("ConcretizationTypeError", "TracerArrayConversionError", "TracerBoolConversionError")):
        return (
            "the function needs concrete numbers: write it with jax.numpy instead of math or numpy, where instead of if"
        )
    return ""


def _outcome(compared: Compared, probe: Probe, code: str) -> Outcome:
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
    return _pictured(answer, compared, passed, pictures) if (pictures := probe.pictures()) else answer


def _leaves(compared: Compared, passed: Flags) -> tuple[LeafResolution, ...]:
    """The coarsest resolution of each leaf that passed, and its witnesses."""
    labels, judged = compared.study.input_labels, compared.judgement
    found = []
    for leaf in dict.fromkeys(label.leaf for label in labels if label.leaf != "direction"):
        mine = passed & np.array([label.leaf == leaf for label in labels])[:, None]
        if mine.any():
            witnesses = ", ".join(sorted(set(map(str, judged.witness[mine]))))
            found.append(LeafResolution(leaf, float(judged.resolution[mine].max()), witnesses))
    return tuple(found)


def _pictured(answer: Outcome, compared: Compared, passed: Flags, pictures: Pictures) -> Outcome:
    """With the differences of the worst resolved element of a pass, or all derivatives of the first order of others."""
    study, mode = compared.study, compared.mode
    if answer.verdict is Verdict.PASS and passed.any():
        coarse = np.where(passed, np.where(_repeated(compared), -1.0, compared.judgement.resolution), -2.0)
        row, column = np.unravel_index(int(np.argmax(coarse)), coarse.shape)
        return replace(answer, curve=pictures.curve(study.path, mode, (int(row), int(column))))
    measurable = not study.path and any(f.code not in _NO_RESOLUTION for f in answer.findings)
    return replace(answer, jacobian=pictures.jacobian(mode)) if measurable else answer


def _held_constant(probe: Probe) -> str:
    count = len(probe.constants())
    places = f"{count} place{'s' if count > 1 else ''}"
    return f"values under stop_gradient were held at the base point ({places})" if count else ""


def _why_nothing(compared: Compared) -> str:
    if not np.isfinite(compared.measured.centre).any():
        return "the value is not finite here, so nothing could be compared"
    return "no claim is finite here (see GRD105), so nothing could be compared"


def _repeated(compared: Compared) -> Flags:
    """Directions that move everything, where every coordinate was followed too: they may accuse, but add no doubt."""
    everything = np.array([label.leaf == "direction" for label in compared.study.input_labels])
    balanced = np.array([label.part == BALANCED for label in compared.study.input_labels])
    return np.broadcast_to(((everything & ~everything.all()) | balanced)[:, None], compared.claimed.shape)


def _shown(compared: Compared, where: Flags, verdict: Verdict, probe: Probe, code: str) -> list[Finding]:
    """The worst element of each pair of leaves, worst pair first, with a count of its other elements."""
    groups: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for d, o in zip(*np.nonzero(where), strict=True):
        groups.setdefault((compared.study.input_labels[d].leaf, _output(compared, int(o)).leaf), []).append((d, o))
    # A direction that moves everything repeats what a single coordinate shows; it speaks only where none does.
    named = {pair: places for pair, places in groups.items() if pair[0] != "direction"} or groups
    gap = relative_gap(compared)
    ranked = sorted(named.values(), key=lambda places: -max(gap[p] for p in places))
    shown = [
        _finding(compared, max(places, key=lambda p: gap[p]), len(places), verdict, probe, code) for places in ranked
    ]
    return shown[:SHOWN]


def relative_gap(compared: Compared) -> Array:
    """How far each claim is off, relative to its own size or what was measured."""
    reference = compared.judgement.reference
    with np.errstate(all="ignore"):
        gap = np.abs(compared.claimed - reference) / np.maximum(
            np.maximum(np.abs(reference), np.abs(compared.claimed)), TINY
        )
    return np.asarray(np.nan_to_num(gap, nan=np.inf))


def _output(compared: Compared, column: int) -> Label:
    if compared.mode == "rev" and len(compared.study.weights):
        return Label("combination", (column,))
    return compared.study.output_labels[column]


def _finding(
    compared: Compared, place: tuple[int, int], count: int, verdict: Verdict, probe: Probe, code: str
) -> Finding:
    cause, (what, path, line) = why(compared.study, compared.mode, compared.judgement, place, probe)
    cause = cause or code
    spot = Spot(
        compared.study, compared.mode, compared.claimed, compared.measured, compared.judgement, place,
        compared.study.input_labels[place[0]], _output(compared, place[1]), what,
    )  # fmt: skip
    message, help = declared_kink(spot, probe.kink) if _at_kink(compared, place, verdict) else text(cause, spot)
    pattern = _pattern(compared, spot) if verdict is Verdict.FAIL and not _at_kink(compared, place, verdict) else ""
    if verdict is Verdict.FAIL and (rule := _solver(compared, place, probe)):
        help = solver_help(rule)
    more = f" (and {count - 1} more element{'s' if count > 2 else ''})" if count > 1 else ""
    more += f": {pattern}" if pattern else ""
    if verdict is Verdict.FAIL and spot.input.leaf == "direction" and not compared.study.path:
        found = probe.locate(compared.mode, *place)
        message, spot = (located(spot, found), replace(spot, input=found.input)) if found else (message, spot)
    return Finding(
        cause, verdict, message + more, case=probe.case, mode=compared.mode, order=compared.study.order,
        leaf=spot.input.leaf, index=spot.input.index, output=str(spot.output), claimed=float(compared.claimed[place]),
        measured=spot.reference, error=spot.error, tolerance=float(compared.judgement.tolerance[place]),
        resolution=_seen(compared, place, cause),
        witness=str(compared.judgement.witness[place]), path=path or None, line=line or None, help=help,
        curve=pictures.curve(compared.study.path, compared.mode, place) if (pictures := probe.pictures()) else None,
        fault=pattern or None,
    )  # fmt: skip


def _solver(compared: Compared, place: tuple[int, int], probe: Probe) -> Suspect | None:
    """A rule over a loop that stops at a tolerance, where the claim is so near that the tolerance may be behind it."""
    rules = [rule for rule in probe.suspects() if rule.iterates and not rule.of_jax]
    column = compared.judgement.reference[:, place[1]]
    near = np.abs(compared.claimed[place] - column[place[0]]) <= SOLVED * np.nanmax(np.abs(column))
    return rules[0] if rules and near else None


def _pattern(compared: Compared, spot: Spot) -> str:
    """What the failing elements between two leaves have in common, as a person would say it."""
    judgement, study = compared.judgement, compared.study
    wrong = compared.relevant & (judgement.verdict == Verdict.FAIL)
    numbers = Numbers(
        compared.claimed, judgement.reference, judgement.error + judgement.tolerance, wrong, study.input_labels,
        study.column_labels(compared.mode),
    )  # fmt: skip
    return fault(numbers, spot.input.leaf, spot.output.leaf)


def _at_kink(compared: Compared, place: tuple[int, int], verdict: Verdict) -> bool:
    """Whether an element fails because of the convention at a kink, not by what a second witness says."""
    by_slopes = compared.judgement.witness[place] == DIFFERENCES
    return verdict is Verdict.FAIL and by_slopes and shape_of(compared.measured, place) is Smoothness.KINK


_NO_RESOLUTION = ("GRD401", "GRD402", "GRD403", "GRD404", "GRD408")


def _seen(compared: Compared, place: tuple[int, int], cause: str) -> float | None:
    """The smallest relative error that would have shown; nothing could show where there is no derivative."""
    resolution = float(compared.judgement.resolution[place])
    return resolution if cause not in _NO_RESOLUTION and np.isfinite(resolution) else None
