"""Classify a point along a line: smooth, kink, jump, cusp, vertical tangent or edge of the domain.

Central differences average a kink away in silence, so the one-sided slopes are looked at, on the finest steps at which
the function still changes measurably. Each criterion is a rate of change from level to level (steps shrink
fourfold, so a quantity that falls like a power p of the step falls like 4^p).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradhook.comparison.judge import smoothness_code
from gradhook.model.results import Smoothness
from gradhook.numerics.finite_difference.richardson import RATIO, Array, Flags, StepTable

WINDOW = 4
BESIDE = 3
"""So many of the finest steps may end short of a kink beside the point, which then lies some 1000 ulps away at most."""


@dataclass(frozen=True)
class PointClassification:
    """The class of each point, ``smoothness`` (D, m), and its one-sided slopes at the finest usable step."""

    smoothness: NDArray[np.int8]
    """The codes of ``Smoothness`` by ``smoothness_code``."""
    left: Array
    right: Array


def select(classification: PointClassification, mask: Flags, other: PointClassification) -> PointClassification:
    """``other`` where the mask is True, ``classification`` elsewhere."""
    return PointClassification(
        np.where(mask, other.smoothness, classification.smoothness),
        np.where(mask, other.left, classification.left),
        np.where(mask, other.right, classification.right),
    )


def read(table: StepTable) -> PointClassification:
    """Classify every direction and output of a table; smooth wherever no criterion is met."""
    window = _window(table)
    right, left = _pick(table.forward, window), _pick(table.backward, window)
    shape = np.full(right[:, 0].shape, smoothness_code(Smoothness.SMOOTH))
    for name, seen in _criteria(table, window, left, right):
        shape = np.where(seen & (shape == smoothness_code(Smoothness.SMOOTH)), smoothness_code(name), shape)
    return PointClassification(
        np.where(_edge(table), smoothness_code(Smoothness.EDGE), shape), left[:, -1], right[:, -1]
    )


def _criteria(table: StepTable, window: NDArray[np.intp], left: Array, right: Array) -> list[tuple[Smoothness, Flags]]:
    """Every criterion, in the order in which it is tried: a jump also bends, a cusp also grows."""
    step = _pick(np.broadcast_to(table.steps[:, :, None], table.plus.shape), window)
    noise = _pick(table.noise, window)
    usable = (window >= 0).all(axis=1)
    bend, mean = right - left, (left + right) / 2
    bends = usable & (np.abs(bend) > 16 * noise / step).all(axis=1)
    leaps = usable & (np.abs(mean) > 16 * noise / step).all(axis=1)
    size = np.maximum(np.abs(right), np.abs(left)) * step
    one_sign = (np.sign(bend) == np.sign(bend[:, :1])).all(axis=1)
    return [
        (Smoothness.JUMP, usable & _lasts(table, window) & _between(_rates(size), -0.07, 0.07)),
        (Smoothness.KINK, _slight_kink(table)),
        (Smoothness.KINK, bends & one_sign & _between(_rates(bend), -0.15, 0.15)),
        (Smoothness.CUSP, bends & one_sign & _between(_rates(bend), -0.97, -0.2)),
        (Smoothness.VERTICAL, leaps & _between(_rates(mean), -0.97, -0.2)),
    ]


def _slight_kink(table: StepTable) -> Flags:
    """A bend that is small beside the slope, seen on the finest steps and contradicted by none.

    A kink that lies a few of the finest steps beside the point bends only partly there: those steps are left out.
    """
    bend, doubt = table.forward - table.backward, 16 * table.noise / table.steps[:, :, None]
    shows = np.abs(bend) > doubt
    levels = np.where(shows, np.arange(shows.shape[1])[None, :, None], -1)
    order = np.sort(levels, axis=1)
    exact = _bends(table, bend, doubt, order[:, -WINDOW:], 0.0)
    beside = [
        _bends(table, bend, doubt, order[:, -WINDOW - skip : -skip], 1.0) & _nearly_finest(table, order, skip)
        for skip in range(1, BESIDE + 1)
    ]
    return np.asarray(np.any([exact, *beside], axis=0))


def _bends(table: StepTable, bend: Array, doubt: Array, finest: NDArray[np.intp], part: float) -> Flags:
    """Whether the bend is constant over a window, and any finer step shows at least ``part`` of it.

    With ``part`` 0 the finer steps must show the whole bend within their doubt; with 1 they may show any part of it.
    """
    seen = _pick(np.nan_to_num(bend), finest)
    constant = (finest >= 0).all(axis=1) & _between(_rates(seen), -0.15, 0.15)
    same_sign = (np.sign(seen) == np.sign(seen[:, :1])).all(axis=1)
    finer = np.arange(bend.shape[1])[None, :, None] > finest[:, -1:]
    last = seen[:, -1:]
    middle, width = (1 - part / 2) * last, (0.1 + part / 2) * np.abs(last)
    denied = finer & (np.abs(bend - middle) > doubt + width)
    consecutive = finest[:, -1] - finest[:, 0] < WINDOW + 2
    return np.asarray(constant & same_sign & consecutive & ~denied.any(axis=1))


def _nearly_finest(table: StepTable, order: NDArray[np.intp], skip: int) -> Flags:
    """Whether at most ``BESIDE`` steps that move the abscissa are finer than the window before ``skip``."""
    finest = (table.resolvable.cumsum(axis=1)).argmax(axis=1)
    return np.asarray(finest[:, None] - order[:, -1 - skip] <= BESIDE)


def _window(table: StepTable) -> NDArray[np.intp]:
    """The finest levels at which the value changes measurably, coarse to fine; -1 for none."""
    usable = table.resolvable[:, :, None] & (table.change > 64 * table.noise)
    levels = np.where(usable, np.arange(usable.shape[1])[None, :, None], -1)
    return np.sort(levels, axis=1)[:, -WINDOW:]


def _lasts(table: StepTable, window: NDArray[np.intp]) -> Flags:
    """Whether the window holds the finest step that moves the abscissa; the window of a nearby jump ends earlier."""
    finest = (table.resolvable.cumsum(axis=1)).argmax(axis=1)
    return np.asarray(window[:, -1] >= finest[:, None])


def _pick(values: Array, window: NDArray[np.intp]) -> Array:
    return np.take_along_axis(values, np.maximum(window, 0), axis=1)


def _rates(values: Array) -> Array:
    """Powers of the step by which magnitudes fall, between neighbouring levels of the window."""
    size = np.abs(values)
    return np.asarray(np.log(size[:, :-1] / size[:, 1:]) / np.log(RATIO))


def _between(rates: Array, low: float, high: float) -> Flags:
    return np.asarray(((rates > low) & (rates < high)).all(axis=1))


def _edge(table: StepTable) -> Flags:
    """One side finite and the other not, however small the step: the point lies on the edge of the domain."""
    told = table.resolvable[:, :, None] & (table.steps > 0)[:, :, None]
    finest = np.sort(np.where(told, np.arange(told.shape[1])[None, :, None], -1), axis=1)[:, -WINDOW:]
    finest = np.broadcast_to(finest, (*finest.shape[:2], table.plus.shape[2]))
    plus, minus = (np.isfinite(_pick(side, finest)) for side in (table.plus, table.minus))
    one_sided = (plus & ~minus).all(axis=1) | (minus & ~plus).all(axis=1)
    return np.asarray(one_sided & np.isfinite(table.centre))
