"""Which accusations are none, for reasons that the numbers compared do not show?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradhook.comparison.judge import Array, Estimate, Flags, Judgement, Tolerance, shape_number, torn_outputs
from gradhook.comparison.probe import Probe, Study
from gradhook.model import Mode, Shape, Verdict


def within_iteration(study: Study, mode: Mode, claim: Array, judged: Judgement, probe: Probe) -> Judgement:
    """No accusation for less of an element than an iteration on its way leaves open, unless the author says how much.

    An element without an iteration on its way is as exact as any.
    """
    measured = study.measured_by(mode)
    failed = (judged.verdict == Verdict.FAIL) & (measured.shape == shape_number(Shape.SMOOTH))
    if not failed.any() or probe.tolerance != Tolerance():
        return judged
    with np.errstate(all="ignore"):
        allowed = probe.left_open(study, mode) * np.abs(measured.value)
        near = failed & (np.abs(claim - measured.value) <= allowed)
    return replace(
        judged,
        verdict=np.where(near, Verdict.UNDECIDED, judged.verdict),
        code=np.where(near, "GRD407", judged.code),
    )


def soften(study: Study, mode: Mode, claim: Array, measured: Estimate, judged: Judgement, probe: Probe) -> Judgement:
    """No accusation where JAX's own derivative is noisy: it must be off by more than it wobbles under rounding."""
    failed = judged.verdict == Verdict.FAIL
    if not failed.any():
        return judged
    accused = failed & (measured.shape == shape_number(Shape.SMOOTH))
    with np.errstate(all="ignore"):
        gap, size = np.abs(claim - measured.value), np.maximum(np.abs(measured.value), measured.scale)
        # A claim that is all wobble is a wrong gradient, not a noisy one.
        noisy = accused & (gap <= 16 * probe.wobble(study.path, mode)) & (gap <= 1e-3 * size)
    noisy |= failed & _answered(study, claim, judged)
    torn = accused & ~noisy & torn_outputs(study.directions, measured)[None, :]
    return replace(
        judged,
        verdict=np.where(noisy | torn, Verdict.UNDECIDED, judged.verdict),
        code=np.where(noisy, "GRD405", np.where(torn, "GRD401", judged.code)),
    )


def _answered(study: Study, claim: Array, judged: Judgement) -> Flags:
    """Directions that move everything, where every coordinate passes and the claims add up: nothing is left to doubt.

    Differences may fail along such a direction where scales are far apart; only a claim that is not linear is new.
    """
    everything = np.array([label.leaf == "direction" for label in study.input_labels])
    if everything.all() or study.directions[~everything].shape[0] != study.directions.shape[1]:
        return np.zeros(claim.shape, dtype=bool)
    along = study.directions[everything] @ np.linalg.inv(study.directions[~everything])
    sums, sizes = along @ claim[~everything], np.abs(along) @ np.abs(claim[~everything])
    answered = np.zeros(claim.shape, dtype=bool)
    passed = (judged.verdict[~everything] == Verdict.PASS).all(axis=0)
    answered[everything] = (np.abs(claim[everything] - sums) <= 1e-9 * sizes) & passed[None, :]
    return answered
