"""GRD205: the derivative is the same inside every transformation and for every subset of arguments."""

from __future__ import annotations

from dataclasses import replace

from gradhook.comparison.agreement import farthest
from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.probe import ConsistencyPair, DerivativeError, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule("GRD205", "rule-composition", "Is a custom rule's derivative the same inside every transformation of JAX?")
APPLIES = frozenset(ClaimKind)
SHOWN = 4


def run(probe: Probe) -> Outcome:
    """Compare compositions with jit, vmap, scan, while_loop, cond, checkpoint, linearize and nested calls.

    Also every subset of the arguments. The reference is the plain derivative at the same points; other checks judge it.
    """
    rule_probe = probe.rule_probe()
    if rule_probe is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="the function is no custom rule")
    if rule_probe.reason:
        return _untraceable(rule_probe.reason, probe)
    trials = [t for t in rule_probe.composition() if not (isinstance(t.got, DerivativeError) and t.got.missing)]
    found = [finding for trial in _once(trials) if (finding := _finding(trial, probe))]
    findings = [finding for finding in found if finding.verdict is Verdict.FAIL] or found[:1]
    note = f"asked in {len(trials)} compositions" if not findings else ", ".join(t.name for t in trials if _is_wrong(t))
    verdict = worst([finding.verdict for finding in findings] or [Verdict.PASS])
    return Outcome(RULE.code, verdict, probe.case, tuple(findings[:SHOWN]), SURROGATE, note)


def _untraceable(reason: str, probe: Probe) -> Outcome:
    """A surrogate is meant for training; an exact rule may be for eager use."""
    if not probe.is_surrogate or probe.surrogate_values() is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=reason)
    finding = Finding(
        RULE.code, Verdict.FAIL, f"under jit the surrogate cannot be traced: {reason}", case=probe.case,
        help="custom_jvp and custom_vjp make arrays of defaults and options too: wrap a function of the array alone, "
        "or name the others in nondiff_argnums",
    )  # fmt: skip
    return Outcome(RULE.code, Verdict.FAIL, probe.case, (finding,))


def _once(trials: list[ConsistencyPair]) -> list[ConsistencyPair]:
    """Merge the pairs that raise the same error: it is one fault."""
    raising: dict[str, list[ConsistencyPair]] = {}
    for trial in trials:
        if isinstance(trial.got, DerivativeError):
            raising.setdefault(trial.got.message, []).append(trial)
    merged = [replace(same[0], name=", ".join(t.name for t in same)) for same in raising.values()]
    return [*merged, *(trial for trial in trials if not isinstance(trial.got, DerivativeError))]


def _is_wrong(trial: ConsistencyPair) -> bool:
    return isinstance(trial.got, DerivativeError) or bool(trial.wrong(SURROGATE).any())


def _finding(trial: ConsistencyPair, probe: Probe) -> Finding | None:
    if not _is_wrong(trial):
        return None
    what = "value" if trial.mode is None else "derivative"
    if isinstance(trial.got, DerivativeError):
        if all("vmap" in name for name in trial.name.split(", ")):
            return _unmapped(trial, trial.got, probe)
        text = f"{trial.name} raises {trial.got.message}"
        return Finding(
            RULE.code, Verdict.FAIL, text, case=probe.case, mode=trial.mode, path=trial.got.path or None,
            line=trial.got.line or None, help=f"the plain {what} exists, so those of the compositions must, too",
        )  # fmt: skip
    place = farthest(trial.got, trial.expected, trial.wrong(SURROGATE))
    got, wanted = float(trial.got[place]), float(trial.expected[place])
    one, other = pair(got, wanted)
    return Finding(
        RULE.code, Verdict.FAIL, f"{trial.name} gives the {what} {one}, called alone it is {other}",
        case=probe.case, mode=trial.mode, order=1, claimed=got, measured=wanted, tolerance=SURROGATE,
        help="the rule is lost or changed on the way: batching rules, symbolic zeros, calls of the plain function",
    )  # fmt: skip


def _unmapped(trial: ConsistencyPair, fault: DerivativeError, probe: Probe) -> Finding:
    """Advice only: no claim includes that a function can be mapped."""
    what = "cannot be mapped" if trial.mode is None else "not differentiable under vmap"
    text = f"{what}: {trial.name.partition(', ')[0]} raises {fault.message.partition(':')[0]}"
    return Finding(
        RULE.code, Verdict.ADVICE, text, case=probe.case,
        mode=trial.mode, path=fault.path or None, line=fault.line or None, help=fault.message,
    )  # fmt: skip
