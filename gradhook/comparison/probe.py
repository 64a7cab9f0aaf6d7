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
from gradhook.model.plots import Curve, Jacobian
from gradhook.model.results import Mode

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
    """The name of one real number in a tree: ``params['w'][0, 2]``, with ``.imag`` for a complex one's second half.

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
    """Why a derivative could not be had: ``missing`` if JAX has no such mode for the function, else an exception."""

    missing: bool
    message: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Pullbacks:
    """Cotangents of several signs and sizes, pulled back: they show a rule that is not linear in its cotangent.

    Each is a combination ``mix`` (e, r) of the r cotangents whose pullbacks are claimed; ``autodiff`` (D, e) are the
    pullbacks along the directions of the comparison.
    """

    mix: Array
    autodiff: Array


@dataclass(frozen=True)
class ComplexStep:
    """The complex step of the numbers of a comparison: ``value`` ± ``error``, each (D, columns); nan where it has none.

    ``error`` is the roundoff of the derivative's own terms. ``reason`` names what keeps some numbers from it.
    """

    value: Array
    error: Array
    reason: str = ""


@dataclass(frozen=True)
class DerivativeComparison:
    """One function R^n -> R^m along D directions: what finite differences measure and what each mode claims.

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
        """The measurement of the numbers that the claims of a mode speak of."""
        return measured_columns(self.measured, self.columns(mode))

    def columns(self, mode: Mode) -> slice:
        """The columns of ``measured`` that the claims of a mode speak of."""
        outputs = len(self.output_labels)
        return slice(outputs, None) if mode == "rev" and len(self.weights) else slice(0, outputs)

    def column_labels(self, mode: Mode) -> tuple[Label, ...]:
        """The names of the columns that the claims of a mode speak of."""
        if mode == "rev" and len(self.weights):
            return tuple(Label("combination", (k,)) for k in range(len(self.weights)))
        return self.output_labels


@dataclass(frozen=True)
class GivenValues:
    """What the author gave: a value (m,), a derivative along each direction (D, m); None where nothing was given.

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
        """Where a finding about it stands: in the user's code if it is there at all."""
        path, line = self.used if self.used[0] else (self.path, self.line)
        return path or None, line or None


@dataclass(frozen=True)
class NonfiniteSource:
    """The equation of a derivative program that makes it infinite or nan: its primitive, its place, the usual cause."""

    primitive: str
    path: str
    line: int
    cause: str = ""


@dataclass(frozen=True)
class RaisesResult:
    """What happened to an input that must be refused: exception per route (``""`` where none was raised)."""

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
    """The same numbers computed in two ways that must agree to rounding: what is compared, and both results.

    ``allowed`` is how far each element may lie from its other because of its rounding, or of a loop that stops early.
    """

    name: str
    mode: Mode | None
    got: Array | DerivativeError
    expected: Array
    allowed: Array | float = 0.0

    def wrong(self, relative: float) -> Flags:
        """Where the two differ, each element on its own scale."""
        if isinstance(self.got, DerivativeError):
            return np.zeros(self.expected.shape, dtype=bool)
        return differ(self.got, self.expected, relative, self.allowed)

    def rounded(self, relative: float, rounding: Callable[[], Array | float]) -> ConsistencyPair:
        """The same pair with its rounding, which is computed only where a finite expected number is missed."""
        if not (self.wrong(relative) & np.isfinite(self.expected)).any():
            return self
        return replace(self, allowed=self.allowed + rounding())


class PlotSource(Protocol):
    """What pictures of answers are drawn from."""

    def curve(self, path: tuple[Mode, ...], mode: Mode, place: tuple[int, int]) -> Curve | None:
        """The differences behind one element of a comparison."""

    def jacobian(self, mode: Mode) -> Jacobian | None:
        """All first derivatives, claimed and measured, where they are few."""


