"""Test whether a rule is linear in the tangent and whether its modes are adjoint.

The same runs serve the comparison with the declared derivative and the questions about linearity.

Rounding, and what a loop inside the rule leaves open, are allowed; both are looked up only where something disagrees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.agreement import UNDERFLOW
from gradhook.comparison.judge import ADJOINT, SURROGATE
from gradhook.comparison.probe import ConsistencyPair, DerivativeError, Label
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.derivatives import along
from gradhook.numerics.autodiff.fused import together
from gradhook.numerics.autodiff.programs import Clock, Programs
from gradhook.numerics.finite_difference import directions
from gradhook.numerics.finite_difference.projection import groups
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.flatten import FlatLayout
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.iteration_tolerance import LOOP, derivative_stops
from gradhook.numerics.sampling import generator

POWERS = (2.0, -1.0, 2.0**12, 2.0**40, 2.0**-40)
"""Factors by which a tangent is multiplied without any rounding."""
ORDINARY = (2.0, -1.0, 8.0)
"""Those for a rule with a loop that stops at a tolerance: a tangent of another size gives it another accuracy."""
FAR = 2.0**10
"""A tangent multiplied by more than this may overflow inside, which is no fault of the rule."""


@dataclass
class LinearityProgram:
    """A function differentiated along its directions and along tangents that test linearity."""

    held: FlatFunction
    seed: str
    clock: Clock
    modes: tuple[Mode, ...] = ()
    """Those that are going to be asked for: they are compiled together."""
    _runs: dict[Mode, Array | DerivativeError] = field(default_factory=dict)
    _loops: dict[Mode, float] = field(default_factory=dict)

    @cached_property
    def rows(self) -> tuple[Array, tuple[Label, ...]]:
        """The directions (D, n) of the comparison with the declared derivative, and their names.

        Every coordinate of few; of many, directions that move everything, and some that move one argument alone, so
        that a small derivative is not added to large ones.
        """
        space, point, random = self.held.inputs, self.held.point, generator(self.seed, "directions")
        chosen = directions.choose(space, point, random)
        if space.size <= directions.FULL:
            return chosen.vectors, chosen.labels
        parts = list(_parts(space))
        alone = [np.where(inside, directions.dense(space, point, random), 0.0) for _, inside in parts]
        vectors = np.concatenate([chosen.vectors, np.reshape(alone, (-1, space.size))])
        return vectors, (*chosen.labels, *(label for label, _ in parts))

    @cached_property
    def weights(self) -> Array:
        """Combinations of outputs (r, m) for reverse mode, of all and of each part of the outputs.

        None where every output is pulled back alone.
        """
        space, random = self.held.outputs, generator(self.seed, "weights")
        dense = directions.weights(space.size, random)
        alone = [np.where(inside, directions.mixed(space.size, random), 0.0) for _, inside in _parts(space)]
        return np.concatenate([dense, *(part[None] for part in alone if len(dense))])

    @property
    def cotangents(self) -> Array:
        """The cotangents (r, m) that reverse mode pulls back for the comparison."""
        return self.weights if len(self.weights) else np.eye(self.held.outputs.size)

    def claim(self, mode: Mode) -> Array | DerivativeError:
        """The derivative along the directions, as in ``DerivativeComparison``."""
        found = self.run(mode)
        if isinstance(found, DerivativeError):
            return found
        rows = found[: -self.last(mode)]
        return rows if mode == "fwd" else along(rows, self.rows[0])

    def run(self, mode: Mode) -> Array | DerivativeError:
        """The rows of the comparison, then those for 0, two tangents, their sum, and multiples of the first."""
        if mode not in self._runs:
            if self.held.traceable:
                self._runs |= self._compiled({*self.modes, mode} - self._runs.keys())
            else:
                self._runs[mode] = self._eager(mode)
        return self._runs[mode]

    def tangents(self, mode: Mode) -> Array:
        """The last rows that a mode is run with."""
        random = generator(self.seed, "linearity", mode)
        one, two = (self._dense(mode, random) for _ in range(2))
        return np.stack([0 * one, one, two, one + two, *(power * one for power in self.powers(mode))])

    def last(self, mode: Mode) -> int:
        """The number of rows that test whether a mode is linear."""
        return len(self.powers(mode)) + 4

    def powers(self, mode: Mode) -> tuple[float, ...]:
        """The factors by which the tangents of a mode are multiplied."""
        return ORDINARY if self.loops(mode) else POWERS

    def loops(self, mode: Mode) -> float:
        """The relative error that loops of the derivative's own program account for."""
        if mode not in self._loops:
            self._loops[mode] = LOOP if derivative_stops(self.held, mode) else 0.0
        return self._loops[mode]

    def rounding(self, mode: Mode, vectors: Array) -> Array:
        """The rounding of a mode along directions (D, n): (D, m), or (D, r) of combinations."""
        if mode == "fwd":
            return rounding.of_forward(self.held.call, self.held.point, vectors)
        return rounding.of_reverse(self.held.call, self.held.point, vectors, self.cotangents)

    def run_rounding(self, mode: Mode) -> Array:
        """The rounding of each number of a run."""
        of = rounding.of_forward if mode == "fwd" else rounding.of_pullbacks
        moved = of(self.held.call, self.held.point, self._all_rows(mode), underflow=True)
        return np.asarray(moved + np.zeros_like(self.run(mode)))

    def _dense(self, mode: Mode, random: np.random.Generator) -> Array:
        if mode == "rev":
            return directions.mixed(self.held.outputs.size, random)
        return directions.dense(self.held.inputs, self.held.point, random)

    def _compiled(self, modes: Collection[Mode]) -> dict[Mode, Array | DerivativeError]:
        """All rows of some modes in one program."""
        each = {mode: self._all_rows(mode) for mode in sorted(modes)}
        asked = {mode: partial(_pushed if mode == "fwd" else _pulled, self.held.call, mode) for mode in each}
        found = together(asked, (jnp.asarray(self.held.point), each), self.clock)
        return {mode: found[mode] for mode in each}

    def _eager(self, mode: Mode) -> Array | DerivativeError:
        programs = Programs(self.held.call, (), self.clock, traceable=False)
        try:
            run = programs.forward if mode == "fwd" else programs.reverse
            return run(self.held.point, (), self._all_rows(mode))
        except Exception as error:  # whatever the user's rule raises is an answer, not an accident
            return classify(error)

    def _all_rows(self, mode: Mode) -> Array:
        return np.concatenate([self.rows[0] if mode == "fwd" else self.cotangents, self.tangents(mode)])


