"""The differences behind a result, in the form that plots need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradhook.comparison.judge import smoothness_of
from gradhook.comparison.messages import symbol
from gradhook.comparison.probe import DerivativeError
from gradhook.model.results import Mode, Smoothness
from gradhook.model.trace import Curve, Jacobian, Numbers
from gradhook.numerics.autodiff.derivatives import Differentiator
from gradhook.numerics.finite_difference.richardson import Array, StepTable

LARGEST = 400
"""Numbers of a Jacobian that is shown as a whole."""


@dataclass(frozen=True)
class PlotData:
    """The step tables that a differentiator has kept, in the form in which they are reported."""

    differentiator: Differentiator

    def curve(self, path: tuple[Mode, ...], mode: Mode, place: tuple[int, int]) -> Curve | None:
        """The step table behind one element of a comparison; None where the user chose the step."""
        table, comparison = self.differentiator.tables.get(path), self.differentiator.comparison(path)
        claim = comparison.autodiff[mode] if not isinstance(comparison, DerivativeError) else comparison
        if table is None or isinstance(comparison, DerivativeError) or isinstance(claim, DerivativeError):
            return None
        measured = comparison.measured_by(mode)
        shape = smoothness_of(measured, place)
        row, column = place
        output = comparison.column_labels(mode)[column]
        return Curve(
            symbol(comparison, output, comparison.input_labels[row]), mode, float(claim[place]),
            float(measured.value[place]), float(measured.error[place]), shape.value,
            *_levels(table, row, column + (comparison.columns(mode).start or 0), shape),
        )  # fmt: skip

    def jacobian(self, mode: Mode) -> Jacobian | None:
        """All first derivatives by single inputs, where they are few."""
        comparison = self.differentiator.comparison()
        claim = comparison.autodiff[mode] if not isinstance(comparison, DerivativeError) else comparison
        if (
            isinstance(comparison, DerivativeError)
            or isinstance(claim, DerivativeError)
            or (mode == "rev" and len(comparison.weights))
        ):
            return None
        rows = [n for n, label in enumerate(comparison.input_labels) if not label.is_direction]
        if not 0 < len(rows) * len(comparison.output_labels) <= LARGEST:
            return None
        measured = comparison.measured_by(mode)
        return Jacobian(
            mode, tuple(str(comparison.input_labels[n]) for n in rows), tuple(map(str, comparison.output_labels)),
            tuple(_numbers(claim[n]) for n in rows), tuple(_numbers(measured.value[n]) for n in rows),
        )  # fmt: skip


def _levels(table: StepTable, row: int, column: int, shape: Smoothness) -> tuple[Numbers, ...]:
    """Steps, central differences and their noise; where not smooth, also one-sided differences."""
    with np.errstate(all="ignore"):
        central, left, right = (of[row, :, column] for of in (table.central, table.backward, table.forward))
        noise = table.noise[row, :, column] / table.steps[row]
    seen = np.isfinite(central) | np.isfinite(left) | np.isfinite(right)
    sides = () if shape is Smoothness.SMOOTH else (left, right)
    return tuple(_numbers(of[seen]) for of in (table.steps[row], central, noise, *sides))


def _numbers(of: Array) -> Numbers:
    return tuple(float(value) for value in of)
