"""GRD103: compare second and higher derivatives, by every composition of modes, with differences."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from gradhook.comparison.compare import compare_mode
from gradhook.comparison.nonfinite import not_finite
from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Probe
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict, worst

RULE = Rule("GRD103", "second-order", "Are second (and higher) derivatives what differences of the first measure?")
APPLIES = frozenset({ClaimKind.EXACT})
_NOT_CLAIMED = DerivativeError(True, "not claimed")


def run(probe: Probe) -> Outcome:
    """Compare every composition of modes with differences of JAX's own first derivative.

    Forward over reverse and reverse over forward are each compared with the same measured numbers, so that they agree
    with each other as well. The question waits until the first order has no fault: differences of a wrong or undefined
    derivative are no evidence about the next one.
    """
    if probe.order < 2:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="order=1: second derivatives were not claimed")
    first = probe.comparison()
    if isinstance(first, DerivativeError) or not _sound(first, probe):
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="waits for the first order to be right")
    outcomes = [outcome for path in _paths(first, probe.order) for outcome in _outcomes(probe, path)]
    findings = _distinct([f for o in outcomes for f in o.findings])
    verdicts = [o.verdict for o in outcomes if o.verdict is not Verdict.SKIP]
    notes = "; ".join(dict.fromkeys(o.note for o in outcomes if o.note))
    seen = [o.resolution for o in outcomes if o.resolution is not None]
    curve = next((o.curve for o in outcomes if o.curve and o.resolution == max(seen)), None)
    return Outcome(RULE.code, worst(verdicts), probe.case, findings, max(seen, default=None), notes, curve)


def _distinct(findings: list[Finding]) -> tuple[Finding, ...]:
    """One finding for each verdict and leaf: compositions of modes show the same error."""
    first: dict[tuple[str, str, str | None], Finding] = {}
    for finding in findings:
        first.setdefault((finding.code, finding.verdict, finding.leaf), finding)
    named = {key: f for key, f in first.items() if f.leaf != "direction"}
    return tuple((named or first).values())


def _sound(comparison: DerivativeComparison, probe: Probe) -> bool:
    answers = [compare_mode(comparison, mode, probe, RULE.code).verdict for mode in comparison.autodiff]
    claims = [claim for claim in comparison.autodiff.values() if not isinstance(claim, DerivativeError)]
    finite = all(np.isfinite(claim).all() for claim in claims)
    return finite and Verdict.PASS in answers and not {Verdict.FAIL, Verdict.UNDECIDED} & set(answers)


def _paths(first: DerivativeComparison, order: int) -> list[tuple[Mode, ...]]:
    """Every composition of the modes that the function has, from order 2 up to ``order``."""
    # Reverse mode first: of a gradient the second derivatives are plain Hessian entries, which read best.
    modes = [mode for mode in ("rev", "fwd") if not isinstance(first.autodiff.get(mode, _NOT_CLAIMED), DerivativeError)]
    return [path for depth in range(1, order) for path in itertools.product(modes, repeat=depth)]


def _outcomes(probe: Probe, path: tuple[Mode, ...]) -> list[Outcome]:
    comparison = probe.comparison(path)
    if isinstance(comparison, DerivativeError):
        return [Outcome(RULE.code, Verdict.SKIP, probe.case, note=comparison.message)]
    outcomes = [compare_mode(comparison, mode, probe, RULE.code) for mode in comparison.autodiff]
    claims = [(mode, claim) for mode, claim in comparison.autodiff.items() if not isinstance(claim, DerivativeError)]
    found = [finding for mode, claim in claims if (finding := not_finite(comparison, mode, claim, probe))]
    return [*outcomes, *(Outcome(RULE.code, f.verdict, probe.case, (replace(f, code=_code(f)),)) for f in found)]


def _code(finding: Finding) -> str:
    """The first order has a code of its own for what is not finite."""
    return RULE.code if finding.verdict is Verdict.FAIL else finding.code
