"""The probe of a function with a rule of its own, and the records that checks read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gradhook.comparison.agreement import UNDERFLOW, differ, margin
from gradhook.comparison.judge import SURROGATE, Array, Flags
from gradhook.comparison.probe import ConsistencyPair, CustomRuleUse, DerivativeError, Label
from gradhook.model.results import Mode

Triple = tuple[float, float, float]
"""A number left of, on and right of a boundary, one unit in the last place apart."""


@dataclass(frozen=True)
class SurrogateValues:
    """Values and derivatives of a surrogate beside the declared ones, flattened.

    ``values`` maps a route (``under jit``, …) to the value there, of every output, or why there is none; ``references``
    are the values of ``forward=``, called plainly and compiled. ``declared`` is (D, m), nan where nothing was declared;
    ``allowed`` (K, D, m) are the conventions that are as good where the declared derivative itself has a kink;
    ``autodiff`` and ``weights`` are those of ``DerivativeComparison``. ``rounding`` is how far rounding may move each
    number of a claim and the declared one apart, ``value_rounding`` each value; both are 0 where all are the same
    without it.
    """

    references: tuple[Array, ...]
    values: Mapping[str, Array | DerivativeError]
    value_labels: tuple[Label, ...]
    declared: Array
    allowed: Array
    weights: Array
    autodiff: Mapping[Mode, Array | DerivativeError]
    directions: Array
    input_labels: tuple[Label, ...]
    output_labels: tuple[Label, ...]
    rounding: Mapping[Mode, Array] = field(default_factory=dict)
    value_rounding: Array | float = 0.0

    def ways(self, mode: Mode) -> tuple[Array, ...]:
        """The declared derivative, then its alternatives, laid out like the derivative of a mode."""
        combined = mode == "rev" and len(self.weights) > 0
        every = (self.declared, *self.allowed)
        return tuple(way @ self.weights.T if combined else way for way in every)

    def margin(self, mode: Mode, claim: Array, way: Array) -> Array:
        """The distance that each number may lie from the declared one."""
        return margin(claim, way, SURROGATE, self._allowed(mode))

    def as_declared(self, mode: Mode, claim: Array) -> Flags:
        """A mask of numbers that equal a declared one up to rounding, or have none."""
        allowed, ways = self._allowed(mode), self.ways(mode)
        return np.asarray(np.any([~differ(claim, way, SURROGATE, allowed) for way in ways], axis=0) | np.isnan(ways[0]))

    def _allowed(self, mode: Mode) -> Array | float:
        return self.rounding.get(mode, 0.0) + UNDERFLOW


@dataclass(frozen=True)
class StructureResult:
    """Whether the derivative takes one dtype or shape that the function takes: empty, or the problem.

    ``claimed``: whether that dtype or shape is part of the claim.
    """

    name: str
    mode: Mode | None
    problem: str
    path: str = ""
    line: int = 0
    claimed: bool = True


@dataclass(frozen=True)
class Discontinuity:
    """A place, to the last bit, at which the value (``jumps``) or the derivative of one output jumps.

    ``at`` are three neighbouring floating point numbers of one input; ``reference`` and ``declared`` are what
    ``forward=`` and the declared derivative give there, nan where nothing was declared; ``rounding`` is how far it may
    move ``slope`` and ``declared`` apart. ``free`` where the declared derivative is that of a function with a kink
    here, so that either side's is as good on the boundary itself.
    """

    input: str
    output: str
    at: Triple
    value: Triple
    slope: Triple
    reference: Triple
    declared: Triple
    jumps: bool
    free: bool = False
    rounding: Triple = (0.0, 0.0, 0.0)

    @property
    def saturates(self) -> bool:
        """Whether the derivative is switched off on one side only."""
        left, _, right = self.slope
        return not self.jumps and (left == 0) != (right == 0)

    @property
    def closed(self) -> bool | None:
        """Whether a saturation bound itself still passes the derivative; None where it is neither."""
        left, on, right = self.slope
        inner = left if right == 0 else right
        return True if _near(on, inner) else False if on == 0 else None


@dataclass(frozen=True)
class Mismatch:
    """A point of a sweep at which the function differs from the declaration."""

    input: str
    at: float
    output: str
    got: float
    wanted: float
    tangent: bool = False


@dataclass(frozen=True)
class Sweep:
    """One input moved through its domain, everything else held.

    ``samples`` are inputs, values and derivatives of ``output``. ``ties`` names how halves are rounded (``""`` where
    the value does not look rounded), ``bias`` is the largest distance of the rule from the true derivative where one
    exists (nan: nowhere), ``coincides`` whether it is the same.
    """

    input: str
    output: str
    samples: tuple[Array, Array, Array]
    discontinuities: tuple[Discontinuity, ...]
    mismatches: tuple[Mismatch, ...]
    ties: str
    bias: float
    coincides: bool
    leaf: str = ""
    """The argument, or the part of it, to which ``input`` belongs."""


@dataclass(frozen=True)
class ActiveRules:
    """The custom rules inside a function on which its derivative rests, and those that have no part in it.

    ``reached``: whether there is anything at all, a rule or a ``stop_gradient``, that could make a surrogate of it.
    """

    reached: bool
    used: tuple[CustomRuleUse, ...] = ()
    inactive: tuple[CustomRuleUse, ...] = ()


class SurrogateProbe(Protocol):
    """A function with a rule of its own, with everything that checks may read of it."""

    @property
    def reason(self) -> str:
        """The reason why nothing can be computed; empty where it can."""

    @property
    def order2(self) -> str | None: ...
    @property
    def ties(self) -> str | None: ...
    @property
    def bounds(self) -> str | None: ...
    def linearity(self) -> tuple[ConsistencyPair, ...]: ...
    def structure(self) -> tuple[StructureResult, ...]: ...
    def composition(self) -> tuple[ConsistencyPair, ...]: ...
    def second(self) -> tuple[ConsistencyPair, ...]: ...
    def sweeps(self) -> tuple[Sweep, ...]: ...
    def active_rules(self) -> ActiveRules: ...


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
