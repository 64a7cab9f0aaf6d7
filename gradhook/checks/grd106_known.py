"""GRD106: compare value and derivative with those that the author gives."""

from __future__ import annotations

import numpy as np

from gradhook.comparison.judge import Array, Flags
from gradhook.comparison.messages import TRANSFORM_NAMES
from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Label, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict, worst

RULE = Rule("GRD106", "known-values", "Are value and derivative the ones given with the case or by exact=?")
APPLIES = frozenset({ClaimKind.EXACT, ClaimKind.SURROGATE})


def run(probe: Probe) -> Outcome:
    """Compare the value with ``value=``, and every mode with ``derivative=`` or ``exact=``."""
    known = probe.given_values()
    if known.value is None and known.derivative is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="no value or derivative was given")
    comparison = probe.comparison()
    if isinstance(comparison, DerivativeError):
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=comparison.message)
    findings = []
    if known.value is not None:
        findings += _value(known.value, comparison, probe)
    if known.derivative is not None and known.terms is not None:
        findings += _derivative(known.derivative, known.terms, comparison, probe)
    return Outcome(RULE.code, worst([f.verdict for f in findings] or [Verdict.PASS]), probe.case, tuple(findings))


def _value(known: Array, comparison: DerivativeComparison, probe: Probe) -> list[Finding]:
    value = comparison.measured.centre[: len(comparison.output_labels)]
    wrong = _wrong(value, known, np.abs(known), None, probe)
    if not wrong.any():
        return []
    k = int(np.argmax(wrong))
    text = ", given was ".join(pair(value[k], known[k]))
    return [_finding(f"the value of {comparison.output_labels[k]} is {text}", value[k], known[k], probe)]


def _derivative(known: Array, terms: Array, comparison: DerivativeComparison, probe: Probe) -> list[Finding]:
    findings = []
    for mode, claim in comparison.autodiff.items():
        if isinstance(claim, DerivativeError):
            continue
        combined = mode == "rev" and len(comparison.weights) > 0
        projected, size = (
            (known @ comparison.weights.T, terms @ np.abs(comparison.weights).T) if combined else (known, terms)
        )
        wrong = _wrong(claim, projected, size, mode, probe)
        if wrong.any():
            d, o = (int(i) for i in np.argwhere(wrong)[0])
            numbers = float(claim[d, o]), float(projected[d, o])
            claimed, given = pair(*numbers)
            label = comparison.input_labels[d]
            what = f"d {comparison.output_labels[o]} / d {label}"
            text = f"{what}: JAX gives {claimed} ({TRANSFORM_NAMES[mode]}), the given derivative is {given}"
            findings.append(_finding(text, *numbers, probe, label, mode))
    return findings


def _wrong(computed: Array, given: Array, terms: Array, mode: Mode | None, probe: Probe) -> Flags:
    """A mask of numbers beyond the tolerance of their terms and the rounding of the computation.

    So 0 may be given for the 1e-17 that is left of terms of size 1.
    """
    allowed = probe.tolerance.around(terms)
    near = _close(computed, given, allowed)
    return ~(near if near.all() else _close(computed, given, allowed + probe.roundoff((), mode, inputs=True)))


def _close(computed: Array, given: Array, allowed: Array) -> Flags:
    with np.errstate(invalid="ignore"):
        near = np.abs(computed - given) <= allowed
    return np.asarray(near | (computed == given))


def _finding(
    text: str, claimed: float, given: float, probe: Probe, label: Label | None = None, mode: str | None = None
) -> Finding:
    return Finding(
        RULE.code, Verdict.FAIL, text, case=probe.case, mode=mode, leaf=label.leaf if label else None,
        index=label.index if label else None, claimed=float(claimed), measured=float(given),
        help="one of the two is wrong: the function, or what was given for it",
    )  # fmt: skip
