"""How does a judged comparison of claims and measurements read, and which of many elements does it show?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradhook.judge import Array, Estimate, Flags, Judgement, judge
from gradhook.model import Finding, Mode, Outcome, Verdict, worst
from gradhook.probe import Fault, Label, Probe, Study

SHOWN = 4
"""Findings for one comparison: the worst element of so many pairs of leaves; the rest are counted."""
MODE_NAMES = {"fwd": "forward mode", "rev": "reverse mode"}


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
    claim = study.claims[mode]
    if isinstance(claim, Fault):
        return _fault(claim, study, mode, probe, code)
    measured = columns_of(study.measured, study.columns(mode))
    defined = np.isfinite(measured.centre)[None, :] & np.isfinite(claim)
    compared = Compared(study, mode, claim, measured, judge(claim, measured, probe.tolerance, probe.kink), defined)
    return _outcome(compared, probe, code)


def columns_of(estimate: Estimate, columns: slice) -> Estimate:
    """The part of an estimate that speaks of some of its columns."""
    parts = {name: getattr(estimate, name)[..., columns] for name in estimate.__dataclass_fields__}
    return Estimate(**parts)


def number(value: float) -> str:
    """A number as a reader compares it: enough digits to see a difference of one in a million."""
    return f"{value:.9g}"


def bar(error: float) -> str:
    """An error bar: two digits are plenty."""
    return f"{error:.1g}"


def _fault(fault: Fault, study: Study, mode: Mode, probe: Probe, code: str) -> Outcome:
    what = _mode_name(study, mode)
    if fault.missing and probe.modes is None:
        return Outcome(code, Verdict.SKIP, probe.case, note=f"{what}: {fault.message}")
    message = f"{what} was claimed, but {fault.message}" if fault.missing else f"{what} raises {fault.message}"
    finding = Finding(
        code, Verdict.FAIL, message, case=probe.case, mode=mode, order=study.order,
        path=fault.path or None, line=fault.line or None,
    )  # fmt: skip
    return Outcome(code, Verdict.FAIL, probe.case, (finding,))


def _outcome(compared: Compared, probe: Probe, code: str) -> Outcome:
    verdicts = compared.judgement.verdict
    if not compared.relevant.any():
        note = "no element of the value is finite here, so nothing could be compared"
        return Outcome(code, Verdict.SKIP, probe.case, note=note)
    findings = [
        finding
        for verdict in (Verdict.FAIL, Verdict.UNDECIDED)
        for finding in _shown(compared, compared.relevant & (verdicts == verdict), verdict, probe, code)
    ]
    resolution = float(np.max(compared.judgement.resolution[compared.relevant]))
    verdict = worst([f.verdict for f in findings] or [Verdict.PASS])
    return Outcome(code, verdict, probe.case, tuple(findings), resolution)


def _shown(compared: Compared, where: Flags, verdict: Verdict, probe: Probe, code: str) -> list[Finding]:
    """The worst element of each pair of leaves, worst pair first, with a count of its other elements."""
    groups: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for d, o in zip(*np.nonzero(where), strict=True):
        groups.setdefault((compared.study.input_labels[d].leaf, _output(compared, int(o)).leaf), []).append((d, o))
    # A direction that moves everything repeats what a single coordinate shows; it speaks only where none does.
    named = {pair: places for pair, places in groups.items() if pair[0] != "direction"} or groups
    gap = _gap(compared)
    ranked = sorted(named.values(), key=lambda places: -max(gap[p] for p in places))
    shown = [
        _finding(compared, max(places, key=lambda p: gap[p]), len(places), verdict, probe, code) for places in ranked
    ]
    return shown[:SHOWN]


def _gap(compared: Compared) -> Array:
    """How far apart the two numbers are, in units of the derivative's scale."""
    with np.errstate(all="ignore"):
        size = np.maximum(np.maximum(np.abs(compared.measured.value), compared.measured.scale), 1e-300)
        gap = np.abs(compared.claimed - compared.measured.value) / size
    return np.asarray(np.nan_to_num(gap, nan=np.inf))


def _output(compared: Compared, column: int) -> Label:
    if compared.mode == "rev" and len(compared.study.weights):
        return Label("combination", (column,))
    return compared.study.output_labels[column]


def _finding(
    compared: Compared, place: tuple[int, int], count: int, verdict: Verdict, probe: Probe, code: str
) -> Finding:
    label, output = compared.study.input_labels[place[0]], _output(compared, place[1])
    cause = str(compared.judgement.code[place]) or code
    narrow = probe.narrowings() if cause in ("GRD405", "GRD409") else []
    cause = "GRD406" if narrow else cause
    text, help = WORDS.get(cause, _disagreement)(_Words(compared, place, output, label, probe))
    more = f" (and {count - 1} more element{'s' if count > 2 else ''})" if count > 1 else ""
    spot = _spot(probe) if cause == "GRD406" else (None, None)
    return Finding(
        cause, verdict, text + more, case=probe.case, mode=compared.mode, order=compared.study.order,
        leaf=label.leaf, index=label.index, output=str(output), claimed=float(compared.claimed[place]),
        measured=float(compared.measured.value[place]), error=float(compared.measured.error[place]),
        tolerance=float(compared.judgement.tolerance[place]),
        resolution=float(compared.judgement.resolution[place]), path=spot[0], line=spot[1], help=help,
    )  # fmt: skip


