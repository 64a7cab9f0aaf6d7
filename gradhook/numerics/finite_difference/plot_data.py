"""What did the differences behind an answer look like, as far as a picture of it needs them?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradhook.comparison.judge import shape_of
from gradhook.comparison.messages import symbol
from gradhook.comparison.probe import Fault, Label, Study
from gradhook.model.plots import Curve, Jacobian, Numbers
from gradhook.model.results import Mode, Smoothness
from gradhook.numerics.autodiff.derivatives import Laboratory
from gradhook.numerics.finite_difference.richardson import Array, Ladder

LARGEST = 400
"""Numbers of a Jacobian that is shown as a whole."""


@dataclass(frozen=True)
class Pictures:
    """The ladders that a laboratory has kept, in the form in which they travel."""

    laboratory: Laboratory

    def curve(self, path: tuple[Mode, ...], mode: Mode, place: tuple[int, int]) -> Curve | None:
        """The ladder behind one element of a comparison; of a step that its user chose there is none."""
        ladder, study = self.laboratory.ladders.get(path), self.laboratory.study(path)
        claim = study.claims[mode] if not isinstance(study, Fault) else study
        if ladder is None or isinstance(study, Fault) or isinstance(claim, Fault):
            return None
        measured = study.measured_by(mode)
        shape = shape_of(measured, place)
        return Curve(
            symbol(study, _output(study, mode, place[1]), study.input_labels[place[0]]), mode, float(claim[place]),
            float(measured.value[place]), float(measured.error[place]), shape.value,
            *_levels(ladder, place[0], place[1] + (study.columns(mode).start or 0), shape),
        )  # fmt: skip

    def jacobian(self, mode: Mode) -> Jacobian | None:
        """All first derivatives by single inputs, where they are few."""
        study = self.laboratory.study()
        claim = study.claims[mode] if not isinstance(study, Fault) else study
        if isinstance(study, Fault) or isinstance(claim, Fault) or (mode == "rev" and len(study.weights)):
            return None
        rows = [n for n, label in enumerate(study.input_labels) if label.leaf != "direction"]
        if not 0 < len(rows) * len(study.output_labels) <= LARGEST:
            return None
        measured = study.measured_by(mode)
        return Jacobian(
            mode, tuple(str(study.input_labels[n]) for n in rows), tuple(map(str, study.output_labels)),
            tuple(_numbers(claim[n]) for n in rows), tuple(_numbers(measured.value[n]) for n in rows),
        )  # fmt: skip


def _output(study: Study, mode: Mode, column: int) -> Label:
    if mode == "rev" and len(study.weights):
        return Label("combination", (column,))
    return study.output_labels[column]


def _levels(ladder: Ladder, row: int, column: int, shape: Smoothness) -> tuple[Numbers, ...]:
    """Steps, central differences, their noise and, where the function is not smooth, the one-sided differences."""
    with np.errstate(all="ignore"):
        central, left, right = (of[row, :, column] for of in (ladder.central, ladder.backward, ladder.forward))
        noise = ladder.noise[row, :, column] / ladder.steps[row]
    seen = np.isfinite(central) | np.isfinite(left) | np.isfinite(right)
    sides = () if shape is Smoothness.SMOOTH else (left, right)
    return tuple(_numbers(of[seen]) for of in (ladder.steps[row], central, noise, *sides))


def _numbers(of: Array) -> Numbers:
    return tuple(float(value) for value in of)
