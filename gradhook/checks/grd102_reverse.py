"""GRD102: the reverse-mode derivative is linear, adjoint to forward mode, and agrees with differences."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from gradhook.comparison.compare import compare_mode
from gradhook.comparison.judge import ADJOINT, TINY, Array
from gradhook.comparison.messages import Text
from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule("GRD102", "reverse-mode", "Is the reverse-mode derivative the adjoint of forward mode, and right?")
APPLIES = frozenset({ClaimKind.EXACT})

ROUNDOFFS = 4
"""Both modes may differ by so many times what random rounding moves either."""


def run(probe: Probe) -> Outcome:
    """Compare ``jax.vjp`` with differences and, at rounding level, with forward mode.

    ``<w, J v> = <J^T w, v>`` needs no differences, so it sees far smaller errors than they do.
    """
    comparison = probe.comparison()
    if isinstance(comparison, DerivativeError) or "rev" not in comparison.autodiff:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="reverse mode was not claimed")
    outcome = compare_mode(comparison, "rev", probe, RULE.code)
    if outcome.verdict is Verdict.PASS and (finding := _adjoint(comparison, probe) or _linear(comparison, probe)):
        return dataclasses.replace(outcome, verdict=Verdict.FAIL, findings=(finding,))
    return outcome


def _adjoint(comparison: DerivativeComparison, probe: Probe) -> Finding | None:
    """Forward and reverse mode, element by element: they sum the same terms in another order."""
    forward, reverse = comparison.autodiff.get("fwd"), comparison.autodiff["rev"]
    if forward is None or isinstance(forward, DerivativeError) or isinstance(reverse, DerivativeError):
        return None
    with np.errstate(all="ignore"):
        projected = forward @ comparison.weights.T if len(comparison.weights) else forward
        allowed = ADJOINT * np.maximum(_projected(forward, comparison), np.abs(reverse))
    return _differing(comparison, projected, reverse, allowed, probe, _not_adjoint)


def _linear(comparison: DerivativeComparison, probe: Probe) -> Finding | None:
    """The pullback of a combination of cotangents is that combination of their pullbacks."""
    reverse, pulled = comparison.autodiff["rev"], comparison.pullbacks
    if pulled is None or isinstance(reverse, DerivativeError) or probe.rule_probe() is not None:
        return None  # GRD203 checks this for a target that is a rule itself
    with np.errstate(all="ignore"):
        expected = reverse @ pulled.mix.T
        allowed = ADJOINT * (np.abs(reverse) @ np.abs(pulled.mix).T)
    return _differing(comparison, expected, pulled.autodiff, allowed, probe, _not_linear)


def _differing(
    comparison: DerivativeComparison,
    expected: Array,
    reverse: Array,
    allowed: Array,
    probe: Probe,
    text: Callable[[str, str, str], Text],
) -> Finding | None:
    with np.errstate(all="ignore"):
        gap = np.abs(expected - reverse)
        wrong = (gap > allowed) & np.isfinite(gap)
    if wrong.any():  # an ill-conditioned function rounds more, and a loop stops at its tolerance
        wrong &= gap > 16 * _rounding_sensitivity(comparison, reverse, probe) + _iteration_error(
            comparison, reverse, probe
        ) * np.abs(expected)
    if wrong.any():
        wrong &= gap > ROUNDOFFS * _roundoff(comparison, reverse, probe)
    if not wrong.any():
        return None
    single = wrong & np.array([not label.moves_many for label in comparison.input_labels])[:, None]
    excess = np.where(single if single.any() else wrong, gap / np.maximum(allowed, TINY), -1.0)
    place = np.unravel_index(int(np.argmax(excess)), excess.shape)
    label = comparison.input_labels[int(place[0])]
    got, other = float(reverse[place]), float(expected[place])
    message, help = text(*pair(got, other), str(label))
    return Finding(
        RULE.code, Verdict.FAIL, message, case=probe.case, mode="rev", order=1, leaf=label.leaf, index=label.index,
        claimed=got, measured=other, tolerance=ADJOINT, help=help,
    )  # fmt: skip


def _roundoff(comparison: DerivativeComparison, reverse: Array, probe: Probe) -> Array | float:
    """The rounding of the terms of both sides, for each number of ``reverse``."""
    own = probe.roundoff((), "rev")
    if comparison.pullbacks is not None and reverse is comparison.pullbacks.autodiff:
        return np.asarray(2 * own @ np.abs(comparison.pullbacks.mix).T) if isinstance(own, np.ndarray) else own
    other = probe.roundoff((), "fwd")
    return own + (_projected(other, comparison) if isinstance(other, np.ndarray) else other)


def _iteration_error(comparison: DerivativeComparison, reverse: Array, probe: Probe) -> Array:
    """The error that iterations account for in each number of ``reverse``."""
    own = probe.iteration_error(comparison, "rev")
    if comparison.pullbacks is not None and reverse is comparison.pullbacks.autodiff:
        return np.asarray(own.max(axis=-1, keepdims=True))
    return own


def _rounding_sensitivity(comparison: DerivativeComparison, reverse: Array, probe: Probe) -> Array:
    """The change of both sides when the point is rounded, for each number of ``reverse``."""
    own = probe.rounding_sensitivity((), "rev")
    if comparison.pullbacks is not None and reverse is comparison.pullbacks.autodiff:
        return np.asarray(own @ np.abs(comparison.pullbacks.mix).T) if own.ndim > 1 else own
    return np.asarray(own + _projected(probe.rounding_sensitivity((), "fwd"), comparison))


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


def _projected(numbers: Array, comparison: DerivativeComparison) -> Array:
    """Magnitudes of outputs as magnitudes of the combinations that reverse mode pulls back."""
    return np.abs(numbers) @ np.abs(comparison.weights).T if len(comparison.weights) else np.abs(numbers)
