"""Is the derivative of a surrogate the declared one, in each mode?"""

from __future__ import annotations

import numpy as np

from gradhook.judge import SURROGATE, Array, Flags
from gradhook.messages import MODE_NAMES, number
from gradhook.model import ClaimKind, Finding, Mode, Outcome, Rule, Verdict, worst
from gradhook.probe import Contract, Fault, Probe

RULE = Rule("GRD202", "surrogate-derivative", "Is a surrogate's derivative the declared one, in each mode?")
APPLIES = frozenset({ClaimKind.SURROGATE})


def run(probe: Probe) -> Outcome:
    """Compare every mode with ``derivative_of``, ``rule`` or ``tangent=`` at rounding level; no differences involved."""
    contract = probe.contract()
    if contract is None or np.isnan(contract.declared).all():
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="no derivative was declared")
    outcomes = [_mode(contract, mode, probe) for mode in contract.claims]
    answered = [o for o in outcomes if o.verdict is not Verdict.SKIP]
    notes = "; ".join(o.note for o in outcomes if o.note)
    findings = tuple(f for o in outcomes for f in o.findings)
    return Outcome(RULE.code, worst([o.verdict for o in answered]), probe.case, findings, SURROGATE, notes)


def _mode(contract: Contract, mode: Mode, probe: Probe) -> Outcome:
    claim = contract.claims[mode]
    if isinstance(claim, Fault):
        if claim.missing and probe.modes is None:
            return Outcome(RULE.code, Verdict.SKIP, probe.case, note=f"{MODE_NAMES[mode]}: {claim.message}")
        text = f"{MODE_NAMES[mode]} raises {claim.message}" if not claim.missing else claim.message
        finding = Finding(
            RULE.code, Verdict.FAIL, text, case=probe.case, mode=mode, path=claim.path or None, line=claim.line or None
        )
        return Outcome(RULE.code, Verdict.FAIL, probe.case, (finding,))
    combined = mode == "rev" and len(contract.weights) > 0
    declared = contract.declared @ contract.weights.T if combined else contract.declared
    wrong = ~_as_declared(claim, declared)
    findings = (_finding(contract, mode, claim, declared, wrong, probe),) if wrong.any() else ()
    return Outcome(RULE.code, Verdict.FAIL if findings else Verdict.PASS, probe.case, findings)


def _as_declared(claim: Array, declared: Array) -> Flags:
    """Equal up to rounding; a declared formula may round differently, so the largest entry sets the scale."""
    with np.errstate(invalid="ignore"):
        finite = np.abs(declared[np.isfinite(declared)])
        near = np.abs(claim - declared) <= SURROGATE * np.maximum(np.abs(declared), finite.max(initial=0.0))
    return np.asarray(near | (claim == declared) | np.isnan(declared))


def _finding(contract: Contract, mode: Mode, claim: Array, declared: Array, wrong: Flags, probe: Probe) -> Finding:
    with np.errstate(invalid="ignore"):
        gap = np.where(wrong, np.nan_to_num(np.abs(claim - declared), nan=np.inf), -1.0)
    d, o = (int(i) for i in np.unravel_index(int(np.argmax(gap)), gap.shape))
    label, got, wanted = contract.input_labels[d], float(claim[d, o]), float(declared[d, o])
    more = f" (and {int(wrong.sum()) - 1} more)" if wrong.sum() > 1 else ""
    return Finding(
        RULE.code, Verdict.FAIL,
        f"the surrogate's {MODE_NAMES[mode]} gives {number(got)} along {label}, declared is {number(wanted)}{more}",
        case=probe.case, mode=mode, order=1, leaf=label.leaf, index=label.index, output=str(contract.output_labels[o])
        if not (mode == "rev" and len(contract.weights)) else None, claimed=got, measured=wanted, tolerance=SURROGATE,
        help="the rule and its declaration differ: look at masks and bounds (open or closed), signs and constant factors",
    )  # fmt: skip
