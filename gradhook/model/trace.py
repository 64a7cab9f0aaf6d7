"""How a target was examined: numbers and words for `gradhook explain` and plots, never a user's arrays."""

from __future__ import annotations

from dataclasses import dataclass

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """How central differences approach one derivative, from the coarsest step to the finest.

    ``of`` names the derivative (``d out / d x[1]``), ``shape`` is a word of ``Smoothness``. ``noise`` is how far
    rounding alone may move each of the ``central`` differences. Where the function is not smooth, ``left`` and
    ``right`` are the one-sided differences; elsewhere they are empty. A difference that could not be taken is nan.
    """

    of: str
    mode: str
    claimed: float
    measured: float
    error: float
    shape: str
    steps: Numbers
    central: Numbers
    noise: Numbers
    left: Numbers = ()
    right: Numbers = ()


@dataclass(frozen=True)
class Jacobian:
    """What is claimed and measured of a small Jacobian: a row for each input, a column for each output."""

    mode: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    claimed: tuple[Numbers, ...]
    measured: tuple[Numbers, ...]


@dataclass(frozen=True)
class Staircase:
    """One output of a surrogate and its derivative by the rule, while one input moves through its domain."""

    input: str
    output: str
    at: Numbers
    value: Numbers
    slope: Numbers


@dataclass(frozen=True)
class InputTrace:
    """One array or number among the arguments: where it came from, where it may move, and whether it does.

    ``low`` and ``high`` are its smallest and largest value.
    """

    name: str
    kind: str
    source: str
    domain: str
    moved: bool
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class DerivativeTrace:
    """What one mode gives beside finite differences: all elements in numbers, and the worst one.

    ``fault`` is the reason why there is no derivative; then there is nothing else. ``curve`` shows the worst element.
    """

    what: str
    order: int
    fault: str = ""
    passed: int = 0
    failed: int = 0
    undecided: int = 0
    of: str = ""
    claimed: float = 0.0
    measured: float = 0.0
    error: float = 0.0
    allowed: float = 0.0
    resolution: float = 0.0
    noise: float = 0.0
    shape: str = ""
    decision: str = ""
    curve: Curve | None = None
    witness: str = ""
    """What resolved the worst element: ``differences``, ``complex step``, ``equations``, or ``disagree``."""


@dataclass(frozen=True)
class CaseTrace:
    """How one case was examined."""

    case: str
    inputs: tuple[InputTrace, ...] = ()
    outputs: tuple[str, ...] = ()
    lines: str = ""
    remarks: tuple[str, ...] = ()
    comparisons: tuple[DerivativeTrace, ...] = ()
