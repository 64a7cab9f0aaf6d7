"""Is the reverse-mode derivative the forward-mode one, and what finite differences measure?"""

from __future__ import annotations

import dataclasses

import numpy as np

from gradhook.comparison.compare import compare
from gradhook.comparison.judge import ADJOINT, Array
from gradhook.comparison.messages import number
from gradhook.comparison.probe import Fault, Probe, Study
from gradhook.model import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule("GRD102", "reverse-mode", "Is the reverse-mode derivative the adjoint of forward mode, and right?")
APPLIES = frozenset({ClaimKind.EXACT})


def run(probe: Probe) -> Outcome:
    """Compare ``jax.vjp`` with differences; where both modes exist, also with forward mode at rounding level.

    ``<w, J v> = <J^T w, v>`` needs no differences, so it sees far smaller errors than they do.
    """
    study = probe.study()
    if isinstance(study, Fault) or "rev" not in study.claims:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="reverse mode was not claimed")
    outcome = compare(study, "rev", probe, RULE.code)
    if outcome.verdict is Verdict.PASS and (finding := _adjoint(study, probe)):
        return dataclasses.replace(outcome, verdict=Verdict.FAIL, findings=(finding,))
    return outcome


def _adjoint(study: Study, probe: Probe) -> Finding | None:
    forward, reverse = study.claims.get("fwd"), study.claims["rev"]
    if forward is None or isinstance(forward, Fault) or isinstance(reverse, Fault):
        return None
    with np.errstate(all="ignore"):
        projected = forward @ study.weights.T if len(study.weights) else forward
        size = _projected(forward, study)
        gap = np.abs(projected - reverse)
        allowed = ADJOINT * np.maximum(size, study.measured.scale[:, study.columns("rev")])
        wrong = (gap > allowed) & np.isfinite(gap)
        if wrong.any():  # an ill-conditioned function rounds more: both modes must differ by more than they wobble
            own = 16 * (probe.wobble((), "rev") + _projected(probe.wobble((), "fwd"), study))
            wrong &= gap > own
    return _finding(study, projected, reverse, gap / allowed, probe) if wrong.any() else None


def _projected(numbers: Array, study: Study) -> Array:
    """Magnitudes of outputs as magnitudes of the combinations that reverse mode pulls back."""
    return np.abs(numbers) @ np.abs(study.weights).T if len(study.weights) else np.abs(numbers)


def _finding(study: Study, forward: Array, reverse: Array, excess: Array, probe: Probe) -> Finding:
    place = np.unravel_index(np.nanargmax(np.where(np.isfinite(excess), excess, -1)), excess.shape)
    label = study.input_labels[int(place[0])]
    claimed, other = float(reverse[place]), float(forward[place])
    return Finding(
        RULE.code, Verdict.FAIL,
        f"reverse mode claims {number(claimed)} along {label}, forward mode {number(other)}: "
        "they are no adjoints of each other",
        case=probe.case, mode="rev", order=1, leaf=label.leaf, index=label.index, claimed=claimed, measured=other,
        tolerance=ADJOINT, help="both modes agree with differences, but not with each other to rounding: one of the "
        "two rules is slightly off",
    )  # fmt: skip
