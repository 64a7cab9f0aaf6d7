"""Differentiate along the tangents that tell a linear rule from one that is not.

The same runs serve the comparison with the declared derivative and the questions about linearity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import numpy as np

from gradhook.comparison.probe import Fault
from gradhook.model import Mode
from gradhook.numerics.drawing import generator
from gradhook.numerics.faults import translate
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.directions import Directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.held import Held
from gradhook.numerics.iterations import loops_in
from gradhook.numerics.programs import Clock, Programs
from gradhook.numerics.rounding import moves, spread
from gradhook.numerics.studies import along

POWERS = (2.0, -1.0, 2.0**12, 2.0**40, 2.0**-40)
"""Factors by which a tangent is multiplied without any rounding."""
ORDINARY = (2.0, -1.0, 8.0)
"""Those for a rule with a loop that stops at a tolerance: a tangent of another size gives it another accuracy."""
FAR = 2.0**10
"""A tangent multiplied by more than this may overflow inside, which is no fault of the rule."""
UNDERFLOW = 1e-280
"""Below this a number has lost digits on the way."""

DIGITS = 8 / 7
"""A factor that fills all digits of a tangent: one of few digits passes through bfloat16 without a trace."""


@dataclass
class Battery:
    """A held function differentiated along its directions and along the tangents that show whether it is linear."""

    held: Held
    seed: str
    clock: Clock
    _runs: dict[Mode, Array | Fault] = field(default_factory=dict)
    _loops: dict[Mode, float] = field(default_factory=dict)

    @property
    def chosen(self) -> Directions:
        """The directions of the comparison with the declared derivative."""
        return directions.choose(self.held.inputs, self.held.point, generator(self.seed, "directions"))

    @property
    def weights(self) -> Array:
        """Combinations of outputs (r, m) for reverse mode; none where every output is pulled back alone."""
        return directions.weights(self.held.outputs.size, generator(self.seed, "weights"))

    def claim(self, mode: Mode) -> Array | Fault:
        """The derivative along the directions, as in ``Study``."""
        found = self.run(mode)
        if isinstance(found, Fault):
            return found
        rows = found[: -self.last(mode)]
        return rows if mode == "fwd" else along(rows, self.chosen.vectors)

    def run(self, mode: Mode) -> Array | Fault:
        """The rows of the comparison, then those for 0, two tangents, their sum, and multiples of the first."""
        if mode not in self._runs:
            try:
                self._runs[mode] = self._made(mode)
            except Exception as error:  # whatever the user's rule raises is an answer, not an accident
                self._runs[mode] = translate(error)
        return self._runs[mode]

    def tangents(self, mode: Mode) -> Array:
        """The last rows that a mode is run with."""
        random = generator(self.seed, "linearity", mode)
        one, two = (self._dense(mode, random) for _ in range(2))
        return np.stack([0 * one, one, two, one + two, *(power * one for power in self.powers(mode))])

    def last(self, mode: Mode) -> int:
        """How many rows show whether a mode is linear."""
        return len(self.powers(mode)) + 4

    def powers(self, mode: Mode) -> tuple[float, ...]:
        """By which factors the tangents of a mode are multiplied."""
        return ORDINARY if self.loops(mode) else POWERS

    def loops(self, mode: Mode) -> float:
        """The relative error that loops of the derivative's own program may account for."""
        if mode not in self._loops:
            self._loops[mode] = self._looped(mode)
        return self._loops[mode]

    def _looped(self, mode: Mode) -> float:
        if not self.held.traceable:
            return 0.0
        x, w = np.zeros(self.held.inputs.size), np.zeros(self.held.outputs.size)
        ask = (lambda x, w: jax.jvp(self.held.call, (x,), (x,))) if mode == "fwd" else self._pulled
        try:
            return loops_in(jax.make_jaxpr(ask)(x, w))
        except Exception:  # told when the mode itself is run
            return 0.0

    def _pulled(self, x: Any, w: Any) -> Any:
        return jax.vjp(self.held.call, x)[1](w)

    def rounding(self, mode: Mode) -> Array:
        """How far each number of a run moves when the point and the tangents do by units in their last place."""
        points, rows = moves(self.held.point, "point"), moves(self._rows(mode), "rows")
        return spread(np.stack([self._derived(mode, point, row) for point, row in zip(points, rows, strict=True)]))

    def _dense(self, mode: Mode, random: np.random.Generator) -> Array:
        if mode == "rev":
            return DIGITS * random.choice([-1.25, -1.0, -0.75, 0.75, 1.0, 1.25], self.held.outputs.size)
        return DIGITS * directions.dense(self.held.inputs, self.held.point, random)

    def _made(self, mode: Mode) -> Array:
        return self._derived(mode, self.held.point, self._rows(mode))

    def _rows(self, mode: Mode) -> Array:
        if mode == "fwd":
            return np.concatenate([self.chosen.vectors, self.tangents(mode)])
        rows = self.weights if len(self.weights) else np.eye(self.held.outputs.size)
        return np.concatenate([rows, self.tangents(mode)])

    def _derived(self, mode: Mode, point: Array, rows: Array) -> Array:
        run = self._programs.forward if mode == "fwd" else self._programs.reverse
        return run(point, (), rows)

    @cached_property
    def _programs(self) -> Programs:
        return Programs(self.held.call, (), self.clock, self.held.traceable)
