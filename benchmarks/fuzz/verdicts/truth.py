"""The true derivatives of a program along any direction, and how hard each of them is to measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from fuzz.verdicts.duals import DIGITS, SMALLEST, Dual, Outside
from fuzz.verdicts.programs import Program, outputs

Nature = Literal["smooth", "sharp", "rounded", "near a kink", "no derivative", "narrowed", "vague"]
"""How hard a derivative is to measure. ``smooth``: nothing is in the way. ``sharp``: it changes within a hundredth of
its input's reach. ``rounded``: the value's own rounding drowns it. ``narrowed``: float32 is on the way. ``vague``:
which side of a boundary float64 is on depends on rounding, or numbers leave its range."""
NEAR = 1e-2
DROWNED = 1e-10
RESIDUE = mp.mpf("1e-30")
SIDE = mp.mpf("1e-25")


@dataclass(frozen=True)
class True_:
    """A true slope along a direction, None where there is none, and its nature."""

    value: Any
    nature: Nature


@dataclass
class Truth:
    """All first derivatives of a program in 60 digits; what is costly is computed when it is asked for."""

    program: Program
    duals: list[Dual]
    point: NDArray[np.float64]

    def along(self, direction: NDArray[np.float64], output: int) -> True_:
        """The slope of an output along a direction in the space of all inputs."""
        dual = self.duals[output]
        moved = [int(k) for k in np.flatnonzero(direction)]
        with mp.workdps(DIGITS):
            slope = mp.fsum(mp.mpf(direction[k]) * dual.d.get(k, 0) for k in moved)
            inputs = frozenset(moved)
            if inputs & dual.vague or (slope and abs(slope) < SMALLEST) or self._is_rounding(direction, output, slope):
                return True_(slope, "vague")
            if inputs & (dual.kinked | dual.torn):
                return self._both_sides(direction, output, slope)
            return True_(slope, self._nature(dual, inputs, direction, slope))

    @cached_property
    def _in_other_digits(self) -> list[Dual]:
        return outputs(self.program, digits=DIGITS - 10)

    def _is_rounding(self, direction: NDArray[np.float64], output: int, slope: Any) -> bool:
        """Whether a slope is so small that it may be what 60 digits leave of 0, and other digits leave something else.

        The sum of a softmax is 1.
        """
        if not slope or abs(slope) > RESIDUE:
            return False
        slopes = self._in_other_digits[output].d
        other = mp.fsum(mp.mpf(v) * slopes.get(k, 0) for k, v in enumerate(direction) if v)
        return bool(abs(other - slope) > abs(slope) / 1000)

    def _nature(self, dual: Dual, inputs: frozenset[int], direction: NDArray[np.float64], slope: Any) -> Nature:
        if inputs & dual.narrowed:
            return "narrowed"
        if any(dual.near.get(k, np.inf) < NEAR * self._reach(k) for k in inputs):
            return "near a kink"
        size = sum(float(abs(dual.d.get(k, 0) * direction[k])) * self._reach(k) for k in inputs)
        return "rounded" if slope and dual.error > DROWNED * size else "smooth"

    def _reach(self, k: int) -> float:
        return max(1.0, abs(float(self.point[k])))

    def _both_sides(self, direction: NDArray[np.float64], output: int, slope: Any) -> True_:
        """Where a kink is on the way: the slopes of both sides, which may be the same all the same."""
        try:
            left, right = (self.side(direction, output, sign * SIDE) for sign in (-1, 1))
        except Outside:
            return True_(None, "no derivative")
        if abs(left - right) > mp.mpf("1e-15") * (abs(left) + abs(right)) + SMALLEST:
            return True_(None, "no derivative")
        return True_((left + right) / 2, "near a kink")

    def side(self, direction: NDArray[np.float64], output: int, step: Any) -> Any:
        """The slope of the secant from the point to a step along a direction."""
        moved = [mp.mpf(x) + step * mp.mpf(v) for x, v in zip(self.point, direction, strict=True)]
        return (outputs(self.program, moved)[output].v - self.duals[output].v) / step

    def is_sharp(self, direction: NDArray[np.float64], output: int, slope: Any) -> bool:
        """Whether the slope is another one a hundredth of the reach away."""
        for step in (NEAR, -NEAR):
            steps = [step * self._reach(k) if v else 0.0 for k, v in enumerate(direction)]
            moved = [mp.mpf(x) + h for x, h in zip(self.point, steps, strict=True)]
            try:
                dual = outputs(self.program, moved)[output]
            except (ArithmeticError, ValueError, TypeError):
                return True
            other = mp.fsum(mp.mpf(v) * dual.d.get(k, 0) for k, v in enumerate(direction) if v)
            if abs(other - slope) > abs(slope):
                return True
        return False


def truth(program: Program) -> Truth:
    """The truth about a program at its point."""
    return Truth(program, outputs(program), program.point)
