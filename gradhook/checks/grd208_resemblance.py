"""GRD208: find exact claims about surrogates, and surrogates whose rule is exact."""

from __future__ import annotations

import math

import numpy as np

from gradhook.comparison.compare import judge_claim
from gradhook.comparison.judge import Array
from gradhook.comparison.messages import TRANSFORM_NAMES
from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Probe
from gradhook.comparison.surrogate_probe import SurrogateProbe
from gradhook.model.digits import number
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict

RULE = Rule(
    "GRD208", "looks-like-surrogate", "Is a claim of the kind that its function looks like, exact or surrogate?"
)
APPLIES = frozenset({ClaimKind.EXACT, ClaimKind.SURROGATE})


def run(probe: Probe) -> Outcome:
    """Report flat values under an exact claim, and surrogates that equal the exact derivative.

    The latter is right all the same, so that it is advice.

    For a surrogate the note states its bias: how far the rule is from the true derivative, where one exists.
    """
    rule_probe = probe.rule_probe()
    if probe.is_surrogate:
        return _surrogate(rule_probe, probe) if rule_probe else Outcome(RULE.code, Verdict.SKIP, probe.case)
    comparison = probe.comparison()
    if isinstance(comparison, DerivativeError):
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=comparison.message)
    found = [
        f
        for mode, claim in comparison.autodiff.items()
        if not isinstance(claim, DerivativeError)
        if (f := _flat(comparison, mode, claim, probe))
    ]
    return Outcome(RULE.code, Verdict.FAIL if found else Verdict.PASS, probe.case, tuple(found[:1]))


def _surrogate(rule_probe: SurrogateProbe, probe: Probe) -> Outcome:
    sweeps = rule_probe.sweeps()
    if sweeps and all(sweep.coincides for sweep in sweeps):
        finding = Finding(
            RULE.code, Verdict.ADVICE,
            "no surrogate: wherever it was looked at, the rule is the exact derivative of the value",
            case=probe.case, help="claim it with @gradcheck: then finite differences, which see more, are the judge",
        )  # fmt: skip
        return Outcome(RULE.code, Verdict.PASS, probe.case, (finding,))
    biases = [sweep.bias for sweep in sweeps if not math.isnan(sweep.bias)]
    if not biases:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="bias: no true derivative was found to compare with")
    return Outcome(
        RULE.code,
        Verdict.PASS,
        probe.case,
        note=f"bias: differs from the true derivative by up to {number(max(biases))}",
    )


def _flat(comparison: DerivativeComparison, mode: Mode, claim: Array, probe: Probe) -> Finding | None:
    """The first element with a derivative although its value is constant in its surroundings."""
    answer = judge_claim(comparison, mode, claim, probe)
    there = np.isfinite(comparison.measured_by(mode).centre)[None, :] & np.isfinite(claim)
    with np.errstate(invalid="ignore"):
        flat = there & (answer.verdict == Verdict.FAIL) & (answer.reference == 0) & (np.abs(claim) > 1e-6)
    moves = (there & ~flat & (np.abs(claim) > 0)).any()
    if not flat.any() or moves:
        return None
    d, o = (int(i) for i in np.argwhere(flat)[0])
    label = comparison.input_labels[d]
    return Finding(
        RULE.code, Verdict.FAIL,
        f"looks like a surrogate: the value is flat along {label}, "
        f"where JAX gives {number(float(claim[d, o]))} ({TRANSFORM_NAMES[mode]})",
        case=probe.case, mode=mode, order=1, leaf=label.leaf, index=label.index, claimed=float(claim[d, o]),
        measured=0.0,
        help="if the derivative differs on purpose, declare it: @surrogate(forward=…, derivative_of=…)",
    )  # fmt: skip
