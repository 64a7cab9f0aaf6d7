"""What the catalogue says about one function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Point = tuple[Any, ...]


@dataclass(frozen=True)
class Mark:
    """What is right at a point where a plain pass is not: ``verdict`` and why.

    ``codes`` are the causes that an undecided answer may name (empty: any). ``order`` 1 speaks of the first derivative
    (and of the second, which waits for it), 2 of the second alone. ``may_pass``: a pass is as good.
    """

    verdict: str
    why: str
    codes: tuple[str, ...] = ()
    order: int = 1
    may_pass: bool = False


@dataclass(frozen=True)
class Entry:
    """A function of floating arrays, the points at which it is checked, marks for some of them, and its mpmath twin.

    ``truth`` takes the arguments as (nested lists of) mpmath numbers and returns a number or a nested list.
    ``order`` is the highest that the function has.
    """

    name: str
    call: Callable[..., Any]
    points: Mapping[str, Point]
    marks: Mapping[str, Mark] = field(default_factory=dict)
    truth: Callable[..., Any] | None = None
    order: int = 2
    modes: tuple[str, ...] | None = None
    ordinary: int = 2
    """So many of the first points are ordinary ones; mutants are made there (0: none, compiling them takes too long)."""


def kink(why: str = "kink", order: int = 1) -> Mark:
    """Two different one-sided slopes."""
    return Mark("undecided", why, ("GRD401",), order)


def jump(why: str = "jump", order: int = 1) -> Mark:
    """The value jumps."""
    return Mark("undecided", why, ("GRD402",), order)


def edge(why: str = "edge of the domain", order: int = 1) -> Mark:
    """One side is not defined, or the slope grows without bound towards it."""
    return Mark("undecided", why, ("GRD403", "GRD404", "GRD408"), order, True)


def unclear(why: str, *codes: str, order: int = 1) -> Mark:
    """Undecided for the reason given."""
    return Mark("undecided", why, codes, order, True)


def wrong(why: str, order: int = 1) -> Mark:
    """JAX is wrong here; the oracle proves it."""
    return Mark("fail", why, (), order, True)


def close(why: str = "a kink or jump 1e-12 or less away", order: int = 2) -> Mark:
    """Only steps so small are free of the fault nearby that rounding over step is coarse."""
    return Mark("undecided", why, ("GRD409", "GRD405", "GRD407"), order, True)


def outside(why: str = "outside the domain") -> Mark:
    """The value is not finite: nothing is compared."""
    return Mark("none", why, (), 1, True)


def unary(
    name: str,
    call: Callable[..., Any],
    at: Iterable[float],
    truth: Callable[..., Any] | None = None,
    marks: Mapping[float, Mark] | None = None,
    order: int = 2,
    ordinary: int = 2,
) -> Entry:
    """A function of one number; points and marks are named by the number."""
    points = {f"{x:g}": (np.float64(x),) for x in at}
    return Entry(name, call, points, {f"{x:g}": m for x, m in (marks or {}).items()}, truth, order, None, ordinary)


def several(
    name: str,
    call: Callable[..., Any],
    at: Iterable[Point],
    truth: Callable[..., Any] | None = None,
    marks: Mapping[int, Mark] | None = None,
    order: int = 2,
    ordinary: int = 1,
) -> Entry:
    """A function of several arguments; points are named by their number, marks by the point's number."""
    points = {label(k, args): tuple(np.asarray(a, dtype=_kind(a)) for a in args) for k, args in enumerate(at)}
    names = list(points)
    return Entry(name, call, points, {names[k]: m for k, m in (marks or {}).items()}, truth, order, None, ordinary)


def label(number: int, args: Point) -> str:
    """A short name of a point: its numbers where they are few."""
    flat = [float(v) for a in args for v in np.ravel(np.real(a))]
    return "(" + ", ".join(f"{v:g}" for v in flat) + ")" if len(flat) <= 3 else f"#{number}"


def _kind(value: Any) -> Any:
    return np.complex128 if np.iscomplexobj(value) else np.float64


ORDINARY = (0.7, -1.3, 2.4)
REALS = (*ORDINARY, 0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 1e-5, -1e-12, 1e-30, 1e3, -1e3, 1e6)
SMALL = (*ORDINARY, 0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 1e-5, -1e-12, 1e-30, 20.0, -30.0)
POSITIVE = (0.7, 1.3, 2.4, 0.5, 1.0, 2.0, 3.0, 1e-5, 1e-12, 1e-30, 1e3, 1e6, 1e10)
UNIT = (0.3, 0.7, -0.4, 0.0, 0.5, -0.5, 1e-5, 1e-12, 0.999, 0.999999)