def _pushed(call: Callable[[Any], Any], mode: Mode, x: Any, rows: Mapping[Mode, Any]) -> Any:
    return jax.lax.map(lambda v: jax.jvp(call, (x,), (v,))[1], rows[mode])


def _pulled(call: Callable[[Any], Any], mode: Mode, x: Any, rows: Mapping[Mode, Any]) -> Any:
    pull = jax.vjp(call, x)[1]
    return jax.lax.map(lambda w: pull(w)[0], rows[mode])


def _parts(space: FlatLayout) -> Iterator[tuple[Label, Flags]]:
    """The leaves of a layout, neighbours together where they are many: a label, and a mask of elements."""
    places = np.arange(space.size)
    for label, start, stop in groups(space.leaves) if len(space.leaves) > 1 else ():
        yield label, (places >= start) & (places < stop)


TOLD_ELSEWHERE = "the mode itself raises"


def linearity(linearity_program: LinearityProgram, modes: tuple[Mode, ...]) -> tuple[ConsistencyPair, ...]:
    """Zero, multiples and sums of tangents and of cotangents, and whether the two modes are adjoints."""
    pairs = [pair for mode in modes for pair in _mode(linearity_program, mode)]
    return tuple(pairs + (_adjoint(linearity_program) if set(modes) >= {"fwd", "rev"} else []))


def _mode(linearity_program: LinearityProgram, mode: Mode) -> list[ConsistencyPair]:
    found = linearity_program.run(mode)
    if isinstance(found, DerivativeError):
        return [ConsistencyPair("differentiated", mode, _fault(linearity_program, mode, found), np.zeros(0))]
    pairs = list(_trials(linearity_program, mode, found, np.zeros(found.shape)))
    if not any(pair.wrong(SURROGATE).any() for pair in pairs):
        return pairs
    return list(_trials(linearity_program, mode, found, linearity_program.run_rounding(mode)))


