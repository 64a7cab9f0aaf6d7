"""Check the derivatives of JAX's public functions, and whether the answers are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
from catalogue.records import Entry, Mark
from oracle import Truth, truth
from proving import Proof, prove
from sharing import Family, sharing

from gradhook.checks import grd101_forward, grd102_reverse, grd103_second_order, grd105_finite
from gradhook.comparison.judge import Tolerance
from gradhook.model.results import RTOL, Finding, Outcome, Verdict, worst
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

FIRST = (grd101_forward, grd102_reverse, grd105_finite)
RTOLS = (RTOL, 1e-10, 1e-11, 1e-12)
"""The default and tighter ones."""


@dataclass(frozen=True)
class Answer:
    """What was said about one function at one point, in one order and with one tolerance, and what is right."""

    name: str
    point: str
    order: int
    rtol: float
    verdict: Verdict
    findings: tuple[Finding, ...]
    mark: Mark | None
    proof: Proof | None

    @property
    def codes(self) -> str:
        """The codes of its findings."""
        return ",".join(sorted({f.code for f in self.findings}))

    @property
    def grade(self) -> str:
        """``ok``, or what is wrong with the answer (``WEAK``: a wrong derivative left undecided)."""
        return GRADES[self.verdict](self)


def scan(entry: Entry, family: Family, rtols: tuple[float, ...] = RTOLS[:1]) -> list[Answer]:
    """Examine one function at all its points, in both modes and up to its order."""
    found = []
    with jax.enable_x64(True), sharing(family):
        for name in entry.points:
            known = None if name in entry.marks and entry.marks[name].order == 1 else truth(entry, entry.points[name])
            for rtol in rtols:
                found += _point(entry, name, rtol, known)
    return found


def instruments(entry: Entry, name: str, rtol: float, function: Any = None) -> FunctionProbe:
    """The probe that a check would be handed for one point."""
    check_options = CheckOptions(order=entry.order, modes=entry.modes, tolerance=Tolerance(rtol=rtol))
    check_case = CheckCase(name, entry.points[name])
    return FunctionProbe(function or entry.call, check_case, check_options, f"{entry.name}\x1f{name}", Clock())


def _point(entry: Entry, name: str, rtol: float, known: Truth | None) -> list[Answer]:
    probe = instruments(entry, name, rtol)
    answers = []
    for order in range(1, entry.order + 1):
        outcomes = [check.run(probe) for check in (FIRST if order == 1 else (grd103_second_order,))]
        mark = entry.marks.get(name)
        if mark and mark.order > order:
            mark = None
        proof = None if known is None or mark is not None else prove(probe, known, order)
        answers.append(Answer(entry.name, name, order, rtol, _verdict(outcomes), _findings(outcomes), mark, proof))
        if answers[-1].verdict is not Verdict.PASS:
            break
    return answers


def _verdict(outcomes: list[Outcome]) -> Verdict:
    return worst([o.verdict for o in outcomes if o.verdict is not Verdict.SKIP and not _idle(o)])


def _idle(outcome: Outcome) -> bool:
    """GRD105 passes where there is no derivative to be finite; that alone is no answer."""
    return outcome.code == "GRD105" and outcome.verdict is Verdict.PASS


def _findings(outcomes: list[Outcome]) -> tuple[Finding, ...]:
    return tuple(f for o in outcomes for f in o.findings)


def _fail(answer: Answer) -> str:
    if answer.mark is not None:
        nan = all(f.code == "GRD105" for f in answer.findings if f.verdict is Verdict.FAIL)
        return "ok" if answer.mark.verdict == "fail" or nan else "FALSE ALARM"
    if answer.proof is None:
        return "UNPROVEN"
    if answer.proof.accused:
        return "FALSE ALARM"
    return "ok" if answer.proof.wrong else "inaccurate" if answer.proof.inaccurate else "FALSE ALARM"


def _undecided(answer: Answer) -> str:
    if (answer.mark and answer.mark.verdict == "fail") or (answer.proof and answer.proof.wrong):
        return "WEAK"
    if answer.mark is None or answer.mark.verdict != "undecided":
        return "UNEXPLAINED"
    named = {f.code for f in answer.findings} - {"GRD410"}
    return "ok" if not answer.mark.codes or named <= set(answer.mark.codes) else "OTHER CAUSE"


def _pass(answer: Answer) -> str:
    if answer.mark is not None:
        return "ok" if answer.mark.may_pass else "MISS"
    return "MISS" if answer.proof is not None and answer.proof.missed else "ok"


def _skip(answer: Answer) -> str:
    if answer.mark is not None:
        return "ok" if answer.mark.verdict == "none" else "NOT ASKED"
    return "ok" if answer.proof is not None and answer.proof.measured == 0 else "NOT ASKED"


GRADES = {
    Verdict.FAIL: _fail,
    Verdict.UNDECIDED: _undecided,
    Verdict.PASS: _pass,
    Verdict.SKIP: _skip,
    Verdict.ERROR: lambda answer: "ERROR",
}
