"""A chart of text: error of differences against step, both logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradhook.model.trace import Curve

ROWS = 6
_WITHIN = 16
"""Roundings that explain a difference: as many as the measurement itself allows."""
_WIDEST_BAR = 2
_LABEL = 6


@dataclass(frozen=True)
class _Characters:
    """What bars and axes are made of: parts of a full character from the least to all of it."""

    parts: str
    rounding: str
    tick: str
    corner: str
    line: str


_BLOCKS = _Characters("▁▂▃▄▅▆▇█", "░", "┤", "└", "─")
_ASCII = _Characters("_#", ".", "|", "+", "-")


@dataclass(frozen=True)
class _Bar:
    step: float
    distance: float
    rounding: float


def chart_lines(curve: Curve, room: int, *, blocks: bool = True) -> list[str]:
    """A caption, ``ROWS`` lines of bars and an axis of steps within ``room`` columns; or no lines at all.

    Bars are distances of the differences from the claim; where the function is not smooth, of the two one-sided
    differences from each other. The part that rounding explains is pale. ``blocks``: with characters beyond ASCII.
    """
    bars = _thin(list(_bars(curve)), room - _LABEL - 2)
    ink = _BLOCKS if blocks else _ASCII
    if len(bars) < 2:
        return []
    low, high = _range(bars)
    wide = max(1, min(_WIDEST_BAR, (room - _LABEL - 2) // len(bars)))
    labels = {0: f"1e{high:d}", ROWS - 1: f"1e{low:d}"}
    rows = ["".join(_cell(bar, ROWS - 1 - n, low, high, ink) * wide for bar in bars) for n in range(ROWS)]
    lines = [f"{labels.get(n, ''):>{_LABEL}} {ink.tick}{text}".rstrip() for n, text in enumerate(rows)]
    axis = f"{'':{_LABEL}} {ink.corner}{ink.line * (wide * len(bars))}"
    return [_caption(curve, ink), *lines, axis, _steps(bars, wide)]


def _bars(curve: Curve) -> Iterator[_Bar]:
    sides = zip(curve.left, curve.right, strict=True)
    apart = [abs(right - left) for left, right in sides] or [abs(c - curve.claimed) for c in curve.central]
    for step, distance, noise in zip(curve.steps, apart, curve.noise, strict=True):
        if math.isfinite(distance):
            yield _Bar(step, distance, _WITHIN * noise if math.isfinite(noise) else 0.0)


def _thin(bars: list[_Bar], most: int) -> list[_Bar]:
    return bars[:: -(-len(bars) // max(most, 1))] if bars else []


def _range(bars: Sequence[_Bar]) -> tuple[int, int]:
    """The lowest and the highest decade: from the least that rounding explains to the largest distance."""
    seen = [bar.distance for bar in bars if bar.distance > 0] or [1.0]
    floor = [bar.rounding for bar in bars if bar.rounding > 0] or seen
    low = math.floor(math.log10(max(min(*seen, *floor), max(seen) * 1e-18, 1e-300)))
    return low, max(math.ceil(math.log10(max(seen))), low + 1)


def _cell(bar: _Bar, row: int, low: int, high: int, ink: _Characters) -> str:
    """One character of a bar: full, a part of it at its end, or a blank; never blank in the lowest row."""
    pale = _height(bar.rounding, low, high) - row
    filled = min(max(_height(bar.distance, low, high) - row, 0.0), 1.0)
    if (filled and pale >= 0.5) or bar.distance <= bar.rounding:
        return ink.rounding if filled >= 0.5 or row == 0 else " "
    part = round(filled * len(ink.parts)) or (row == 0)
    return ink.parts[int(part) - 1] if part else " "


def _height(value: float, low: int, high: int) -> float:
    return (math.log10(value) - low) / (high - low) * ROWS if value > 0 else 0.0


def _caption(curve: Curve, ink: _Characters) -> str:
    what = "the two sides lie apart" if curve.left else "differences are off the claim"
    return f"{curve.of}: how far {what}, by step ({ink.rounding} rounding explains)"


def _steps(bars: Sequence[_Bar], wide: int) -> str:
    """The first and the last step under their bars."""
    first, last = (f"{bar.step:.1g}".replace("e-0", "e-") for bar in (bars[0], bars[-1]))
    return f"{'step':>{_LABEL}}  {first}{last:>{max(wide * len(bars) - len(first), len(last) + 1)}}"
