"""Check that the reverse-mode derivative is linear, adjoint to forward mode, and what differences measure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from gradhook.comparison.compare import compare
from gradhook.comparison.judge import ADJOINT, TINY, Array
from gradhook.comparison.messages import Text
from gradhook.comparison.probe import Fault, Probe, Study
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule("GRD102", "reverse-mode", "Is the reverse-mode derivative the adjoint of forward mode, and right?")
APPLIES = frozenset({ClaimKind.EXACT})

ROUNDOFFS = 4
"""Both modes may differ by so many times what random rounding moves either."""


def run(probe: Probe) -> Outcome:
    """Compare ``jax.vjp`` with differences; where both modes exist, also with forward mode at rounding level.

    ``<w, J v> = <J^T w, v>`` needs no differences, so it sees far smaller errors than they do.
    """
    study = probe.study()
    if isinstance(study, Fault) or "rev" not in study.claims:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="reverse mode was not claimed")
    outcome = compare(study, "rev", probe, RULE.code)
    if outcome.verdict is Verdict.PASS and (finding := _adjoint(study, probe) or _linear(study, probe)):
        return dataclasses.replace(outcome, verdict=Verdict.FAIL, findings=(finding,))
    return outcome


def _adjoint(study: Study, probe: Probe) -> Finding | None:
    """Forward and reverse mode, element by element: they sum the same terms in another order."""
    forward, reverse = study.claims.get("fwd"), study.claims["rev"]
    if forward is None or isinstance(forward, Fault) or isinstance(reverse, Fault):
        return None
    with np.errstate(all="ignore"):
        projected = forward @ study.weights.T if len(study.weights) else forward
        allowed = ADJOINT * np.maximum(_projected(forward, study), np.abs(reverse))
    return _differing(study, projected, reverse, allowed, probe, _not_adjoint)


def _linear(study: Study, probe: Probe) -> Finding | None:
    """The pullback of a combination of cotangents is that combination of their pullbacks."""
    reverse, pulled = study.claims["rev"], study.pullbacks
    if pulled is None or isinstance(reverse, Fault) or probe.rulebook() is not None:
        return None  # of a target that is a rule itself, GRD203 asks it
    with np.errstate(all="ignore"):
        expected = reverse @ pulled.mix.T
        allowed = ADJOINT * (np.abs(reverse) @ np.abs(pulled.mix).T)
    return _differing(study, expected, pulled.claims, allowed, probe, _not_linear)


def _differing(
    study: Study, expected: Array, reverse: Array, allowed: Array, probe: Probe, text: Callable[[str, str, str], Text]
) -> Finding | None:
    with np.errstate(all="ignore"):
        gap = np.abs(expected - reverse)
        wrong = (gap > allowed) & np.isfinite(gap)
    if wrong.any():  # an ill-conditioned function rounds more, and a loop stops at its tolerance
        wrong &= gap > 16 * _wobble(study, reverse, probe) + _left_open(study, reverse, probe) * np.abs(expected)
    if wrong.any():
        wrong &= gap > ROUNDOFFS * _roundoff(study, reverse, probe)
    if not wrong.any():
        return None
    single = wrong & np.array([not label.moves_many for label in study.input_labels])[:, None]
    excess = np.where(single if single.any() else wrong, gap / np.maximum(allowed, TINY), -1.0)
    place = np.unravel_index(int(np.argmax(excess)), excess.shape)
    label = study.input_labels[int(place[0])]
    got, other = float(reverse[place]), float(expected[place])
    message, help = text(*pair(got, other), str(label))
    return Finding(
        RULE.code, Verdict.FAIL, message, case=probe.case, mode="rev", order=1, leaf=label.leaf, index=label.index,
        claimed=got, measured=other, tolerance=ADJOINT, help=help,
    )  # fmt: skip


def _roundoff(study: Study, reverse: Array, probe: Probe) -> Array | float:
    """The rounding of the terms of both sides, for each number of ``reverse``."""
    own = probe.roundoff((), "rev")
    if study.pullbacks is not None and reverse is study.pullbacks.claims:
        return np.asarray(2 * own @ np.abs(study.pullbacks.mix).T) if isinstance(own, np.ndarray) else own
    other = probe.roundoff((), "fwd")
    return own + (_projected(other, study) if isinstance(other, np.ndarray) else other)


def _left_open(study: Study, reverse: Array, probe: Probe) -> Array:
    """What iterations leave open of each number of ``reverse``; of a combination, as much as of any of its parts."""
    own = probe.left_open(study, "rev")
    if study.pullbacks is not None and reverse is study.pullbacks.claims:
        return np.asarray(own.max(axis=-1, keepdims=True))
    return own


def _wobble(study: Study, reverse: Array, probe: Probe) -> Array:
    """How far both sides move when the point is rounded, for each number of ``reverse``."""
    own = probe.wobble((), "rev")
    if study.pullbacks is not None and reverse is study.pullbacks.claims:
        return np.asarray(own @ np.abs(study.pullbacks.mix).T) if own.ndim > 1 else own
    return np.asarray(own + _projected(probe.wobble((), "fwd"), study))


def _not_adjoint(got: str, other: str, label: str) -> Text:
    return (
        f"reverse mode gives {got} along {label}, forward mode {other}: they are not adjoint",
        "both modes agree with differences, but not with each other to rounding: one of the two rules is slightly off",
    )


def _not_linear(got: str, other: str, label: str) -> Text:
    return (
        f"reverse mode is not linear in the cotangent: along {label} a combination of cotangents gives {got}, the "
        f"combination of what they give is {other}",
        "a rule inside clips, normalizes, casts or takes the absolute value of its cotangent: only multiply it",
    )


def _projected(numbers: Array, study: Study) -> Array:
    """Magnitudes of outputs as magnitudes of the combinations that reverse mode pulls back."""
    return np.abs(numbers) @ np.abs(study.weights).T if len(study.weights) else np.abs(numbers)
