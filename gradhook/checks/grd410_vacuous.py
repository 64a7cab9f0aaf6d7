"""GRD410: some derivative of the case is different from zero."""

from __future__ import annotations

import numpy as np

from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Probe
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule("GRD410", "vacuous", "Is any derivative of the case different from zero?")
APPLIES = frozenset({ClaimKind.EXACT})


def run(probe: Probe) -> Outcome:
    """Report cases without any nonzero derivative: a rule that returns zeros would pass there."""
    paths = [(), *((mode,) for mode in ("fwd", "rev"))] if probe.order > 1 else [()]
    if any(_moves(probe.comparison(path)) for path in paths):
        return Outcome(RULE.code, Verdict.PASS, probe.case)
    text = "vacuous: every derivative is zero here, so a rule that returns zeros would pass too"
    finding = Finding(
        RULE.code, Verdict.UNDECIDED, text,
        case=probe.case, help="add a case at which the function has a slope",
    )  # fmt: skip
    return Outcome(RULE.code, Verdict.UNDECIDED, probe.case, (finding,))


def _moves(comparison: DerivativeComparison | DerivativeError) -> bool:
    if isinstance(comparison, DerivativeError):
        return False
    for mode, claim in comparison.autodiff.items():
        measured = comparison.measured_by(mode)
        there = np.isfinite(measured.centre)[None, :]
        if not isinstance(claim, DerivativeError) and ((claim != 0) & there).any():
            return True
        if (measured.accepted & there & (np.abs(measured.value) > measured.error)).any():
            return True
    return False
