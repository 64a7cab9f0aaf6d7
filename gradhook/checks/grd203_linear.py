"""GRD203: a custom rule is linear in the tangent, so that reverse mode exists and is its adjoint."""

from __future__ import annotations

from gradhook.comparison.agreement import farthest
from gradhook.comparison.judge import ADJOINT, SURROGATE
from gradhook.comparison.messages import MODE_NAMES
from gradhook.comparison.probe import ConsistencyPair, DerivativeError, Probe
from gradhook.model.digits import number, pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule("GRD203", "rule-linear", "Is a custom rule linear in the tangent, and reverse mode its adjoint?")
APPLIES = frozenset(ClaimKind)
_WORDS = {"fwd": "tangent", "rev": "cotangent"}
_UNTRANSPOSED = "a primitive has no reverse rule"
_HELP = (
    "a derivative is linear: use the tangent only in sums and in products with values that do not depend on it "
    "(no constant added, no clip, abs or where on the tangent itself)"
)


def run(probe: Probe) -> Outcome:
    """Differentiate along zero, multiples and a sum; then compare <w, Jv> with <J^T w, v>."""
    rule_probe = probe.rule_probe()
    if rule_probe is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="the function is no custom rule")
    trials = rule_probe.linearity()
    found = [finding for trial in trials if (finding := _finding(trial, probe))]
    missing = [t.got.message for t in trials if isinstance(t.got, DerivativeError) and t.got.missing]
    if len(missing) == len(trials) and not found:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="; ".join(missing))
    return Outcome(
        RULE.code, Verdict.FAIL if found else Verdict.PASS, probe.case, tuple(_first_of_each(found)), SURROGATE
    )


def _first_of_each(findings: list[Finding]) -> list[Finding]:
    """One finding for each mode: what is not homogeneous is not additive either."""
    return list({finding.mode: finding for finding in reversed(findings)}.values())[::-1]


def _finding(trial: ConsistencyPair, probe: Probe) -> Finding | None:
    if isinstance(trial.got, DerivativeError):
        by_design = trial.got.missing and trial.got.message != _UNTRANSPOSED
        return None if by_design else _raised(trial, trial.got, probe)
    wrong = trial.wrong(ADJOINT if trial.mode is None else SURROGATE)
    if not wrong.any():
        return None
    place = farthest(trial.got, trial.expected, wrong)
    got, wanted = float(trial.got[place]), float(trial.expected[place])
    return Finding(
        RULE.code, Verdict.FAIL, _text(trial, got, wanted), case=probe.case, mode=trial.mode, order=1,
        claimed=got, measured=wanted, help=_HELP,
    )  # fmt: skip


def _text(trial: ConsistencyPair, got: float, wanted: float) -> str:
    one, other = pair(got, wanted)
    if trial.mode is None:
        return f"the modes are no adjoints: <J^T w, v> is {one}, <w, J v> is {other}"
    word, mode = _WORDS[trial.mode], MODE_NAMES[trial.mode]
    if trial.name == "zero":
        return (
            f"{mode} is not linear: a {word} of 0 gives {number(got)}; transposition drops such a constant in silence"
        )
    if trial.name.startswith("multiplied"):
        return f"{mode} is not linear: a {word} {trial.name} gives {one}, linear is {other}"
    return f"{mode} is not linear: {trial.name} {word}s gives {one}, their derivatives add up to {other}"


def _raised(trial: ConsistencyPair, fault: DerivativeError, probe: Probe) -> Finding | None:
    """Report that JAX cannot transpose a rule, which its own error message does not explain."""
    if trial.mode != "rev":
        return None  # GRD101 and GRD202 report what forward mode raises
    return Finding(
        RULE.code, Verdict.FAIL,
        f"reverse mode cannot be had from the rule: JAX fails to transpose it ({fault.message}), which it does where a "
        "tangent is used other than linearly or is dropped by stop_gradient",
        case=probe.case, mode="rev", order=1, path=fault.path or None, line=fault.line or None, help=_HELP,
    )  # fmt: skip
