"""The probe: a function held at a case, as the checks see it.

Checks are handed a ``Probe`` and read arrays from it; they never call JAX. The numeric side implements it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gradhook.comparison.agreement import differ
from gradhook.comparison.judge import Array, Flags, Measurement, Tolerance, measured_columns
from gradhook.model.results import Mode
from gradhook.model.trace import Curve, Jacobian

if TYPE_CHECKING:
    from gradhook.comparison.surrogate_probe import SurrogateProbe, SurrogateValues


Downcast = tuple[str, str, int]
"""What narrows a float below 64 bits, and the file and line where it does."""
ALONG = " (along a direction)"
"""The part of a label that names a direction through one leaf, or a group of leaves, instead of one number."""

BALANCED = " (balanced)"
"""The part of the label of a direction along which all inputs of a large function contribute alike."""


@dataclass(frozen=True)
class Label:
    """The name of one real number in a tree: ``params['w'][0, 2]``, with ``.imag`` for imaginary parts.

    The leaf ``direction`` names a direction that moves everything; the part ``ALONG`` one that moves a leaf alone.
    """

    leaf: str
    index: tuple[int, ...] = ()
    part: str = ""

    def __str__(self) -> str:
        index = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return f"{self.leaf}{index}{self.part}"

    @property
    def is_direction(self) -> bool:
        """Whether this names a direction that moves every input."""
        return self.leaf == "direction"

    @property
    def moves_many(self) -> bool:
        """Whether this names a direction that moves many inputs, not a single number."""
        return self.is_direction or self.part == ALONG


@dataclass(frozen=True)
class DerivativeError:
    """Why a derivative is not available: ``missing`` if JAX has no such mode, else an exception."""

    missing: bool
    message: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Pullbacks:
    """Pullbacks of cotangents of several signs and sizes, which test linearity in the cotangent.

    Each is a combination ``mix`` (e, r) of the r cotangents whose pullbacks are claimed; ``autodiff`` (D, e) are the
    pullbacks along the directions of the comparison.
    """

    mix: Array
    autodiff: Array


@dataclass(frozen=True)
class ComplexStep:
    """The complex step: ``value`` ± ``error``, each (D, columns); nan where it is not available.

    ``error`` is the roundoff of the derivative's own terms. ``reason`` names what keeps some numbers from it.
    """

    value: Array
    error: Array
    reason: str = ""


@dataclass(frozen=True)
class ContinuedIteration:
    """AD and measured derivatives with loops run on beyond their tolerance, each (D, columns).

    ``converged``: running on has changed the measurement, by as little as it does where an iteration converges.
    """

    claim: Array
    value: Array
    error: Array
    converged: Flags


@dataclass(frozen=True)
class DerivativeComparison:
    """One function R^n -> R^m along D directions: its measured and its AD derivatives.

    ``measured`` is an estimate of shape (D, m + r): the m outputs, then r fixed combinations of them (``weights``
    (r, m)) where the outputs are too many to be pulled back one by one; then reverse mode is compared on those.
    ``autodiff[mode]`` has the shape (D, m) for ``fwd``; for ``rev`` (D, r), or (D, m) where r is 0.
    """

    path: tuple[Mode, ...]
    seeds: tuple[Array, ...]
    directions: Array
    input_labels: tuple[Label, ...]
    output_labels: tuple[Label, ...]
    weights: Array
    measured: Measurement
    autodiff: Mapping[Mode, Array | DerivativeError]
    pullbacks: Pullbacks | None = None

    @property
    def order(self) -> int:
        """1 for the function itself, 2 for a first derivative of it, and so on."""
        return len(self.path) + 1

    def measured_by(self, mode: Mode) -> Measurement:
        """The measurement of the columns of a mode."""
        return measured_columns(self.measured, self.columns(mode))

    def columns(self, mode: Mode) -> slice:
        """The columns of ``measured`` that belong to a mode."""
        outputs = len(self.output_labels)
        return slice(outputs, None) if mode == "rev" and len(self.weights) else slice(0, outputs)

    def column_labels(self, mode: Mode) -> tuple[Label, ...]:
        """The labels of the columns of a mode: outputs, or combinations of outputs."""
        if mode == "rev" and len(self.weights):
            return tuple(Label("combination", (k,)) for k in range(len(self.weights)))
        return self.output_labels


@dataclass(frozen=True)
class GivenValues:
    """The author's value (m,) and derivative along each direction (D, m); None where none was given.

    ``terms`` is the size of what each number of the derivative sums.
    """

    value: Array | None = None
    derivative: Array | None = None
    terms: Array | None = None


@dataclass(frozen=True)
class CustomRuleUse:
    """Something that makes JAX's derivative of a function another one than that of its code.

    ``kind`` is ``custom_jvp``, ``custom_vjp`` or ``stop_gradient``; ``path`` and ``line`` are those of the rule's
    function (of JAX's own rules, and of ``stop_gradient``: of the use). ``outermost``: it is used under no other rule,
    so the function's derivative meets it for certain; ``under``: where the rules are defined that it is used under.
    ``of_jax``: JAX brings the rule. ``itself``: the rule is the target's. ``used``: where the user's code uses the rule
    of another library. ``iterates``: the code under the rule has a loop that stops at a tolerance.
    """

    kind: str
    name: str
    path: str
    line: int
    outermost: bool = field(default=True, compare=False)
    under: frozenset[tuple[str, int]] = field(default=frozenset(), compare=False)
    of_jax: bool = False
    itself: bool = False
    used: tuple[str, int] = field(default=("", 0), compare=False)
    iterates: bool = field(default=False, compare=False)

    @property
    def place(self) -> tuple[str | None, int | None]:
        """The place of a finding about the rule: in the user's code if possible."""
        path, line = self.used if self.used[0] else (self.path, self.line)
        return path or None, line or None


@dataclass(frozen=True)
class NonfiniteSource:
    """The equation that makes a derivative infinite or nan: primitive, place and usual cause."""

    primitive: str
    path: str
    line: int
    cause: str = ""


@dataclass(frozen=True)
class RaisesResult:
    """The errors of an input that must be refused, by route (empty where none was raised)."""

    expected: str
    routes: Mapping[str, str]
    accepted: Mapping[str, bool]


@dataclass(frozen=True)
class LocatedError:
    """An input (or an interval of inputs) behind a disagreement, with its own numbers."""

    input: Label
    claimed: float
    measured: float
    error: float


@dataclass(frozen=True)
class ConsistencyPair:
    """The same numbers computed in two ways that must agree to rounding, and both results.

    ``allowed`` is how far each element may lie from its other because of its rounding, or of a loop that stops early.
    """

    name: str
    mode: Mode | None
    got: Array | DerivativeError
    expected: Array
    allowed: Array | float = 0.0

    def wrong(self, relative: float) -> Flags:
        """A mask of the elements where the two differ, each on its own scale."""
        if isinstance(self.got, DerivativeError):
            return np.zeros(self.expected.shape, dtype=bool)
        return differ(self.got, self.expected, relative, self.allowed)

    def rounded(self, relative: float, rounding: Callable[[], Array | float]) -> ConsistencyPair:
        """The same pair with its rounding, which is computed only where a finite expected number is missed."""
        if not (self.wrong(relative) & np.isfinite(self.expected)).any():
            return self
        return replace(self, allowed=self.allowed + rounding())


class PlotSource(Protocol):
    """The data of plots."""

    def curve(self, path: tuple[Mode, ...], mode: Mode, place: tuple[int, int]) -> Curve | None:
        """The differences behind one element of a comparison."""

    def jacobian(self, mode: Mode) -> Jacobian | None:
        """All first derivatives, claimed and measured, where they are few."""


class Probe(Protocol):
    """A function held at a case, with everything that checks may read of it."""

    @property
    def case(self) -> str: ...
    @property
    def order(self) -> int: ...
    @property
    def modes(self) -> tuple[Mode, ...] | None:
        """The modes that the author claims; None: those that the function has."""

    @property
    def tolerance(self) -> Tolerance: ...
    @property
    def kink(self) -> str | float | None: ...
    @property
    def self_test(self) -> bool: ...
    def plots(self) -> PlotSource | None:
        """The data of plots; None if no plots are made."""

    def comparison(self, path: tuple[Mode, ...] = ()) -> DerivativeComparison | DerivativeError:
        """The function (empty path) or the derivative reached by a path of modes."""

    def special_inputs(self) -> tuple[str, str]:
        """The special property of the given inputs, and the errors that it hides; empty to skip the test."""

    def beside(self, which: int = 0) -> Probe | str:
        """The same case at a generic point near by, nearer for larger ``which`` (up to 2); or why not."""

    def given_values(self) -> GivenValues: ...
    def gradient_dtypes(self) -> list[tuple[Label, str, str]]:
        """For each differentiated leaf, its dtype and that of its gradient."""

    def downcasts(self, path: tuple[Mode, ...], input: Label, output: Label) -> list[Downcast]:
        """Equations that narrow a float below 64 bits on its way from an input to an output of a comparison."""

    def iteration_error(self, comparison: DerivativeComparison, mode: Mode) -> Array:
        """The relative error that iterations which stop at a tolerance may account for, (D, columns)."""

    def continued_iteration(self, path: tuple[Mode, ...], mode: Mode) -> ContinuedIteration | None:
        """Claims and measurement when such iterations are run on; None where that cannot be had."""

    def rules_in_use(self) -> tuple[CustomRuleUse, ...]:
        """The custom rules and ``stop_gradient`` that the function uses."""

    def without(self, removed: frozenset[int], path: tuple[Mode, ...], mode: Mode) -> Array | DerivativeError:
        """The derivative by a mode with the code under some rules in their place."""

    def nonfinite_source(self, mode: Mode, row: int, column: int) -> NonfiniteSource | None:
        """The equation that first makes a mode's derivative not finite, for a direction and a column."""

    def constants(self) -> tuple[tuple[str, int], ...]:
        """The places where ``stop_gradient`` values are held at the base point."""

    def raises_result(self) -> RaisesResult | None: ...
    def surrogate_values(self) -> SurrogateValues | None: ...
    def rounding_sensitivity(self, path: tuple[Mode, ...], mode: Mode) -> Array:
        """The change of a mode's derivative when the point moves by a few units in its last place."""

    def rounding(self, path: tuple[Mode, ...], mode: Mode) -> Array | float:
        """The rounding of a mode's derivative, (D, columns); 0 where it would cost too much to compute."""

    def roundoff(self, path: tuple[Mode, ...], mode: Mode | None, inputs: bool = False) -> Array | float:
        """The rounding of a mode's derivative by random rounding, (D, columns); of None, the value's (m,).

        With ``inputs`` also rounding of the inputs. It is computed where numbers disagree.
        """

    def independent(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Elements (D, columns) whose output provably depends on no input that moves."""

    def unaffected_by_nan(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Elements (D, columns) whose output is the same, bit for bit, for nan and both infinities."""

    def witness(self, path: tuple[Mode, ...], mode: Mode) -> ComplexStep | None:
        """The complex step of the numbers of a mode; None where it is not available."""

    def locate(self, mode: Mode, row: int, column: int) -> LocatedError | None:
        """The input, of many, that a disagreement along a direction belongs to."""

    def routes(self) -> list[ConsistencyPair]:
        """Pairs of ways to compute the same numbers: vmap and a loop, one argument alone and all together, …"""

    def repeated(self) -> list[ConsistencyPair]:
        """Values of several calls with the same arguments."""

    def reused_keys(self) -> str:
        """JAX's error about a PRNG key that is used twice; empty if there is none."""

    @property
    def is_surrogate(self) -> bool:
        """Whether the claim is a surrogate's."""

    def rule_probe(self) -> SurrogateProbe | None:
        """The probe of a function with a rule of its own; None for any other."""

    def exact_arguments(self) -> Probe | None:
        """A surrogate as a function of the arguments in which it is claimed to be exact."""

    def declared_function(self) -> Probe | None:
        """The function whose derivative a surrogate is declared to have, as an exact claim."""
