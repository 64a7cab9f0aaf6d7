"""GRD105: the derivative is finite wherever the value is, and has the input's dtype."""

from __future__ import annotations

from gradhook.comparison.nonfinite import not_finite
from gradhook.comparison.probe import DerivativeError, Probe
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule("GRD105", "finite", "Is the derivative finite wherever the value is, and of the input's dtype?")
APPLIES = frozenset({ClaimKind.EXACT})


def run(probe: Probe) -> Outcome:
    """Report derivatives that are not finite where the function has a finite slope, and wrong dtypes."""
    findings = [*_not_finite(probe), *_dtypes(probe)]
    return Outcome(RULE.code, worst([f.verdict for f in findings] or [Verdict.PASS]), probe.case, tuple(findings))


def _not_finite(probe: Probe) -> list[Finding]:
    comparison = probe.comparison()
    if isinstance(comparison, DerivativeError):
        return []
    found = [
        not_finite(comparison, mode, claim, probe)
        for mode, claim in comparison.autodiff.items()
        if not isinstance(claim, DerivativeError)
    ]
    return [finding for finding in found if finding]


def _dtypes(probe: Probe) -> list[Finding]:
    return [
        Finding(
            RULE.code, Verdict.FAIL, f"the gradient with respect to {label} has dtype {given}, the input {dtype}",
            case=probe.case, mode="rev", order=1, leaf=label.leaf, help="cast the cotangent to the input's dtype",
        )
        for label, dtype, given in probe.gradient_dtypes()
        if dtype != given
    ]  # fmt: skip
