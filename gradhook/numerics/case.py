"""The case that is checked, and the options of its check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradhook.comparison.judge import Tolerance
from gradhook.model.results import Mode
from gradhook.numerics.function import Wrt


@dataclass(frozen=True)
class CheckCase:
    """One case: the arguments, and what the author states about them."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    derivative: Any = None
    tangent: Any = None
    kink: str | float | None = None
    error: type[BaseException] | tuple[type[BaseException], ...] | None = None
    match: str | None = None


@dataclass(frozen=True)
class CheckOptions:
    """The options of a claim, the same for each of its cases."""

    order: int = 1
    self_test: bool = False
    curves: bool = False
    modes: tuple[Mode, ...] | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    step: float | None = None
    wrt: Wrt = None
    exact: Callable[..., Any] | None = None
    forward: Callable[..., Any] | None = None
    derivative_of: Callable[..., Any] | None = None
    rule: Callable[..., Any] | None = None
    surrogate: bool = False
    exact_in: tuple[str | int, ...] | None = None
    order2: str | None = None
    ties: str | None = None
    bounds: str | None = None
    dtypes: tuple[str, ...] = ()
    """The dtypes in which a rule is claimed to work, besides those of every claim."""
    shapes: str | None = None
    """``"any"``: a rule is claimed to work at rank 0 and size 0 too."""
    frozen: bool = False
    """Whether values under ``stop_gradient`` are meant to be constants."""
