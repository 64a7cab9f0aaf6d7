"""GRD101: compare the forward-mode derivative with finite differences, element by element."""

from __future__ import annotations

from gradhook.comparison.compare import compare_mode
from gradhook.comparison.probe import DerivativeError, Probe
from gradhook.model.results import ClaimKind, Outcome, Rule, Verdict

RULE = Rule("GRD101", "forward-mode", "Is the forward-mode derivative what finite differences measure?")
APPLIES = frozenset({ClaimKind.EXACT})


def run(probe: Probe) -> Outcome:
    """Compare ``jax.jvp`` along every direction with the differences along it, each output on its own."""
    comparison = probe.comparison()
    if isinstance(comparison, DerivativeError) or "fwd" not in comparison.autodiff:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="forward mode was not claimed")
    return compare_mode(comparison, "fwd", probe, RULE.code)
