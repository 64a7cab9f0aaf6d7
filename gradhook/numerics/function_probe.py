"""What can be asked of a function held at a case? The probe that checks are handed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import Array, Flags, Tolerance
from gradhook.comparison.probe import (
    Fault,
    Known,
    Label,
    Located,
    Narrowing,
    Origin,
    Refusal,
    Route,
    RunOn,
    Study,
    Suspect,
    Witness,
)
from gradhook.comparison.surrogate_probe import Contract
from gradhook.model.errors import GradhookError
from gradhook.model.results import Mode
from gradhook.numerics import neighbours as beside
from gradhook.numerics.autodiff import bisection, repeatability, witnesses
from gradhook.numerics.autodiff import consistency as routes
from gradhook.numerics.autodiff.derivatives import MODES, Laboratory
from gradhook.numerics.autodiff.dtypes import gradient_dtypes
from gradhook.numerics.autodiff.expected_errors import refusal
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import Demands, Situation
from gradhook.numerics.finite_difference.plot_data import Pictures
from gradhook.numerics.function import Arguments, Held, Wrt, differentiated, gather, hold
from gradhook.numerics.jaxpr import iteration_tolerance
from gradhook.numerics.jaxpr.custom_rules import Replay
from gradhook.numerics.jaxpr.nonfinite_source import of_claim
from gradhook.numerics.jaxpr.stop_gradient import Frozen, freeze
from gradhook.numerics.sampling import generator
from gradhook.numerics.surrogates.declaration import Declared
from gradhook.numerics.surrogates.rule_probe import Rules, coordinates, rule_of
from gradhook.numerics.user_values import jacobian, vector


@dataclass(frozen=True)
class Instruments:
    """The probe: a function held at a situation; everything is computed when first asked for, and once."""

    function: Callable[..., Any]
    situation: Situation
    demands: Demands
    seed: str
    clock: Clock

    @property
    def case(self) -> str:
        """The name of the case."""
        return self.situation.name

    @property
    def order(self) -> int:
        """Up to which order derivatives are claimed."""
        return self.demands.order

    @property
    def modes(self) -> tuple[Mode, ...] | None:
        """The modes that the author claims; None: those that the function has."""
        return self.demands.modes

    @property
    def tolerance(self) -> Tolerance:
        """For each element."""
        return self.demands.tolerance

    @property
    def self_test(self) -> bool:
        """Whether the checks are to prove that they would have failed."""
        return self.demands.self_test

    def pictures(self) -> Pictures | None:
        """What pictures of the answers are drawn from, where they are wanted."""
        return Pictures(self.laboratory) if self.demands.curves else None

    @property
    def kink(self) -> str | float | None:
        """The declared convention at non-smooth points."""
        return self.situation.kink

    @cached_property
    def arguments(self) -> Arguments:
        """The arguments, drawn and promoted to float64."""
        return self._arguments(self.function, self.demands.wrt)

    @property
    def held(self) -> Held:
        """The function as a map from R^n to R^m, with stopped values held constant where the author says so."""
        return self._frozen.held

    @cached_property
    def _frozen(self) -> Frozen:
        return freeze(self._plain) if self.demands.frozen else Frozen(self._plain, ())

    @cached_property
    def _plain(self) -> Held:
        held = hold(self.function, self.arguments)
        if not held.outputs.leaves:
            raise GradhookError(
                "the function returns no floating number, so there is nothing to differentiate",
                "return an array or a float; integers and booleans have no derivative",
            )
        return held

    @cached_property
    def laboratory(self) -> Laboratory:
        """Where the function is measured."""
        d = self.demands
        return Laboratory(self.held, self.seed, d.modes or MODES, d.tolerance, d.step, self.clock, d.order, d.curves)

    def study(self, path: tuple[Mode, ...] = ()) -> Study | Fault:
        """The function (empty path) or the derivative reached by a path of modes."""
        return self.laboratory.study(path)

    def coincidence(self) -> tuple[str, str]:
        """What is special about the given inputs, and what would not show there; empty where nothing is asked beside.

        Nothing is where the author speaks of this very point (a kink, a value, a derivative, values held constant) or
        sets the step, nor where the function cannot be traced.
        """
        d, s = self.demands, self.situation
        here = d.step is not None or d.frozen or any(said is not None for said in (s.kink, s.value, s.derivative))
        return ("", "") if here or not self.held.traceable else beside.coincidence(self.held)

    def beside(self, which: int = 0) -> Instruments | str:
        """The same questions at a generic point near by, from the ``which``-th size of the moves on; or why not."""
        for size in beside.SIZES[which:]:
            point = beside.neighbour(self.held, self.seed, size)
            found = None if point is None else self.laboratory.beside(point)
            if point is not None and found is None:
                return "the function runs too long to be asked once more"
            if found is not None and found.is_defined:
                return self._at(found)
        return "no value beside it is finite"

    def _at(self, laboratory: Laboratory) -> Instruments:
        made = replace(self, demands=replace(self.demands, curves=False))
        held = laboratory.held
        made.__dict__.update(laboratory=laboratory, arguments=held.arguments, _frozen=Frozen(held, ()))
        return made

    def known(self) -> Known:
        """What the author gave independently, flattened."""
        derivative = self.situation.derivative
        if derivative is None and self.demands.exact is not None:
            args, kwargs = self.arguments.rebuild(self.arguments.space.split(jnp.asarray(self.arguments.point)))
            derivative = self.demands.exact(*args, **kwargs)
        given = self.situation.value
        value = None if given is None else vector(given, self.held.outputs.size, "value=")
        if derivative is None:
            return Known(value)
        return Known(value, *self.laboratory.directional(jacobian(derivative, self.held)))

    def gradient_dtypes(self) -> list[tuple[Label, str, str]]:
        """For each differentiated leaf, its dtype and that of its gradient (where reverse mode exists)."""
        if not self.held.traceable or "rev" not in (self.demands.modes or MODES):
            return []
        try:
            return gradient_dtypes(self.held)
        except Exception:  # GRD102 reports what reverse mode raises
            return []

    def narrowings(self, path: tuple[Mode, ...], input: Label, output: Label) -> list[Narrowing]:
        """Equations that narrow a float below 64 bits on its way from an input to an output: what, file, line."""
        found = self.laboratory.dependence
        between = found.between(path, input, output)
        return [what for what, pairs in found.narrowed if (pairs & between).any()]

    def left_open(self, study: Study, mode: Mode) -> Array:
        """The relative error that iterations which stop at a tolerance may account for, (D, columns)."""
        found = self.laboratory.dependence
        columns = study.column_labels(mode)
        own = found.largest(iteration_tolerance.left_open(found), study.path, study.input_labels, columns)
        return np.where(own > 0, np.maximum(own, self._claims_open(study.path)), 0.0) if own.any() else own

    def _claims_open(self, path: tuple[Mode, ...]) -> float:
        if path not in self._opens:
            self._opens[path] = iteration_tolerance.claims_open(self.laboratory, path)
        return self._opens[path]

    def further(self, path: tuple[Mode, ...], mode: Mode) -> RunOn | None:
        """Claims and measurement when iterations which stop at a tolerance are run on."""
        if (path, mode) not in self._further:
            self._further[path, mode] = iteration_tolerance.further(self.laboratory, path, mode)
        return self._further[path, mode]

    def suspects(self) -> tuple[Suspect, ...]:
        """The custom rules and ``stop_gradient`` that the function uses."""
        return self._replay.suspects

    def without(self, removed: frozenset[int], path: tuple[Mode, ...], mode: Mode) -> Array | Fault:
        """What a mode claims if the suspects of these positions are replaced by the code under them."""
        return self._replay.claim(removed, path, mode)

    @cached_property
    def _replay(self) -> Replay:
        return Replay(self.laboratory, self.function)

    def origin(self, mode: Mode, row: int, column: int) -> Origin | None:
        """What first makes the claim of a mode not finite, for a direction and an output (or combination)."""
        return of_claim(self.laboratory, mode, row, column)

    def constants(self) -> tuple[tuple[str, int], ...]:
        """Where values under ``stop_gradient`` are held at the base point, as the author asked."""
        return self._frozen.places

    def refusal(self) -> Refusal | None:
        """What happens to an input that must be refused."""
        if self.situation.error is None:
            return None
        return refusal(self.function, self.arguments, self.situation, self.demands.modes or MODES)

    def wobble(self, path: tuple[Mode, ...], mode: Mode) -> Array:
        """How far the claims of a mode move when the point does by a few units in its last place."""
        return self.laboratory.wobble(path, mode)

    def rounding(self, path: tuple[Mode, ...], mode: Mode) -> Array | float:
        """What the claims of a mode may lose by rounding; 0 where it would cost too much to know."""
        return self.laboratory.rounding(path, mode)

    def roundoff(self, path: tuple[Mode, ...], mode: Mode | None, inputs: bool = False) -> Array | float:
        """How far rounding of every step, and of the inputs, may move the claims of a mode; of None, the value."""
        if (path, mode, inputs) not in self._roundoffs:
            self._roundoffs[path, mode, inputs] = witnesses.roundoff(self.laboratory, path, mode, inputs)
        return self._roundoffs[path, mode, inputs]

    def independent(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Where an output provably depends on no input that a direction moves, (D, columns)."""
        if (path, mode) not in self._independent:
            self._independent[path, mode] = witnesses.independent(self.laboratory, path, mode)
        return self._independent[path, mode]

    def indifferent(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Where nan and both infinities in place of the moved inputs change no bit of the output, (D, columns)."""
        return witnesses.indifferent(self.laboratory, path, mode)

    def witness(self, path: tuple[Mode, ...], mode: Mode) -> Witness | None:
        """What the complex step says of the numbers that a mode claims; None where it cannot be asked."""
        if path not in self._witnesses:
            self._witnesses[path] = witnesses.witness(self.laboratory, path)
        found, study = self._witnesses[path], self.study(path)
        if found is None or isinstance(study, Fault):
            return None
        columns = study.columns(mode)
        return Witness(found.value[:, columns], found.error[:, columns], found.reason)

    @cached_property
    def _roundoffs(self) -> dict[tuple[tuple[Mode, ...], Mode | None, bool], Array | float]:
        return {}

    @cached_property
    def _independent(self) -> dict[tuple[tuple[Mode, ...], Mode], Flags]:
        return {}

    @cached_property
    def _opens(self) -> dict[tuple[Mode, ...], float]:
        return {}

    @cached_property
    def _further(self) -> dict[tuple[tuple[Mode, ...], Mode], RunOn | None]:
        return {}

    @cached_property
    def _witnesses(self) -> dict[tuple[Mode, ...], Witness | None]:
        return {}

    def locate(self, mode: Mode, row: int, column: int) -> Located | None:
        """Which input a disagreement along a direction that moves everything belongs to, of many inputs."""
        return bisection.locate(self.laboratory, mode, row, column)

    def routes(self) -> list[Route]:
        """Pairs of ways to compute the same numbers."""
        return routes.routes(self.held, _modes(self.study()), self.seed, self.clock)

    def repeated(self) -> list[Route]:
        """Values of several calls with the same arguments."""
        return repeatability.repeated(self.held, self.clock)

    def reused_keys(self) -> str:
        """What JAX says about a PRNG key that is used twice; empty if none is."""
        return repeatability.reused_keys(self.held)

    def contract(self) -> Contract | None:
        """What a surrogate is held to, beside what it does."""
        d = self.demands
        said = (d.forward, d.derivative_of, d.rule, self.situation.tangent)
        return self._rules.contract if any(given is not None for given in said) else None

    @property
    def is_surrogate(self) -> bool:
        """Whether the claim is a surrogate's."""
        return self.demands.surrogate

    def rulebook(self) -> Rules | None:
        """What more can be asked of a surrogate, and of a function that is a custom rule itself."""
        return self._rules if self.demands.surrogate or rule_of(self.function) is not None else None

    @cached_property
    def _rules(self) -> Rules:
        d = self.demands
        said = (d.order2, d.ties, d.bounds, d.dtypes, d.shapes)
        declared = Declared(d.forward, d.derivative_of, d.rule, self.situation.tangent, *said)
        exact = self._arguments(self.function, d.exact_in) if d.exact_in else None
        spoken = coordinates(self.held.arguments, exact)
        return Rules(self.held, self.function, declared, d.modes or MODES, spoken, self.seed, self.clock)

    def exact_arguments(self) -> Instruments | None:
        """A surrogate as a function of the arguments in which it is claimed to be exact."""
        return self._exact(self.function, self.demands.exact_in) if self.demands.exact_in else None

    def stand_in(self) -> Instruments | None:
        """The function whose derivative a surrogate is declared to have, on its own."""
        other = self.demands.derivative_of
        if other is None:
            return None
        given = self.situation
        return self._exact(other, differentiated(self.function, given.args, given.kwargs, self.demands.wrt))

    def _exact(self, function: Callable[..., Any], wrt: Wrt) -> Instruments:
        """A function of the same arguments, some of them differentiated, under an exact claim."""
        d = self.demands
        demands = Demands(modes=d.modes, tolerance=d.tolerance, wrt=wrt, curves=d.curves)
        return Instruments(function, self.situation, demands, self.seed, self.clock)

    def _arguments(self, function: Callable[..., Any], wrt: Wrt) -> Arguments:
        random = generator(self.seed, "draw")
        return gather(function, self.situation.args, self.situation.kwargs, wrt, random)


def _modes(study: Study | Fault) -> tuple[Mode, ...]:
    """The modes in which a derivative could be had."""
    if isinstance(study, Fault):
        return ()
    return tuple(mode for mode, claim in study.claims.items() if not isinstance(claim, Fault))
