"""Which tangents tell a linear rule from one that is not?

The same runs serve the comparison with the declared derivative and the questions about linearity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import ADJOINT, SURROGATE
from gradhook.comparison.probe import Fault, Label
from gradhook.comparison.surrogate_probe import Trial
from gradhook.model import Mode
from gradhook.numerics import rounding
from gradhook.numerics.drawing import generator
from gradhook.numerics.faults import translate
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.held import Held
from gradhook.numerics.programs import Clock, Programs
from gradhook.numerics.studies import along
from gradhook.numerics.trees import Space

POWERS = (2.0, -1.0, 2.0**40, 2.0**-40)
"""Factors by which a tangent is multiplied without any rounding."""

PARTS = 24
"""Up to so many arguments each is moved alone; more are moved in so many groups."""

DIGITS = 8 / 7
"""A factor that fills all digits of a tangent: one of few digits passes through bfloat16 without a trace."""


@dataclass
class Battery:
    """A held function differentiated along its directions and along the tangents that show whether it is linear."""

    held: Held
    seed: str
    clock: Clock
    _runs: dict[Mode, Array | Fault] = field(default_factory=dict)

    @cached_property
    def rows(self) -> tuple[Array, tuple[Label, ...]]:
        """The directions (D, n) of the comparison with the declared derivative, and their names.

        Every coordinate of few; of many, directions that move everything, and some that move one argument alone, so
        that a small derivative is not added to large ones. All but coordinates fill all digits.
        """
        space, random = self.held.inputs, generator(self.seed, "directions")
        chosen = directions.choose(space, self.held.point, random)
        everything = np.array([label.leaf == "direction" for label in chosen.labels], dtype=bool)
        vectors = np.where(everything[:, None], DIGITS, 1.0) * chosen.vectors
        if space.size <= directions.FULL:
            return vectors, chosen.labels
        parts = list(_parts(space))
        alone = [np.where(inside, tangent(self.held, random), 0.0) for _, inside in parts]
        labels = [Label("direction", (), f" in {name}") for name, _ in parts]
        return np.concatenate([vectors, np.reshape(alone, (-1, space.size))]), (*chosen.labels, *labels)

    @cached_property
    def weights(self) -> Array:
        """Combinations of outputs (r, m) for reverse mode, of all and of each part of the outputs.

        None where every output is pulled back alone.
        """
        space, random = self.held.outputs, generator(self.seed, "weights")
        dense = DIGITS * directions.weights(space.size, random)
        alone = [np.where(inside, cotangent(space.size, random), 0.0) for _, inside in _parts(space) if len(dense)]
        return np.concatenate([dense, np.reshape(alone, (-1, space.size))])

    def claim(self, mode: Mode) -> Array | Fault:
        """The derivative along the directions, as in ``Study``."""
        found = self.run(mode)
        if isinstance(found, Fault):
            return found
        rows = found[: -len(POWERS) - 4]
        return rows if mode == "fwd" else along(rows, self.rows[0])

    def rounding(self, mode: Mode, vectors: Array) -> Array:
        """How far rounding may move what a mode gives along directions (D, n): (D, m), or (D, r) of combinations."""
        if mode == "fwd":
            return rounding.of_forward(self.held.call, self.held.point, vectors)
        return rounding.of_reverse(self.held.call, self.held.point, vectors, self.cotangents)

    @property
    def cotangents(self) -> Array:
        """What reverse mode pulls back for the comparison."""
        return self.weights if len(self.weights) else np.eye(self.held.outputs.size)

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
        random, outputs = generator(self.seed, "linearity", mode), self.held.outputs.size
        one, two = (cotangent(outputs, random) if mode == "rev" else tangent(self.held, random) for _ in range(2))
        return np.stack([0 * one, one, two, one + two, *(power * one for power in POWERS)])

    def _made(self, mode: Mode) -> Array:
        programs = Programs(self.held.call, (), self.clock, self.held.traceable)
        if mode == "fwd":
            return programs.forward(self.held.point, (), np.concatenate([self.rows[0], self.tangents(mode)]))
        return programs.reverse(self.held.point, (), np.concatenate([self.cotangents, self.tangents(mode)]))


def tangent(held: Held, random: np.random.Generator) -> Array:
    """A tangent (n,) that moves everything, in all digits."""
    return DIGITS * directions.dense(held.inputs, held.point, random)


def cotangent(size: int, random: np.random.Generator) -> Array:
    """A cotangent (m,) in which every output counts, in all digits, some negative."""
    return random.choice([-1.0, 1.0], size) * random.uniform(0.75, 1.25, size)


def _parts(space: Space) -> Iterator[tuple[str, Flags]]:
    """The leaves of a space, neighbouring ones together where they are many: a name, and which numbers are theirs."""
    owner = np.repeat(np.arange(len(space.leaves)), [leaf.size for leaf in space.leaves])
    groups = [group for group in np.array_split(np.arange(len(space.leaves)), PARTS) if len(group)]
    for group in groups if len(space.leaves) > 1 else ():
        names = [space.leaves[k].name for k in group]
        yield (names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"), np.isin(owner, group)


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
        trials = [Trial("zero", mode, zero, np.where(np.isfinite(one), 0.0, zero), exactly=True)]
        trials += [
            Trial(f"multiplied by {power:g}", mode, got, power * one, exactly=True)
            for power, got in zip(POWERS, multiples, strict=True)
        ]
        trials.append(Trial("the sum of two", mode, both, one + two, np.abs(one) + np.abs(two)))
        return [settled(trial, SURROGATE, lambda: _of_sum(battery, mode)) for trial in trials]


def _of_sum(battery: Battery, mode: Mode) -> Array:
    """How far rounding may move the derivatives of two tangents and of their sum apart."""
    three, held = battery.tangents(mode)[1:4], battery.held
    if mode == "fwd":
        return np.asarray(rounding.of_forward(held.call, held.point, three).sum(axis=0))
    each = [rounding.of(lambda x, w: jax.vjp(held.call, x)[1](w)[0], jnp.asarray(held.point), w) for w in three]
    return np.asarray(np.sum(each, axis=0))


def settled(trial: Trial, relative: float, rounded: Callable[[], Array | float]) -> Trial:
    """A trial with its rounding, which is asked for only where it may decide."""
    if trial.exactly or isinstance(trial.got, Fault) or not trial.wrong(relative).any():
        return trial
    return replace(trial, rounding=rounded())


def _adjoint(battery: Battery) -> list[Trial]:
    """<w, J v> beside <J^T w, v> for two tangents: each output (or combination) alone, then two cotangents."""
    forward, reverse = battery.run("fwd"), battery.run("rev")
    if isinstance(forward, Fault) or isinstance(reverse, Fault):
        return []
    tangents, last = battery.tangents("fwd")[1:3], -len(POWERS) - 4
    cotangents = np.concatenate([battery.cotangents, battery.tangents("rev")[1:3]])
    pulled = np.concatenate([reverse[:last], reverse[last + 1 :][:2]])
    pushed = forward[last + 1 :][:2]
    with np.errstate(all="ignore"):
        got, wanted = along(pulled, tangents), pushed @ cotangents.T
        terms = along(np.abs(pulled), np.abs(tangents)) + np.abs(pushed) @ np.abs(cotangents).T
    trial = Trial("adjoint", None, got, wanted, np.nan_to_num(terms, posinf=0.0))
    return [settled(trial, ADJOINT, lambda: _of_adjoint(battery, tangents, cotangents))]


def _of_adjoint(battery: Battery, tangents: Array, cotangents: Array) -> Array:
    call, point = battery.held.call, battery.held.point
    pushed = rounding.of_forward(call, point, tangents) @ np.abs(cotangents).T
    return np.asarray(pushed + rounding.of_reverse(call, point, tangents, cotangents))
