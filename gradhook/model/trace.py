"""How a target was examined, for ``gradhook explain``: numbers and words, never whole arrays."""

from __future__ import annotations

from dataclasses import dataclass

from gradhook.model.plots import Curve


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
