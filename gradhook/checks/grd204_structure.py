"""Do tangents and gradients have the shapes, dtypes and structure of the values, whatever the function is given?"""

from __future__ import annotations

from gradhook.comparison.probe import Probe
from gradhook.comparison.surrogate_probe import Fit
from gradhook.model import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule(
    "GRD204", "rule-structure", "Do a custom rule's tangents have the shapes and dtypes of the values, in every dtype?"
)
APPLIES = frozenset(ClaimKind)


def run(probe: Probe) -> Outcome:
    """Trace every mode for float64, float32, bfloat16, rank 0 and size 0; nothing is computed."""
    rulebook = probe.rulebook()
    reason = "the function is no custom rule" if rulebook is None else rulebook.reason
    if rulebook is None or reason:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=reason)
    fits = rulebook.structure()
    findings = tuple(_finding(fit, probe) for fit in fits if fit.problem)
    asked = ", ".join(dict.fromkeys(fit.name for fit in fits))
    return Outcome(
        RULE.code, Verdict.FAIL if findings else Verdict.PASS, probe.case, findings, note=f"traced for {asked}"
    )


def _finding(fit: Fit, probe: Probe) -> Finding:
    where = "the value" if fit.mode is None else "forward mode" if fit.mode == "fwd" else "reverse mode"
    return Finding(
        RULE.code, Verdict.FAIL, f"for {fit.name}, {where}: {fit.problem}", case=probe.case, mode=fit.mode,
        path=fit.path or None, line=fit.line or None,
        help="make constants of the input's dtype and shape (jnp.zeros_like(x), x.dtype), and cast what is returned",
    )  # fmt: skip
