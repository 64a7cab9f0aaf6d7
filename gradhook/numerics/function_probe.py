"""The implementation of the probe that checks receive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import Array, Flags, Tolerance
from gradhook.comparison.probe import (
    ComplexStep,
    ConsistencyPair,
    ContinuedIteration,
    CustomRuleUse,
    DerivativeComparison,
    DerivativeError,
    Downcast,
    GivenValues,
    Label,
    LocatedError,
    NonfiniteSource,
    RaisesResult,
)
from gradhook.comparison.surrogate_probe import SurrogateValues
from gradhook.model.errors import GradhookError
from gradhook.model.results import Mode
from gradhook.numerics import neighbours as beside
from gradhook.numerics.autodiff import bisection, repeatability, witnesses
from gradhook.numerics.autodiff import consistency as routes
from gradhook.numerics.autodiff.derivative_errors import raises_result
from gradhook.numerics.autodiff.derivatives import MODES, Differentiator
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.finite_difference.plot_data import PlotData
from gradhook.numerics.function import (
    BoundArguments,
    FlatFunction,
    Wrt,
    bind_arguments,
    differentiated,
    flatten_function,
    jacobian,
    vector,
)
from gradhook.numerics.jaxpr import iteration_tolerance
from gradhook.numerics.jaxpr.custom_rules import FrozenFunction, RuleRewriter, freeze_stopped_values
from gradhook.numerics.jaxpr.nonfinite_source import of_claim
from gradhook.numerics.sampling import generator
from gradhook.numerics.surrogates.declaration import Declaration
from gradhook.numerics.surrogates.rule_probe import RuleProbe, coordinates, rule_of


def gradient_dtypes(held: FlatFunction) -> list[tuple[Label, str, str]]:
    """Each leaf, its dtype, and the dtype of its gradient by reverse mode; nothing is computed."""

    def gradients(moved: list[Any]) -> Any:
        value, pull = jax.vjp(held.replayed.to_leaves, moved)
        return pull(value)[0]

    moved = held.inputs.structs()
    given = jax.eval_shape(gradients, moved)
    names = [Label(leaf.name) for leaf in held.inputs.leaves]
    return [(n, str(m.dtype), str(g.dtype)) for n, m, g in zip(names, moved, given, strict=True)]


@dataclass(frozen=True)
class FunctionProbe:
    """A function held at a case; each result is computed at first use, and once."""

    function: Callable[..., Any]
    check_case: CheckCase
    options: CheckOptions
    seed: str
    clock: Clock

    @property
    def case(self) -> str:
        """The name of the case."""
        return self.check_case.name

    @property
    def order(self) -> int:
        """The highest order of the claimed derivatives."""
        return self.options.order

    @property
    def modes(self) -> tuple[Mode, ...] | None:
        """The modes that the author claims; None: those that the function has."""
        return self.options.modes

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance of each element."""
        return self.options.tolerance

    @property
    def self_test(self) -> bool:
        """Whether the checks must prove that a wrong derivative would have failed."""
        return self.options.self_test

    def plots(self) -> PlotData | None:
        """The data of plots; None unless the options ask for curves."""
        return PlotData(self.differentiator) if self.options.curves else None

    @property
    def kink(self) -> str | float | None:
        """The declared convention at non-smooth points."""
        return self.check_case.kink

    @cached_property
    def arguments(self) -> BoundArguments:
        """The arguments, drawn and promoted to float64."""
        return self._arguments(self.function, self.options.wrt)

    @property
    def held(self) -> FlatFunction:
        """The function as a map from R^n to R^m, with stopped values constant if the author states so."""
        return self._frozen_function.held

    @cached_property
    def _frozen_function(self) -> FrozenFunction:
        return freeze_stopped_values(self._plain) if self.options.frozen else FrozenFunction(self._plain, ())

    @cached_property
    def _plain(self) -> FlatFunction:
        held = flatten_function(self.function, self.arguments)
        if not held.outputs.leaves:
            raise GradhookError(
                "the function returns no floating number, so there is nothing to differentiate",
                "return an array or a float; integers and booleans have no derivative",
            )
        return held

    @cached_property
    def differentiator(self) -> Differentiator:
        """The function with its directions, programs and comparisons."""
        d = self.options
        return Differentiator(
            self.held, self.seed, d.modes or MODES, d.tolerance, d.step, self.clock, d.order, d.curves
        )

    def comparison(self, path: tuple[Mode, ...] = ()) -> DerivativeComparison | DerivativeError:
        """The function (empty path) or the derivative reached by a path of modes."""
        return self.differentiator.comparison(path)

    def special_inputs(self) -> tuple[str, str]:
        """The special property of the given inputs, and the errors that it hides; empty to skip the test.

        The test is skipped where the author declares something about this very point (a kink, a value, a derivative,
        values held constant) or sets the step, nor where the function cannot be traced.
        """
        d, s = self.options, self.check_case
        here = d.step is not None or d.frozen or any(said is not None for said in (s.kink, s.value, s.derivative))
        return ("", "") if here or not self.held.traceable else beside.special_inputs(self.held)

    def beside(self, which: int = 0) -> FunctionProbe | str:
        """The same case at a generic point near by, from size ``which`` of the moves on; or why not."""
        for size in beside.SIZES[which:]:
            point = beside.neighbour(self.held, self.seed, size)
            found = None if point is None else self.differentiator.beside(point)
            if point is not None and found is None:
                return "the function runs too long to be asked once more"
            if found is not None and found.is_defined:
                return self._at(found)
        return "no value beside it is finite"

    def _at(self, differentiator: Differentiator) -> FunctionProbe:
        made = replace(self, options=replace(self.options, curves=False))
        held = differentiator.held
        made.__dict__.update(
            differentiator=differentiator, arguments=held.arguments, _frozen_function=FrozenFunction(held, ())
        )
        return made

    def given_values(self) -> GivenValues:
        """The values and derivatives that the author gave, flattened."""
        derivative = self.check_case.derivative
        if derivative is None and self.options.exact is not None:
            args, kwargs = self.arguments.rebuild(self.arguments.space.split(jnp.asarray(self.arguments.point)))
            derivative = self.options.exact(*args, **kwargs)
        given = self.check_case.value
        value = None if given is None else vector(given, self.held.outputs.size, "value=")
        if derivative is None:
            return GivenValues(value)
        return GivenValues(value, *self.differentiator.directional(jacobian(derivative, self.held)))

    def gradient_dtypes(self) -> list[tuple[Label, str, str]]:
        """For each differentiated leaf, its dtype and that of its gradient (where reverse mode exists)."""
        if not self.held.traceable or "rev" not in (self.options.modes or MODES):
            return []
        try:
            return gradient_dtypes(self.held)
        except Exception:  # GRD102 reports what reverse mode raises
            return []

    def downcasts(self, path: tuple[Mode, ...], input: Label, output: Label) -> list[Downcast]:
        """Equations that narrow a float below 64 bits on its way from an input to an output: what, file, line."""
        found = self.differentiator.dependence
        between = found.between(path, input, output)
        return [what for what, pairs in found.narrowed if (pairs & between).any()]

    def iteration_error(self, comparison: DerivativeComparison, mode: Mode) -> Array:
        """The relative error that iterations which stop at a tolerance may account for, (D, columns)."""
        found = self.differentiator.dependence
        columns = comparison.column_labels(mode)
        own = found.largest(
            iteration_tolerance.iteration_error(found), comparison.path, comparison.input_labels, columns
        )
        return np.where(own > 0, np.maximum(own, self._claims_open(comparison.path)), 0.0) if own.any() else own

    def _claims_open(self, path: tuple[Mode, ...]) -> float:
        if path not in self._opens:
            self._opens[path] = iteration_tolerance.claims_open(self.differentiator, path)
        return self._opens[path]

    def continued_iteration(self, path: tuple[Mode, ...], mode: Mode) -> ContinuedIteration | None:
        """Claims and measurement when iterations which stop at a tolerance are run on."""
        if (path, mode) not in self._further:
            self._further[path, mode] = iteration_tolerance.further(self.differentiator, path, mode)
        return self._further[path, mode]

    def rules_in_use(self) -> tuple[CustomRuleUse, ...]:
        """The custom rules and ``stop_gradient`` that the function uses."""
        return self._rewriter.rules_in_use

    def without(self, removed: frozenset[int], path: tuple[Mode, ...], mode: Mode) -> Array | DerivativeError:
        """The derivative by a mode with the code under some rules in their place."""
        return self._rewriter.claim(removed, path, mode)

    @cached_property
    def _rewriter(self) -> RuleRewriter:
        return RuleRewriter(self.differentiator, self.function)

    def nonfinite_source(self, mode: Mode, row: int, column: int) -> NonfiniteSource | None:
        """The equation that first makes a mode's derivative not finite, for a direction and a column."""
        return of_claim(self.differentiator, mode, row, column)

    def constants(self) -> tuple[tuple[str, int], ...]:
        """The places where ``stop_gradient`` values are held at the base point."""
        return self._frozen_function.places

    def raises_result(self) -> RaisesResult | None:
        """The errors of an input that must be refused; None for other cases."""
        if self.check_case.error is None:
            return None
        return raises_result(self.function, self.arguments, self.check_case, self.options.modes or MODES)

    def rounding_sensitivity(self, path: tuple[Mode, ...], mode: Mode) -> Array:
        """The change of a mode's derivative when the point moves by a few units in its last place."""
        return self.differentiator.rounding_sensitivity(path, mode)

    def rounding(self, path: tuple[Mode, ...], mode: Mode) -> Array | float:
        """The rounding of a mode's derivative; 0 where it would cost too much to compute."""
        return self.differentiator.rounding(path, mode)

    def roundoff(self, path: tuple[Mode, ...], mode: Mode | None, inputs: bool = False) -> Array | float:
        """The rounding of a mode's derivative by random rounding; for mode None, that of the value."""
        if (path, mode, inputs) not in self._roundoffs:
            self._roundoffs[path, mode, inputs] = witnesses.roundoff(self.differentiator, path, mode, inputs)
        return self._roundoffs[path, mode, inputs]

    def independent(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Elements (D, columns) whose output provably depends on no input that moves."""
        if (path, mode) not in self._independent:
            self._independent[path, mode] = witnesses.independent(self.differentiator, path, mode)
        return self._independent[path, mode]

    def unaffected_by_nan(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Elements (D, columns) whose output is the same, bit for bit, for nan and both infinities."""
        return witnesses.unaffected_by_nan(self.differentiator, path, mode)

    def witness(self, path: tuple[Mode, ...], mode: Mode) -> ComplexStep | None:
        """The complex step of the numbers of a mode; None where it is not available."""
        if path not in self._witnesses:
            self._witnesses[path] = witnesses.witness(self.differentiator, path)
        found, comparison = self._witnesses[path], self.comparison(path)
        if found is None or isinstance(comparison, DerivativeError):
            return None
        columns = comparison.columns(mode)
        return ComplexStep(found.value[:, columns], found.error[:, columns], found.reason)

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
    def _further(self) -> dict[tuple[tuple[Mode, ...], Mode], ContinuedIteration | None]:
        return {}

    @cached_property
    def _witnesses(self) -> dict[tuple[Mode, ...], ComplexStep | None]:
        return {}

    def locate(self, mode: Mode, row: int, column: int) -> LocatedError | None:
        """The input, of many, that a disagreement along a direction belongs to."""
        return bisection.locate(self.differentiator, mode, row, column)

    def routes(self) -> list[ConsistencyPair]:
        """Pairs of ways to compute the same numbers."""
        return routes.routes(self.held, _modes(self.comparison()), self.seed, self.clock)

    def repeated(self) -> list[ConsistencyPair]:
        """Values of several calls with the same arguments."""
        return repeatability.repeated(self.held, self.clock)

    def reused_keys(self) -> str:
        """JAX's error about a PRNG key that is used twice; empty if there is none."""
        return repeatability.reused_keys(self.held)

    def surrogate_values(self) -> SurrogateValues | None:
        """The values and derivatives of a surrogate beside the declared ones; None for other claims."""
        d = self.options
        said = (d.forward, d.derivative_of, d.rule, self.check_case.tangent)
        return self._rule_probe.surrogate_values if any(given is not None for given in said) else None

    @property
    def is_surrogate(self) -> bool:
        """Whether the claim is a surrogate's."""
        return self.options.surrogate

    def rule_probe(self) -> RuleProbe | None:
        """The probe of a surrogate, or of a function that is a custom rule itself; else None."""
        return self._rule_probe if self.options.surrogate or rule_of(self.function) is not None else None

    @cached_property
    def _rule_probe(self) -> RuleProbe:
        d = self.options
        said = (d.order2, d.ties, d.bounds, d.dtypes, d.shapes)
        declared = Declaration(d.forward, d.derivative_of, d.rule, self.check_case.tangent, *said)
        exact = self._arguments(self.function, d.exact_in) if d.exact_in else None
        spoken = coordinates(self.held.arguments, exact)
        return RuleProbe(self.held, self.function, declared, d.modes or MODES, spoken, self.seed, self.clock)

    def exact_arguments(self) -> FunctionProbe | None:
        """A surrogate as a function of the arguments in which it is claimed to be exact."""
        return self._exact(self.function, self.options.exact_in) if self.options.exact_in else None

    def declared_function(self) -> FunctionProbe | None:
        """The function whose derivative a surrogate is declared to have, as an exact claim."""
        other = self.options.derivative_of
        if other is None:
            return None
        given = self.check_case
        return self._exact(other, differentiated(self.function, given.args, given.kwargs, self.options.wrt))

    def _exact(self, function: Callable[..., Any], wrt: Wrt) -> FunctionProbe:
        """A function of the same arguments, some of them differentiated, under an exact claim."""
        d = self.options
        options = CheckOptions(modes=d.modes, tolerance=d.tolerance, wrt=wrt, curves=d.curves)
        return FunctionProbe(function, self.check_case, options, self.seed, self.clock)

    def _arguments(self, function: Callable[..., Any], wrt: Wrt) -> BoundArguments:
        random = generator(self.seed, "draw")
        return bind_arguments(function, self.check_case.args, self.check_case.kwargs, wrt, random)


def _modes(comparison: DerivativeComparison | DerivativeError) -> tuple[Mode, ...]:
    """The modes in which a derivative could be had."""
    if isinstance(comparison, DerivativeError):
        return ()
    return tuple(mode for mode, claim in comparison.autodiff.items() if not isinstance(claim, DerivativeError))
