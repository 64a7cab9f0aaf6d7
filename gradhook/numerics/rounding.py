"""Measure the rounding of numbers: how far they move when their inputs do, by a few units in the last place.

Two ways to compute the same number may differ by that much and both be right. It is measured only where two numbers
disagree, so that right functions cost nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from gradhook.comparison.probe import Fault
from gradhook.numerics.drawing import generator
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.programs import Clock
from gradhook.numerics.together import together

UNITS = 4
"""Each number moves by 1 to so many units in its last place, up or down."""
PATTERNS = 4
"""So many patterns of moves are tried, each with its opposite."""
SLACK = 8
"""A sum in another order may lose more than a few tries have shown."""


def rounding(questions: Mapping[str, Callable[..., Any]], arguments: tuple[Any, ...], clock: Clock) -> dict[str, Array]:
    """How far each answer moves, element by element; 0 where that cannot be computed."""
    if not questions:
        return {}
    stacked = tuple(_moved(np.asarray(given), k) for k, given in enumerate(arguments))
    found = together({name: _mapped(ask) for name, ask in questions.items()}, stacked, clock)
    return {name: np.zeros(1) if isinstance(rows, Fault) else spread(rows) for name, rows in found.items()}


def moves(given: Array, *names: object) -> Array:
    """The given numbers, then moved by patterns of a few units in their last place, then by the opposite patterns."""
    random = generator("rounding", *names)
    shape = (PATTERNS, *given.shape)
    units = random.integers(1, UNITS + 1, shape) * random.choice([-1, 1], shape)
    with np.errstate(all="ignore"):
        apart = np.where(np.isfinite(given), units * np.spacing(given), 0.0)
        return np.concatenate([given[None], given + apart, given - apart])


def spread(rows: Array) -> Array:
    """How far rows of numbers, computed from ``moves``, lie from the first row.

    Of a pattern and its opposite the smaller change counts: at a jump only one of them crosses to the other side.
    """
    with np.errstate(all="ignore"):
        changes = np.abs(rows[1:] - rows[0])
        smaller = np.fmin(changes[:PATTERNS], changes[PATTERNS:])
    return np.asarray(SLACK * np.where(np.isfinite(smaller), smaller, 0.0).max(axis=0))


def _moved(given: Any, place: int) -> Array:
    return moves(given.astype(np.float64), place)


def _mapped(question: Callable[..., Any]) -> Callable[..., Any]:
    """The question for every row, one after the other: no batching rule takes part in it."""
    return lambda *stacked: jax.lax.map(lambda row: question(*row), stacked)
