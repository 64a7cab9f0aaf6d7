"""GRD411: wrong derivatives would have failed; run with ``--self-test``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradhook.comparison.judge import Array, judge
from gradhook.comparison.messages import MODE_NAMES
from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Probe
from gradhook.model.digits import bar
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict, worst

RULE = Rule("GRD411", "self-test", "Would the check have failed if the derivative were a little wrong?")
APPLIES = frozenset({ClaimKind.EXACT})
STEPS = 10
"""A fault of so many tolerances must show."""


def run(probe: Probe) -> Outcome:
    """Make every derivative wrong in several ways, and report those that the judge does not fail.

    Scaled by 1 ± ten tolerances, with its sign flipped, with one argument's part dropped, and with one element off. A
    claim that stays a pass when it is wrong was no check.
    """
    comparison = probe.comparison()
    if not probe.self_test or isinstance(comparison, DerivativeError):
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="asked with --self-test only")
    missed = [
        f
        for mode, claim in comparison.autodiff.items()
        if not isinstance(claim, DerivativeError)
        for f in _missed(comparison, mode, probe)
    ]
    return Outcome(RULE.code, worst([f.verdict for f in missed] or [Verdict.PASS]), probe.case, tuple(missed))


def _missed(comparison: DerivativeComparison, mode: Mode, probe: Probe) -> list[Finding]:
    claim, measured = comparison.autodiff[mode], comparison.measured_by(mode)
    assert not isinstance(claim, DerivativeError)
    if (judge(claim, measured, probe.tolerance, probe.kink).verdict == Verdict.FAIL).any():
        return []  # it fails already
    names = [
        name
        for name, wrong in _mutants(comparison, claim, STEPS * probe.tolerance.rtol)
        if not np.array_equal(wrong, claim, equal_nan=True)
        and not (judge(wrong, measured, probe.tolerance, probe.kink).verdict == Verdict.FAIL).any()
    ]
    if not names:
        return []
    text = f"self-test: {MODE_NAMES[mode]} would still not fail with {'; with '.join(names)}"
    help = "the differences are too coarse here: add a case of ordinary size, or state the rtol that you need"
    return [Finding(RULE.code, Verdict.UNDECIDED, text, case=probe.case, mode=mode, order=1, help=help)]


def _mutants(comparison: DerivativeComparison, claim: Array, fault: float) -> Iterator[tuple[str, Array]]:
    yield f"every element larger by {bar(fault)}", claim * (1 + fault)
    yield f"every element smaller by {bar(fault)}", claim * (1 - fault)
    yield "its sign flipped", -claim
    for leaf in dict.fromkeys(label.leaf for label in comparison.input_labels if not label.is_direction):
        dropped = np.array([label.leaf == leaf for label in comparison.input_labels])[:, None]
        yield f"the part of {leaf} dropped", np.where(dropped, 0.0, claim)
    finite = np.where(np.isfinite(claim), np.abs(claim), -1.0)
    if finite.size:
        one = claim.copy()
        one[np.unravel_index(int(np.argmax(finite)), finite.shape)] *= 1 + fault
        yield f"one element larger by {bar(fault)}", one
