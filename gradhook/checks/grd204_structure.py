"""Do tangents and gradients have the shapes, dtypes and structure of the values, whatever the function is given?"""

from __future__ import annotations

from gradhook.comparison.probe import Probe
from gradhook.comparison.surrogate_probe import Fit
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule(
    "GRD204", "rule-structure", "Do a custom rule's tangents have the shapes and dtypes of the values, in every dtype?"
)
APPLIES = frozenset(ClaimKind)


def run(probe: Probe) -> Outcome:
    """Trace every mode for float64, float32, bfloat16, rank 0 and size 0; nothing is computed.

    What fits not is advice where the claim does not speak of it, one piece for each dtype and shape.
    """
    rulebook = probe.rulebook()
    reason = "the function is no custom rule" if rulebook is None else rulebook.reason
    if rulebook is None or reason:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=reason)
    fits = rulebook.structure()
    wrong = {(fit.name, fit.mode if fit.claimed else None): fit for fit in reversed(fits) if fit.problem}
    findings = tuple(_finding(fit, probe) for fit in reversed(wrong.values()))
    asked = ", ".join(dict.fromkeys(fit.name for fit in fits))
    verdict = worst([finding.verdict for finding in findings] or [Verdict.PASS])
    return Outcome(RULE.code, verdict, probe.case, findings, note=f"traced for {asked}")


_HELP = "make constants of the input's dtype and shape (jnp.zeros_like(x), x.dtype), and cast what is returned"


def _finding(fit: Fit, probe: Probe) -> Finding:
    where = "the value" if fit.mode is None else "forward mode" if fit.mode == "fwd" else "reverse mode"
    raised, help = fit.problem.startswith("raises "), _HELP
    problem, verdict = fit.problem, Verdict.FAIL
    if not fit.claimed:  # one short line: what an exception says more is help
        verdict = Verdict.ADVICE
        problem = problem.partition(":")[0] if raised else problem
        help = f"{_HELP}: {fit.problem}" if raised else _HELP
    return Finding(
        RULE.code, verdict, f"for {fit.name}, {where}: {problem}", case=probe.case, mode=fit.mode,
        path=fit.path or None, line=fit.line or None, help=help,
    )  # fmt: skip
