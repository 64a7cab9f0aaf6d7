"""The numbers that plots of a result are drawn from: derivatives and steps, never a user's arrays."""

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
