"""GRD302: a bad input raises the same error with and without differentiation."""

from __future__ import annotations

from gradhook.comparison.probe import Probe
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule("GRD302", "refusals", "Is an input that must be refused refused on every route?")
APPLIES = frozenset({ClaimKind.EXACT, ClaimKind.SURROGATE})


def run(probe: Probe) -> Outcome:
    """Call the function plainly, under jvp and under vjp: each must raise the declared error."""
    result = probe.raises_result()
    if result is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="no input of this case must be refused")
    findings = [
        Finding(
            RULE.code, Verdict.FAIL,
            f"{route}: expected {result.expected}, got {result.routes[route] or 'no error'}", case=probe.case,
            help="raise it before the first differentiated operation, on shapes or on concrete values",
        )
        for route, accepted in result.accepted.items()
        if not accepted
    ]  # fmt: skip
    return Outcome(RULE.code, Verdict.FAIL if findings else Verdict.PASS, probe.case, tuple(findings))