def _spot(probe: Probe) -> tuple[str | None, int | None]:
    narrow = probe.narrowings()
    return (narrow[0][1] or None, narrow[0][2] or None) if narrow else (None, None)


@dataclass(frozen=True)
class _Words:
    """What a message may speak of."""

    compared: Compared
    place: tuple[int, int]
    output: Label
    input: Label
    probe: Probe

    def get(self, name: str) -> float:
        return float(getattr(self.compared.measured, name)[self.place])

    @property
    def claim(self) -> str:
        """``reverse mode claims -0.5 for d out / d delta[3]``."""
        value = number(float(self.compared.claimed[self.place]))
        return f"{_mode_name(self.compared.study, self.compared.mode)} claims {value} for {self.symbol}"

    @property
    def symbol(self) -> str:
        order = self.compared.study.order
        power = "" if order == 1 else "²" if order == 2 else f"^{order}"
        # Of a reverse path the outputs are gradient entries; both read as one further derivative of the same function.
        return f"d{power} {self.output} / d {self.input}" + (f" ({order}. order)" if order > 1 else "")

    @property
    def measurement(self) -> str:
        return f"finite differences measure {number(self.get('value'))} ± {bar(self.get('error'))}"

    @property
    def seen(self) -> str:
        return f"would have seen {bar(float(self.compared.judgement.resolution[self.place]))}"


Words = tuple[str, str]


def _disagreement(w: _Words) -> Words:
    help = (
        "value and derivative disagree: check the rule for this argument first, then the value itself"
        if w.compared.study.order == 1
        else "the first derivative is right, what differentiating it once more gives is not: look for a value that the "
        "rule treats as constant, or a special case that returns a constant"
    )
    return f"{w.claim}, {w.measurement} ({w.seen})", help


def _kink(w: _Words) -> Words:
    sides = f"the slopes on the two sides are {number(w.get('left'))} and {number(w.get('right'))}"
    return (
        f"the function has a kink here: {w.claim}, {sides}",
        'say which slope is meant with kink="left", "right", "mean", "subgradient" or a number, or move the case away',
    )


def _jump(w: _Words) -> Words:
    return (
        f"the value jumps here: {w.claim}, but {w.output} changes by a finite amount for the smallest step of {w.input}",
        "no derivative exists at a jump; move the case away from it, or declare the derivative with @surrogate",
    )


def _cusp(w: _Words) -> Words:
    return f"the function has a cusp here: {w.claim}, one-sided slopes grow without bound", "move the case away"


def _vertical(w: _Words) -> Words:
    return (
        f"the tangent is vertical here: {w.claim}, finite differences grow without bound",
        "no finite derivative exists; move the case away, or use a safe formula at this point",
    )


def _noise(w: _Words) -> Words:
    return (
        f"the value is noisy (about {bar(w.get('noise'))}): {w.claim}, {w.measurement} ({w.seen})",
        "a solver's tolerance or a cancellation limits the value; tighten it in the case, or state atol/rtol",
    )


def _reduced(w: _Words) -> Words:
    found = w.probe.narrowings()
    where = f", {found[0][0]}" if found else ""
    return (
        f"reduced precision inside{where}: {w.claim}, {w.measurement} ({w.seen})",
        "keep float64 through the function (dtype=x.dtype instead of a fixed float32), or state rtol",
    )


def _scales(w: _Words) -> Words:
    return (
        f"the slope depends on the scale: {w.claim}; small steps measure {number(w.get('value'))} ± {bar(w.get('error'))}, "
        f"large steps {number(w.get('coarse'))} ± {bar(w.get('coarse_error'))}",
        "a fine ripple (an iteration that stops early, a table) lies on the value; the claim matches its large scale",
    )


def _edge(w: _Words) -> Words:
    return (
        f"the point lies on the edge of the domain and no one-sided slope settles: {w.claim}, {w.measurement}",
        "move the case inside the domain, or declare it with an input spec such as positive(…) or uniform(low=…, high=…)",
    )


def _coarse(w: _Words) -> Words:
    return (
        f"the differences are too coarse to decide: {w.claim}, {w.measurement} ({w.seen})",
        "rescale the input or the output, or state the tolerance that you need with rtol= or atol=",
    )


WORDS: dict[str, Callable[[_Words], Words]] = {
    "GRD401": _kink,
    "GRD402": _jump,
    "GRD403": _cusp,
    "GRD404": _vertical,
    "GRD405": _noise,
    "GRD406": _reduced,
    "GRD407": _scales,
    "GRD408": _edge,
    "GRD409": _coarse,
}


def _mode_name(study: Study, mode: Mode) -> str:
    """``reverse mode``, or ``reverse over forward mode`` for what is differentiated once more."""
    if not study.path:
        return MODE_NAMES[mode]
    words = {"fwd": "forward", "rev": "reverse"}
    return f"{words[mode]} over {' over '.join(words[m] for m in reversed(study.path))} mode"
