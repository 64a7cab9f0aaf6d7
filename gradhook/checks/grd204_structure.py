"""GRD204: tangents and gradients have the shapes, dtypes and structure of the values."""

from __future__ import annotations

from gradhook.comparison.probe import Probe
from gradhook.comparison.surrogate_probe import StructureResult
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule(
    "GRD204", "rule-structure", "Do a custom rule's tangents have the shapes and dtypes of the values, in every dtype?"
)
APPLIES = frozenset(ClaimKind)


def run(probe: Probe) -> Outcome:
    """Trace every mode for float64, float32, bfloat16, rank 0 and size 0; nothing is computed.

    A problem is advice where the claim does not cover it, one finding for each dtype and shape.
    """
    rule_probe = probe.rule_probe()
    reason = "the function is no custom rule" if rule_probe is None else rule_probe.reason
    if rule_probe is None or reason:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=reason)
    results = rule_probe.structure()
    wrong = {
        (result.name, result.mode if result.claimed else None): result for result in reversed(results) if result.problem
    }
    findings = tuple(_finding(result, probe) for result in reversed(wrong.values()))
    asked = ", ".join(dict.fromkeys(result.name for result in results))
    verdict = worst([finding.verdict for finding in findings] or [Verdict.PASS])
    return Outcome(RULE.code, verdict, probe.case, findings, note=f"traced for {asked}")


_HELP = "make constants of the input's dtype and shape (jnp.zeros_like(x), x.dtype), and cast what is returned"


def _finding(result: StructureResult, probe: Probe) -> Finding:
    where = "the value" if result.mode is None else "forward mode" if result.mode == "fwd" else "reverse mode"
    raised, help = result.problem.startswith("raises "), _HELP
    problem, verdict = result.problem, Verdict.FAIL
    if not result.claimed:  # one short line: the rest of an exception goes to the help
        verdict = Verdict.ADVICE
        problem = problem.partition(":")[0] if raised else problem
        help = f"{_HELP}: {result.problem}" if raised else _HELP
    return Finding(
        RULE.code, verdict, f"for {result.name}, {where}: {problem}", case=probe.case, mode=result.mode,
        path=result.path or None, line=result.line or None, help=help,
    )  # fmt: skip