def _fault(linearity_program: LinearityProgram, mode: Mode, fault: DerivativeError) -> DerivativeError:
    """The error of a mode, marked as missing unless reverse mode alone fails, by transposition.

    Reverse mode is made by transposing forward mode, so that this is so only where forward mode is there.
    """
    transposed = mode == "rev" and not isinstance(linearity_program.run("fwd"), DerivativeError)
    return fault if transposed or fault.missing else DerivativeError(True, f"{TOLD_ELSEWHERE}: {fault.message}")


def _trials(
    linearity_program: LinearityProgram, mode: Mode, found: Array, rounding: Array
) -> Iterator[ConsistencyPair]:
    powers, loops, last = linearity_program.powers(mode), linearity_program.loops(mode), linearity_program.last(mode)
    zero, one, two, both, *multiples = found[-last:]
    of_zero, of_one, of_two, of_both, *of_multiples = rounding[-last:]
    with np.errstate(all="ignore"):
        yield ConsistencyPair("zero", mode, zero, np.where(np.isfinite(one), 0.0, zero), of_zero + loops * np.abs(one))
        for power, got, of_got in zip(powers, multiples, of_multiples, strict=True):
            wanted = np.where(_is_asked(power, one, got), power * one, got)
            allowed = of_got + abs(power) * of_one + loops * np.abs(wanted) + UNDERFLOW
            yield ConsistencyPair(f"multiplied by {power:g}", mode, got, wanted, allowed)
        terms = np.abs(one) + np.abs(two)
        allowed = SURROGATE * terms + of_both + of_one + of_two + loops * terms
        yield ConsistencyPair("the sum of two", mode, both, one + two, allowed)


def _is_asked(power: float, one: Array, got: Array) -> Flags:
    """Whether a multiple is compared: where it is finite, or not finite by no overflow of a large factor."""
    return np.asarray(np.isfinite(one) & (np.isfinite(got) | (abs(power) <= FAR)))


def _adjoint(linearity_program: LinearityProgram) -> list[ConsistencyPair]:
    """Compare <w, J v> with <J^T w, v> for every direction and every output or combination."""
    forward, reverse = linearity_program.claim("fwd"), linearity_program.claim("rev")
    if isinstance(forward, DerivativeError) or isinstance(reverse, DerivativeError):
        return []
    with np.errstate(all="ignore"):
        combined = _combined(linearity_program, forward, lambda weights: weights)
        # 0 times infinity is nan in one of the modes: GRD105 reports what is not finite.
        combined = np.where(np.isfinite(combined) & np.isfinite(reverse), combined, reverse)
        pair = ConsistencyPair("adjoint", None, reverse, combined, _terms(linearity_program))
        if pair.wrong(ADJOINT).any():
            pair = ConsistencyPair(
                "adjoint",
                None,
                reverse,
                combined,
                _terms(linearity_program) + _iteration_error(linearity_program, combined),
            )
    return [pair]


def _terms(linearity_program: LinearityProgram) -> Array:
    """The rounding of each number as a sum of terms that cancel."""
    forward, rows = linearity_program.run("fwd"), linearity_program.run("rev")
    assert not isinstance(forward, DerivativeError) and not isinstance(rows, DerivativeError)
    pushed = np.abs(forward[: -linearity_program.last("fwd")])
    pulled = np.abs(rows[: -linearity_program.last("rev")])
    terms = along(pulled, np.abs(linearity_program.rows[0])) + _combined(linearity_program, pushed, np.abs)
    return np.asarray(ADJOINT * np.nan_to_num(terms, nan=0.0, posinf=0.0))


def _iteration_error(linearity_program: LinearityProgram, numbers: Array) -> Array:
    """The error that rounding and loops account for in either mode."""
    forward = linearity_program.run_rounding("fwd")[: -linearity_program.last("fwd")]
    reverse = linearity_program.run_rounding("rev")[: -linearity_program.last("rev")]
    own = _combined(linearity_program, forward, np.abs) + along(reverse, np.abs(linearity_program.rows[0]))
    return np.asarray(own + max(linearity_program.loops(mode) for mode in ("fwd", "rev")) * np.abs(numbers))


def _combined(linearity_program: LinearityProgram, numbers: Array, of: Callable[[Array], Array]) -> Array:
    """The numbers of outputs as those of the combinations that reverse mode pulls back."""
    return np.asarray(numbers @ of(linearity_program.weights).T) if len(linearity_program.weights) else numbers
