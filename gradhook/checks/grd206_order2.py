"""GRD206: a surrogate, differentiated twice, keeps its rule and gives the declared derivative."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradhook.comparison.judge import ADJOINT
from gradhook.comparison.messages import MODE_NAMES
from gradhook.comparison.probe import ConsistencyPair, DerivativeError, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule("GRD206", "surrogate-second-order", "Is a surrogate's second derivative the declared one?")
APPLIES = frozenset({ClaimKind.SURROGATE})
_LOST = "return the decorated function's value from the rule, not the plain one's: only the former has the rule"


def run(probe: Probe) -> Outcome:
    """Differentiate the rule's results: the value must keep the rule, the derivative follow ``order2``."""
    rule_probe = probe.rule_probe()
    if rule_probe is None or rule_probe.reason:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=rule_probe.reason if rule_probe else "no rule")
    trials = rule_probe.second()
    if rule_probe.order2 == "error":
        return _must_raise(trials, probe)
    findings = [f for trial in trials if (f := _finding(trial, rule_probe.order2, probe))]
    note = "" if rule_probe.order2 else _undeclared(trials)
    if rule_probe.order2 is None and findings:
        findings = [_advised(findings[0])]
    verdict = worst([f.verdict for f in findings] or [Verdict.PASS if trials else Verdict.SKIP])
    return Outcome(RULE.code, verdict, probe.case, tuple(findings), note=note)


def _must_raise(trials: tuple[ConsistencyPair, ...], probe: Probe) -> Outcome:
    kept = [t for t in trials if not isinstance(t.got, DerivativeError)]
    for trial in kept:
        if not any(t.mode == trial.mode and isinstance(t.got, DerivativeError) for t in trials):
            text = f'{MODE_NAMES[trial.mode or "fwd"]} applied twice raises nothing, declared is order2="error"'
            finding = Finding(RULE.code, Verdict.FAIL, text, case=probe.case, mode=trial.mode, order=2)
            return Outcome(RULE.code, Verdict.FAIL, probe.case, (finding,))
    return Outcome(RULE.code, Verdict.PASS if trials else Verdict.SKIP, probe.case, note="raises, as declared")


def _finding(trial: ConsistencyPair, order2: str | None, probe: Probe) -> Finding | None:
    mode = MODE_NAMES[trial.mode or "fwd"]
    if isinstance(trial.got, DerivativeError):
        if order2 is None or trial.got.missing:
            return None
        return Finding(
            RULE.code, Verdict.FAIL, f"{mode} applied twice raises {trial.got.message}", case=probe.case,
            mode=trial.mode, order=2, path=trial.got.path or None, line=trial.got.line or None,
            help='declare order2="error" if that is meant',
        )  # fmt: skip
    wanted = np.where(np.isnan(trial.expected), trial.got, trial.expected)
    wrong = replace(trial, expected=wanted).wrong(ADJOINT)
    if not wrong.any():
        return None
    k = int(np.argmax(wrong))
    got, ought = float(trial.got[k]), float(wanted[k])
    given, meant = pair(got, ought)
    lost = trial.name == "the rule's value"
    text = (
        f"the rule is lost at second order: {mode} of the value it returns gives {given}, not {meant}"
        if lost
        else f'{mode} of the derivative gives {given}, declared is {meant} (order2="{order2}")'
    )
    return Finding(
        RULE.code, Verdict.FAIL, text, case=probe.case, mode=trial.mode, order=2, claimed=got, measured=ought,
        help=_LOST if lost else "the second derivative is that of the rule's formula; stop_gradient makes it zero",
    )  # fmt: skip


def _advised(finding: Finding) -> Finding:
    """Make a finding advice: a claim without ``order2=`` covers first derivatives only."""
    text = "the rule is lost at second order: its value has no rule any more (order2= would claim it)"
    return replace(finding, verdict=Verdict.ADVICE, message=text)


def _undeclared(trials: tuple[ConsistencyPair, ...]) -> str:
    made = [t.got for t in trials if t.name == "the derivative" and not isinstance(t.got, DerivativeError)]
    raised = any(isinstance(t.got, DerivativeError) for t in trials)
    word = "raises" if raised else "is zero" if all((got == 0).all() for got in made) else "is not zero"
    return f"the second derivative {word}; order2= would declare it"
