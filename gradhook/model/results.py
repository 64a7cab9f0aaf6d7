"""Records of targets, findings, outcomes and target reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # most reports lack these: loaded only where they are made or read
    from gradhook.model.trace import CaseTrace, Curve, Jacobian, Staircase

RTOL = 2e-10
"""Default relative tolerance; ``benchmarks/verdicts.py`` scans the public functions of JAX that it was chosen from."""
UNCLAIMED = "GRD501"
"""A custom rule without a claim."""
Mode = str
"""``"fwd"`` (jvp) or ``"rev"`` (vjp)."""
ModuleKey = tuple[str, str]
"""Dotted name and path of a module: one file may be imported under several names."""


class Verdict(StrEnum):
    """The answer to a question; the order of the members is from best to worst."""

    SKIP = "skip"
    PASS = "pass"
    ADVICE = "advice"
    """Of findings alone: the claim holds, and what was found lies beyond it. Questions and targets pass with it."""
    UNDECIDED = "undecided"
    FAIL = "fail"
    ERROR = "error"


_SEVERITY = {verdict: rank for rank, verdict in enumerate(Verdict)}


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The gravest of several verdicts, in which advice is a pass; ``SKIP`` when there are none."""
    gravest = max(verdicts, key=_SEVERITY.__getitem__, default=Verdict.SKIP)
    return Verdict.PASS if gravest is Verdict.ADVICE else gravest


class ClaimKind(StrEnum):
    """What the author vouches for: the derivative itself, or a declared stand-in for it."""

    EXACT = "exact"
    SURROGATE = "surrogate"
    RULE = "rule"
    """Nothing: a custom rule without a claim. What holds of every rule is checked all the same."""


class Smoothness(StrEnum):
    """What a function looks like along a line through a point."""

    SMOOTH = "smooth"
    KINK = "kink"
    JUMP = "jump"
    CUSP = "cusp"
    VERTICAL = "vertical tangent"
    EDGE = "edge of the domain"


@dataclass(frozen=True)
class Target:
    """One claim about one function, as the scan sees it, before anything is imported.

    ``line`` is where the function is defined (for the call form: where the call stands); ``mark`` is the line on which
    the annotation's call begins, by which the import finds the same claim again.
    """

    module: str
    qualname: str
    path: str
    line: int
    mark: int
    claim: ClaimKind
    root: str
    source: str = "decorator"
    """``"decorator"``, ``"call"``, ``"config"``, or ``"rule"`` for a custom rule without a claim."""
    unreachable: str = ""
    """Why an import cannot deliver this annotation, as far as the source shows; empty when it can."""
    mark_path: str = ""
    """The file of line ``mark``, when it is not ``path``: a decorator stored in one module, used in another."""
    lines: tuple[int, ...] = field(default=(), compare=False)
    """The lines of the decorator and of the ``def``, whose comments may ignore findings of this target."""
    column: int = field(default=0, compare=False)
    """Where on line ``mark`` the annotation's call begins."""

    @property
    def module_key(self) -> ModuleKey:
        """The module that is imported for the target: its dotted name and its file."""
        return self.module, self.path

    @property
    def name(self) -> str:
        """``module:qualname``, the name of the target in reports and on the command line."""
        return f"{self.module}:{self.qualname}"


@dataclass(frozen=True)
class Rule:
    """A code with its name and the question that it answers; the page in ``rules/`` explains it."""

    code: str
    name: str
    question: str


@dataclass(frozen=True)
class Finding:
    """One result other than a plain pass, with the numbers it rests on.

    ``claimed`` is the value of JAX's derivative (or of the rule), ``measured`` that of finite differences (or of the
    declared reference), ``error`` the error bar of ``measured``, ``resolution`` the smallest relative error that the
    comparison would have found.
    """

    code: str
    verdict: Verdict
    message: str
    case: str | None = None
    mode: str | None = None
    order: int | None = None
    leaf: str | None = None
    index: tuple[int, ...] | None = None
    output: str | None = None
    claimed: float | None = None
    measured: float | None = None
    error: float | None = None
    tolerance: float | None = None
    resolution: float | None = None
    path: str | None = None
    line: int | None = None
    help: str = ""
    reproduce: str | None = None
    curve: Curve | None = None
    """What a picture of it needs; there with the setting ``curves`` only, as those of ``Outcome`` are."""
    witness: str | None = None
    """What ``measured`` comes from: ``differences``, ``complex step``, ``equations``; ``disagree`` where two differ."""
    fault: str | None = None
    """What the failing elements have in common: ``half of what it should be in all 12 elements``."""