class Probe(Protocol):
    """A function held at a case, with instruments."""

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
        """What pictures of the answers are drawn from; None where nobody wants any."""

    def comparison(self, path: tuple[Mode, ...] = ()) -> DerivativeComparison | DerivativeError:
        """The function (empty path) or the derivative reached by a path of modes."""

    def special_inputs(self) -> tuple[str, str]:
        """What is special about the given inputs and what would not show there; empty: nothing is asked beside them."""

    def beside(self, which: int = 0) -> Probe | str:
        """The same questions at a generic point near by, the nearer the larger ``which`` is (up to 2); or why not."""

    def given_values(self) -> GivenValues: ...
    def gradient_dtypes(self) -> list[tuple[Label, str, str]]:
        """For each differentiated leaf, its dtype and that of its gradient."""

    def downcasts(self, path: tuple[Mode, ...], input: Label, output: Label) -> list[Downcast]:
        """Equations that narrow a float below 64 bits on its way from an input to an output of a comparison."""

    def iteration_error(self, comparison: DerivativeComparison, mode: Mode) -> Array:
        """The relative error that iterations which stop at a tolerance may account for, (D, columns)."""

    def rules_in_use(self) -> tuple[CustomRuleUse, ...]:
        """The custom rules and ``stop_gradient`` that the function uses."""

    def without(self, removed: frozenset[int], path: tuple[Mode, ...], mode: Mode) -> Array | DerivativeError:
        """What a mode claims if the rules_in_use of these positions are replaced by the code under them."""

    def nonfinite_source(self, mode: Mode, row: int, column: int) -> NonfiniteSource | None:
        """What first makes the claim of a mode not finite, for a direction and an output (or combination)."""

    def constants(self) -> tuple[tuple[str, int], ...]:
        """Where values under ``stop_gradient`` are held at the base point, as the author asked."""

    def raises_result(self) -> RaisesResult | None: ...
    def surrogate_values(self) -> SurrogateValues | None: ...
    def rounding_sensitivity(self, path: tuple[Mode, ...], mode: Mode) -> Array:
        """How far the claims of a mode move when the point does by a few units in its last place: their rounding."""

    def rounding(self, path: tuple[Mode, ...], mode: Mode) -> Array | float:
        """What the claims of a mode may lose by rounding, (D, columns); 0 where it would cost too much to know."""

    def roundoff(self, path: tuple[Mode, ...], mode: Mode | None, inputs: bool = False) -> Array | float:
        """How far rounding of every step may move the claims of a mode, (D, columns); of None, the value (m,).

        With ``inputs`` also rounding of the inputs. It is asked where numbers disagree.
        """

    def independent(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Where an output depends on no input that a direction moves, (D, columns), as far as that can be proven."""

    def unaffected_by_nan(self, path: tuple[Mode, ...], mode: Mode) -> Flags:
        """Where nan and both infinities in place of the moved inputs change no bit of the output, (D, columns)."""

    def witness(self, path: tuple[Mode, ...], mode: Mode) -> ComplexStep | None:
        """What the complex step says of the numbers that a mode claims; None where it cannot be asked."""

    def locate(self, mode: Mode, row: int, column: int) -> LocatedError | None:
        """Which input a disagreement along a direction that moves everything belongs to, of many inputs."""

    def routes(self) -> list[ConsistencyPair]:
        """Pairs of ways to compute the same numbers: vmap and a loop, one argument alone and all together, …"""

    def repeated(self) -> list[ConsistencyPair]:
        """Values of several calls with the same arguments."""

    def reused_keys(self) -> str:
        """What JAX says about a PRNG key that is used twice; empty if none is."""

    @property
    def is_surrogate(self) -> bool:
        """Whether the claim is a surrogate's."""

    def rule_probe(self) -> SurrogateProbe | None:
        """What more can be asked of a function with a rule of its own; None for any other."""

    def exact_arguments(self) -> Probe | None:
        """A surrogate as a function of the arguments in which it is claimed to be exact."""

    def declared_function(self) -> Probe | None:
        """The function whose derivative a surrogate is declared to have, on its own."""
