"""Trace each mode of a surrogate beside the declared derivative."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradhook.comparison.judge import SURROGATE, Array
from gradhook.comparison.messages import MODE_NAMES
from gradhook.comparison.probe import DerivativeError, Label
from gradhook.comparison.surrogate_probe import SurrogateValues
from gradhook.model.digits import pair
from gradhook.model.results import Mode
from gradhook.model.trace import DerivativeTrace
from gradhook.numerics.function_probe import FunctionProbe

DECLARED = "declared"
"""The word in the place of a shape: no difference was taken."""


def declared(probe: FunctionProbe) -> Iterator[DerivativeTrace]:
    """One comparison for each mode; none where no derivative was declared."""
    surrogate_values = probe.surrogate_values()
    if surrogate_values is None or np.isnan(surrogate_values.declared).all():
        return
    for mode, claim in surrogate_values.autodiff.items():
        what = f"{MODE_NAMES[mode]} beside the declared derivative"
        yield (
            DerivativeTrace(what, 1, claim.message)
            if isinstance(claim, DerivativeError)
            else _element_result(what, surrogate_values, mode, claim)
        )


def _element_result(what: str, surrogate_values: SurrogateValues, mode: Mode, claim: Array) -> DerivativeTrace:
    combined = mode == "rev" and len(surrogate_values.weights) > 0
    ways = surrogate_values.ways(mode)
    allowed = surrogate_values.margin(mode, claim, ways[0])
    with np.errstate(all="ignore"):
        gap = np.min([np.abs(claim - way) for way in ways], axis=0) / np.maximum(allowed, np.finfo(np.float64).tiny)
    asked = ~np.isnan(ways[0])
    same = surrogate_values.as_declared(mode, claim)
    row, column = _worst(np.where(asked, np.where(same, 0.0, np.nan_to_num(gap, nan=np.inf)), -1.0), surrogate_values)
    output = Label("combination", (column,)) if combined else surrogate_values.output_labels[column]
    fits = bool(same[row, column])
    return DerivativeTrace(
        what,
        1,
        passed=int((asked & same).sum()),
        failed=int((asked & ~same).sum()),
        of=f"d {output} / d {surrogate_values.input_labels[row]}",
        claimed=float(claim[row, column]),
        measured=float(ways[0][row, column]),
        allowed=float(allowed[row, column]),
        resolution=SURROGATE,
        shape=DECLARED,
        decision="passes: as declared, up to rounding" if fits else f"fails: {_wrong(claim, ways[0], row, column)}",
    )


def _worst(excess: Array, surrogate_values: SurrogateValues) -> tuple[int, int]:
    """The element with the largest deviation; a random direction only where no single input has it."""
    alone = np.array([not label.is_direction for label in surrogate_values.input_labels])
    if alone.any() and (excess[alone] > 0).any() == (excess > 0).any():
        excess = np.where(alone[:, None], excess, -2.0)
    row, column = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return int(row), int(column)


def _wrong(claim: Array, declared: Array, row: int, column: int) -> str:
    got, wanted = pair(float(claim[row, column]), float(declared[row, column]))
    return f"the rule gives {got}, declared is {wanted}"
