"""Find the convention by which halves are rounded: to even, away from zero, up or down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from gradhook.comparison.surrogate_probe import Discontinuity

_RULES: dict[str, Callable[[float, float, float, float], bool]] = {
    "even": lambda left, on, right, step: round(on / step) % 2 == 0,
    "away": lambda left, on, right, step: abs(on) == max(abs(left), abs(right)),
    "up": lambda left, on, right, step: on == right,
    "down": lambda left, on, right, step: on == left,
}


def ties(found: Sequence[Discontinuity]) -> str:
    """The one convention that explains every jump of a staircase; empty without one, or with several."""
    jumps = [b for b in found if b.jumps]
    steps = [b.value[2] - b.value[0] for b in jumps]
    if len(jumps) < 2 or min(steps) <= 0 or not _equal(steps) or not _at_halves(jumps):
        return ""
    fits = [name for name, rule in _RULES.items() if all(rule(*b.value, steps[0]) for b in jumps)]
    return fits[0] if len(fits) == 1 else ""


def _at_halves(jumps: Sequence[Discontinuity]) -> bool:
    """Whether the jumps stand in the middle between multiples of their smallest distance."""
    places = [b.at[1] for b in jumps]
    gap = min(b - a for a, b in pairwise(places))
    return gap > 0 and all(abs((p / gap - 0.5) - round(p / gap - 0.5)) < 1e-9 for p in places)


def _equal(steps: Sequence[float]) -> bool:
    return max(steps) - min(steps) <= 1e-9 * max(steps)
