"""Write numbers with as many digits as a reader needs to tell them apart."""

from __future__ import annotations

import math

_DIGITS = (9, 12, 15, 17)
_TINY = 2.3e-308
"""Below the smallest normal number a bar says nothing."""
BLIND = 1e6
"""A comparison that would have missed so many times the number itself has seen nothing."""


def number(value: float, digits: int = _DIGITS[0]) -> str:
    """A number as a reader compares it; the sign of a 0 is left out."""
    return f"{value + 0.0:.{digits}g}"


def bar(error: float) -> str:
    """An error bar: one digit is plenty."""
    return "0" if abs(error) < _TINY else f"{error:.1g}"


def needed(value: float, *others: float) -> int:
    """How many digits it takes for a number to differ from all of the others that it is not equal to."""
    apart = [other for other in others if other != value and not math.isnan(other)]
    enough = (n for n in _DIGITS if all(number(value, n) != number(other, n) for other in apart))
    return next(enough, _DIGITS[-1])


def pair(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes for them to differ; two zeros with their signs."""
    if one == other == 0:
        return f"{one:g}", f"{other:g}"
    digits = needed(one, other)
    return number(one, digits), number(other, digits)
