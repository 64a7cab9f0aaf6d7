"""GRD107: repeat the check near a case whose special inputs may hide a wrong derivative."""

from __future__ import annotations

from dataclasses import replace

from gradhook.comparison.compare import compare_mode, evaluate_mode
from gradhook.comparison.probe import DerivativeError, Probe
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict

RULE = Rule("GRD107", "beside-the-case", "Is the derivative right beside a case of special inputs, too?")
APPLIES = frozenset({ClaimKind.EXACT})
NEAREST = 2
"""The smallest moves. A wrong rule is wrong there, too; where only larger ones differ, the function may be another."""


def run(probe: Probe) -> Outcome:
    """Compare every mode that passes at the case with differences near by; count failures only."""
    what, hidden = probe.special_inputs()
    if not what:
        return _skip(probe, "no given input is special")
    if {outcome.verdict for outcome in _answers(probe).values()} - {Verdict.SKIP} != {Verdict.PASS}:
        return _skip(probe, "the derivative does not pass at the case itself")
    beside = probe.beside()
    if isinstance(beside, str):
        note = f"{what}: {hidden} would not show, and it was not asked beside the case: {beside}"
        return Outcome(RULE.code, Verdict.PASS, probe.case, note=note)
    failed = {mode: outcome for mode, outcome in _answers(beside).items() if outcome.verdict is Verdict.FAIL}
    nearest = probe.beside(NEAREST) if failed else ""
    sure = [] if isinstance(nearest, str) else [mode for mode in failed if _fails(nearest, mode)]
    wrong = [f for mode in sure for f in failed[mode].findings if f.verdict is Verdict.FAIL]
    findings = tuple(_finding(f, what) for f in wrong)
    return Outcome(RULE.code, Verdict.FAIL if findings else Verdict.PASS, probe.case, findings)


def _skip(probe: Probe, note: str) -> Outcome:
    return Outcome(RULE.code, Verdict.SKIP, probe.case, note=note)


def _answers(probe: Probe) -> dict[Mode, Outcome]:
    comparison = probe.comparison()
    if isinstance(comparison, DerivativeError):
        return {}
    return {mode: compare_mode(comparison, mode, probe, RULE.code) for mode in comparison.autodiff}


def _fails(probe: Probe, mode: Mode) -> bool:
    comparison = probe.comparison()
    found = comparison if isinstance(comparison, DerivativeError) else evaluate_mode(comparison, mode, probe)
    return not isinstance(found, DerivativeError) and bool(
        (found.relevant & (found.judgement.verdict == Verdict.FAIL)).any()
    )


def _finding(found: Finding, what: str) -> Finding:
    return replace(
        found,
        message=f"right at the given point, wrong beside it ({what}): {found.message}",
        help="the case hides an error of the rule: draw the input, with normal(…), and it shows; if the function is "
        "meant for such inputs only, use a spec that keeps to them: spd(3), orthogonal(3), simplex(3)",
    )
