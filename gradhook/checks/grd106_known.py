"""Are value and derivative what the author gives independently?"""

from __future__ import annotations

import numpy as np

from gradhook.comparison.judge import Array, Flags
from gradhook.comparison.messages import MODE_NAMES, number
from gradhook.comparison.probe import Fault, Label, Probe, Study
from gradhook.model import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule("GRD106", "known-values", "Are value and derivative the ones given with the case or by exact=?")
APPLIES = frozenset({ClaimKind.EXACT, ClaimKind.SURROGATE})


def run(probe: Probe) -> Outcome:
    """Compare the value with ``value=``, and every mode with ``derivative=`` or ``exact=``, element by element."""
    known = probe.known()
    if known.value is None and known.derivative is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="no value or derivative was given")
    study = probe.study()
    if isinstance(study, Fault):
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=study.message)
    findings = []
    if known.value is not None:
        findings += _value(known.value, study, probe)
    if known.derivative is not None:
        findings += _derivative(known.derivative, study, probe)
    return Outcome(RULE.code, worst([f.verdict for f in findings] or [Verdict.PASS]), probe.case, tuple(findings))


def _value(known: Array, study: Study, probe: Probe) -> list[Finding]:
    value = study.measured.centre[: len(study.output_labels)]
    wrong = ~_close(value, known, probe)
    if not wrong.any():
        return []
    k = int(np.argmax(wrong))
    label = study.output_labels[k]
    return [
        _finding(f"the value of {label} is {number(value[k])}, given was {number(known[k])}", value[k], known[k], probe)
    ]


def _derivative(known: Array, study: Study, probe: Probe) -> list[Finding]:
    findings = []
    given = known
    for mode, claim in study.claims.items():
        if isinstance(claim, Fault):
            continue
        projected = given @ study.weights.T if mode == "rev" and len(study.weights) else given
        wrong = ~_close(claim, projected, probe)
        if wrong.any():
            d, o = (int(i) for i in np.argwhere(wrong)[0])
            numbers = float(claim[d, o]), float(projected[d, o])
            text = f"{MODE_NAMES[mode]} claims {number(numbers[0])} for d {study.output_labels[o]} / d "
            text += f"{study.input_labels[d]}, given was {number(numbers[1])}"
            findings.append(_finding(text, *numbers, probe, study.input_labels[d], mode))
    return findings


def _close(claimed: Array, given: Array, probe: Probe) -> Flags:
    with np.errstate(invalid="ignore"):
        # A number given as 0 or 1 is a rounded one, like any other.
        size = max(1.0, float(np.abs(given).max(initial=0.0)))
        near = np.abs(claimed - given) <= probe.tolerance.around(given) + 1e-12 * size
    return np.asarray(near | (claimed == given))


def _finding(
    text: str, claimed: float, given: float, probe: Probe, label: Label | None = None, mode: str | None = None
) -> Finding:
    return Finding(
        RULE.code, Verdict.FAIL, text, case=probe.case, mode=mode, leaf=label.leaf if label else None,
        index=label.index if label else None, claimed=float(claimed), measured=float(given),
        help="one of the two is wrong: the function, or what was given for it",
    )  # fmt: skip