@dataclass(frozen=True)
class LeafResolution:
    """The passed elements of one input leaf: their coarsest resolution, and what resolved them.

    ``witness`` is ``differences``, ``complex step``, ``equations`` (a proof of 0), or several, joined by commas.
    """

    leaf: str
    resolution: float
    witness: str


@dataclass(frozen=True)
class Outcome:
    """What one check answers about one case of one target."""

    code: str
    verdict: Verdict
    case: str | None = None
    findings: tuple[Finding, ...] = ()
    resolution: float | None = None
    note: str = ""
    """Why a check does not apply (``SKIP``), or a remark on a pass."""
    curve: Curve | None = None
    """Of a pass: that of its worst resolved element."""
    jacobian: Jacobian | None = None
    staircases: tuple[Staircase, ...] = ()
    leaves: tuple[LeafResolution, ...] = ()
    """Of a comparison of derivatives: each input leaf on its own."""


@dataclass(frozen=True)
class OutcomeUpdate:
    """An outcome sent as soon as it is there, and the codes that are still open for its case."""

    outcome: Outcome
    open: tuple[str, ...]


@dataclass(frozen=True)
class Seconds:
    """Where the time of a target went."""

    compile: float = 0.0
    run: float = 0.0
    wall: float = 0.0
    """From the first question to the last answer."""
    compilations: int = 0
    """How many programs XLA compiled."""

    @property
    def total(self) -> float:
        """All of it; reports of an earlier gradhook lack the wall time."""
        return self.wall or self.compile + self.run


@dataclass(frozen=True)
class TargetReport:
    """All answers about one target."""

    target: Target
    verdict: Verdict
    outcomes: tuple[Outcome, ...] = ()
    findings: tuple[Finding, ...] = ()
    """Every finding of every outcome, gravest first; ``outcomes`` keep the passes and skips as well."""
    resolution: float | None = None
    seconds: Seconds = field(default_factory=Seconds)
    cached: bool = False
    output: str = ""
    """What the user's code printed while it was checked (the end of it), for findings that did not pass."""
    ignore: tuple[str, ...] = ()
    """The codes that the annotation ignores; ``findings`` holds them still, ``suppressions`` applies them."""
    traces: tuple[CaseTrace, ...] = ()
    """How each case was examined, with the setting ``trace`` only."""


LEFT_OUT = "GRD912"


def left_out_report(target: Target, why: str, help: str) -> TargetReport:
    """The report about a target that was on purpose not examined, which is neither good nor bad."""
    finding = Finding(LEFT_OUT, Verdict.SKIP, f"left out {why}", path=target.path, line=target.line, help=help)
    outcome = Outcome(LEFT_OUT, Verdict.SKIP, findings=(finding,), note=finding.message)
    return TargetReport(target, Verdict.SKIP, (outcome,), (finding,))


@dataclass(frozen=True)
class CheckSettings:
    """The settings that the numeric side uses; an annotation's own options go before these."""

    order: int = 1
    modes: tuple[Mode, ...] | None = None
    atol: float = 0.0
    rtol: float = RTOL
    seed: int = 0
    self_test: bool = False
    curves: bool = False
    trace: bool = False
    """Whether reports hold how each case was examined."""


_GRAVEST_FIRST = {
    Verdict.ERROR: 0, Verdict.FAIL: 1, Verdict.UNDECIDED: 2, Verdict.SKIP: 3, Verdict.ADVICE: 4, Verdict.PASS: 5,
}  # fmt: skip


def gravest_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort findings by severity; equals keep the order of the checks.

    Advice that several cases give in the same words is there once.
    """
    first_advice = {(f.code, f.message): f for f in reversed(findings) if f.verdict is Verdict.ADVICE}
    once = [f for f in findings if f.verdict is not Verdict.ADVICE or first_advice[f.code, f.message] is f]
    return tuple(sorted(once, key=lambda f: _GRAVEST_FIRST[f.verdict]))
