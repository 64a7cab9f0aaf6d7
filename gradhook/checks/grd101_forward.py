"""Is the forward-mode derivative what finite differences measure, element by element?"""

from __future__ import annotations

from gradhook.comparison.compare import compare
from gradhook.comparison.probe import Fault, Probe
from gradhook.model.results import ClaimKind, Outcome, Rule, Verdict

RULE = Rule("GRD101", "forward-mode", "Is the forward-mode derivative what finite differences measure?")
APPLIES = frozenset({ClaimKind.EXACT})


def run(probe: Probe) -> Outcome:
    """Compare ``jax.jvp`` along every direction with the differences along it, each output on its own."""
    study = probe.study()
    if isinstance(study, Fault) or "fwd" not in study.claims:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="forward mode was not claimed")
    return compare(study, "fwd", probe, RULE.code)
