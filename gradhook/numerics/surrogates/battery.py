"""Which tangents tell a linear rule from one that is not?

The same runs serve the comparison with the declared derivative and the questions about linearity.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gradhook.comparison.probe import Fault
from gradhook.comparison.surrogate_probe import Trial
from gradhook.model import Mode
from gradhook.numerics.drawing import generator
from gradhook.numerics.faults import translate
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.directions import Directions
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.held import Held
from gradhook.numerics.programs import Clock, Programs
from gradhook.numerics.studies import along

POWERS = (2.0, -1.0, 2.0**40, 2.0**-40)
"""Factors by which a tangent is multiplied without any rounding."""

DIGITS = 8 / 7
"""A factor that fills all digits of a tangent: one of few digits passes through bfloat16 without a trace."""


@dataclass
class Battery:
    """A held function differentiated along its directions and along the tangents that show whether it is linear."""

    held: Held
    seed: str
    clock: Clock
    _runs: dict[Mode, Array | Fault] = field(default_factory=dict)

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
        rows = found[: -len(POWERS) - 4]
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
        return np.stack([0 * one, one, two, one + two, *(power * one for power in POWERS)])

    def _dense(self, mode: Mode, random: np.random.Generator) -> Array:
        if mode == "rev":
            return DIGITS * random.choice([-1.25, -1.0, -0.75, 0.75, 1.0, 1.25], self.held.outputs.size)
        return DIGITS * directions.dense(self.held.inputs, self.held.point, random)

    def _made(self, mode: Mode) -> Array:
        programs = Programs(self.held.call, (), self.clock, self.held.traceable)
        if mode == "fwd":
            return programs.forward(self.held.point, (), np.concatenate([self.chosen.vectors, self.tangents(mode)]))
        rows = self.weights if len(self.weights) else np.eye(self.held.outputs.size)
        return programs.reverse(self.held.point, (), np.concatenate([rows, self.tangents(mode)]))


def linearity(battery: Battery, modes: tuple[Mode, ...]) -> tuple[Trial, ...]:
    """Zero, multiples and sums of tangents and of cotangents, and whether the two modes are adjoints."""
    trials = [trial for mode in modes for trial in _mode(battery, mode)]
    return tuple(trials + (_adjoint(battery) if set(modes) >= {"fwd", "rev"} else []))


def _mode(battery: Battery, mode: Mode) -> list[Trial]:
    found = battery.run(mode)
    if isinstance(found, Fault):
        return [Trial("differentiated", mode, found, np.zeros(0))]
    zero, one, two, both, *multiples = found[-len(POWERS) - 4 :]
    with np.errstate(all="ignore"):
        size = float(np.nan_to_num(np.abs(one) + np.abs(two), posinf=0.0).max(initial=0.0))
        trials = [Trial("zero", mode, zero, np.where(np.isfinite(one), 0.0, zero), exactly=True)]
        trials += [
            Trial(f"multiplied by {power:g}", mode, got, power * one, exactly=True)
            for power, got in zip(POWERS, multiples, strict=True)
        ]
        return [*trials, Trial("the sum of two", mode, both, one + two, size)]


def _adjoint(battery: Battery) -> list[Trial]:
    """<w, J v> beside <J^T w, v>, for two tangents and two cotangents."""
    forward, reverse = battery.run("fwd"), battery.run("rev")
    if isinstance(forward, Fault) or isinstance(reverse, Fault):
        return []
    v, w = battery.tangents("fwd")[1:3], battery.tangents("rev")[1:3]
    last = -len(POWERS) - 4
    pushed, pulled = forward[last + 1 :][:2], reverse[last + 1 :][:2]
    with np.errstate(all="ignore"):
        one, other = (np.array([(a @ b.T).sum()]) for a, b in ((pulled, v), (w, pushed)))
        return [Trial("adjoint", None, one, other, _size(w, pushed))]


def _size(one: Array, other: Array) -> float:
    return float(np.nan_to_num(np.abs(one) @ np.abs(other).T, posinf=0.0).sum())
