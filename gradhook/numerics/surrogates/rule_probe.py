"""Which functions have a rule of their own, and what can be asked of one?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from gradhook.comparison.judge import Tolerance
from gradhook.comparison.probe import Fault
from gradhook.comparison.surrogate_probe import Contract, Fit, InUse, Sweep, Trial
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivatives import Laboratory
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.function import Arguments, Held
from gradhook.numerics.jaxpr.custom_rules import Replay
from gradhook.numerics.surrogates.active_rules import in_use
from gradhook.numerics.surrogates.declaration import Declared
from gradhook.numerics.surrogates.linearity import linearity
from gradhook.numerics.surrogates.linearity_program import Battery
from gradhook.numerics.surrogates.second_order import VALUE, second
from gradhook.numerics.surrogates.shapes_and_dtypes import structure
from gradhook.numerics.surrogates.surrogate_values import contract
from gradhook.numerics.surrogates.sweep_program import Line
from gradhook.numerics.surrogates.sweeps import sweeps
from gradhook.numerics.surrogates.transformations import composition


def rule_of(function: Any) -> Any:
    """The ``custom_jvp`` or ``custom_vjp`` object that a function is, under ``jit`` or ``partial``; else None."""
    for _ in range(20):
        if isinstance(function, (jax.custom_jvp, jax.custom_vjp)):
            return function
        function = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)
        if function is None:
            return None
    return None


@dataclass(frozen=True)
class Rules:
    """A held function with a rule of its own (``surrogate_probe.Rulebook``); computed when asked for, and once."""

    held: Held
    function: Callable[..., Any]
    declared: Declared
    modes: tuple[Mode, ...]
    surrogate_in: Flags
    seed: str
    clock: Clock

    @property
    def reason(self) -> str:
        """Why nothing but the value and the derivative at the case can be asked."""
        return "" if self.held.traceable else "the function needs its values in Python, so JAX cannot trace it"

    @property
    def order2(self) -> str | None:
        """The declared second order."""
        return self.declared.order2

    @property
    def ties(self) -> str | None:
        """The declared rounding of halves."""
        return self.declared.ties

    @property
    def bounds(self) -> str | None:
        """Whether saturation bounds are declared to be closed or open."""
        return self.declared.bounds

    @cached_property
    def battery(self) -> Battery:
        """The function differentiated along everything that is asked at the case itself."""
        return Battery(self.held, self.seed, self.clock, self.modes)

    @cached_property
    def contract(self) -> Contract:
        """Value and derivative at the case, beside what was declared."""
        return contract(self.held, self.function, self.declared, self.battery, self.modes, self.surrogate_in)

    @cached_property
    def _existing(self) -> tuple[Mode, ...]:
        """The modes that the function has."""
        return tuple(mode for mode in self.modes if not isinstance(self.battery.claim(mode), Fault))

    def linearity(self) -> tuple[Trial, ...]:
        """Zero, multiples, sums; adjoints."""
        return linearity(self.battery, self.modes)

    def structure(self) -> tuple[Fit, ...]:
        """What the derivative takes of what the function takes."""
        return structure(self.held, self.function, self.declared, self.modes)

    def composition(self) -> tuple[Trial, ...]:
        """The function inside every transformation."""
        return composition(self.held, self._existing, self.seed, self.clock)

    def second(self) -> tuple[Trial, ...]:
        """The second order; that of a function around rules is its own only where ``order2`` is declared.

        ``jax.lax.scan`` loses a rule that returns what it should: its author could not mend that.
        """
        trials = second(self.held, self.declared, self._existing, self.seed, self.clock)
        own = self.order2 is not None or rule_of(self.function) is not None
        return tuple(trial for trial in trials if own or trial.name != VALUE)

    def in_use(self) -> InUse:
        """The custom rules inside a function that is none itself, and whether its derivative rests on them."""
        if not self.held.traceable or not self._existing or rule_of(self.function) is not None:
            return InUse(True)
        laboratory = Laboratory(self.held, self.seed, self.modes, Tolerance(), None, self.clock)
        return in_use(Replay(laboratory, self.function), self._existing[0])

    def sweeps(self) -> tuple[Sweep, ...]:
        """Inputs moved through their domain."""
        return self._sweeps

    @cached_property
    def _sweeps(self) -> tuple[Sweep, ...]:
        if not self._existing or not self.held.traceable:
            return ()
        mode = self._existing[0]
        return sweeps(Line(self.held, self.declared, mode, self.clock), self._jacobian, self.surrogate_in, self.seed)

    @property
    def _jacobian(self) -> Array | None:
        """The Jacobian (n, m) at the case, 0 where no coordinate was moved alone; None where outputs are many."""
        claim = self.battery.claim(self._existing[0])
        if isinstance(claim, Fault) or claim.shape[1] != self.held.outputs.size:
            return None
        found = np.zeros((self.held.inputs.size, self.held.outputs.size))
        for vector, row in zip(self.battery.rows[0], claim, strict=False):
            if np.count_nonzero(vector) == 1:
                place = int(np.flatnonzero(vector)[0])
                found[place] = row / vector[place]
        return found


def coordinates(arguments: Arguments, exact: Arguments | None) -> Flags:
    """Which coordinates a surrogate's declaration speaks of: all but those that are claimed to be exact."""
    places = exact.moved if exact is not None else ()
    spoken = [place not in places for place in arguments.moved]
    return np.repeat(np.array(spoken, dtype=bool), [leaf.size for leaf in arguments.space.leaves])
