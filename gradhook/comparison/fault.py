"""Find the pattern of a wrong derivative: a factor, a sign, a transpose, an exchange, a lost term.

A pattern is named only where it holds of every failing element within its bar and could not hold by chance: a factor of
several different elements may be any number, that of a single one must be a plain one (2, 1/3, -1, pi/180).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradhook.comparison.judge import TINY, Array, Flags
from gradhook.comparison.probe import Label
from gradhook.model.digits import needed, number

SHARP = 1e-6
"""A factor is read off elements that are known to so much of their size, so that chance has no part in it."""
SLACK = 1e-9
"""How exactly a pattern must hold where the bars are smaller still: the rounding of the claim."""
APART = 1e-3
"""Elements that differ by less than this part of their size count as one: equal inputs have equal derivatives."""
LARGEST = 12
"""Numerator times denominator of a plain factor is not larger."""
_NAMES = {
    math.pi: "pi", 2 * math.pi: "2 pi", 4 * math.pi: "4 pi", math.pi / 2: "pi/2", math.pi / 180: "pi/180",
    1 / math.pi: "1/pi", 0.5 / math.pi: "1/(2 pi)", 0.25 / math.pi: "1/(4 pi)", 2 / math.pi: "2/pi",
    180 / math.pi: "180/pi", math.log(2): "ln 2", 1 / math.log(2): "1/ln 2", math.log(10): "ln 10",
    1 / math.log(10): "1/ln 10", math.sqrt(2): "sqrt 2", math.sqrt(0.5): "1/sqrt 2",
}  # fmt: skip
"""Factors that formulas lose besides fractions: of circles and degrees, of other logarithms."""


@dataclass(frozen=True)
class Numbers:
    """The AD values of one mode and their references, all of shape (D, columns).

    ``bar`` is how far a right claim may lie from its reference, ``wrong`` where it lies farther.
    """

    claimed: Array
    reference: Array
    bar: Array
    wrong: Flags
    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]

    def rows(self, leaf: str) -> Flags:
        """The directions that belong to an input leaf."""
        return np.array([label.leaf == leaf for label in self.inputs])

    def part(self, leaf: str, output: str) -> Numbers:
        """The numbers of one input leaf and one output leaf."""
        rows, columns = self.rows(leaf), np.array([label.leaf == output for label in self.outputs])
        inputs = tuple(label for label in self.inputs if label.leaf == leaf)
        outputs = tuple(label for label in self.outputs if label.leaf == output)
        arrays = (self.claimed, self.reference, self.bar, self.wrong)
        claimed, reference, bar, wrong = (array[np.ix_(rows, columns)] for array in arrays)
        return Numbers(claimed, reference, bar, wrong, inputs, outputs)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The input leaves whose elements were followed one by one."""
        many = {label.leaf for label in self.inputs if label.moves_many}
        return tuple(dict.fromkeys(label.leaf for label in self.inputs if label.leaf not in many))


def fault(numbers: Numbers, leaf: str, output: str) -> str:
    """The pattern in the failing elements of an input leaf and an output leaf; empty where there is none."""
    part = numbers.part(leaf, output)
    if not part.wrong.any() or not np.isfinite(part.claimed[part.wrong] + part.reference[part.wrong]).all():
        return ""
    if other := _exchanged(part, numbers, leaf, output):
        one, two = sorted((leaf, other), key=numbers.leaves.index)
        return f"the derivatives of {one} and {two} are exchanged"
    if factor := _factor(part):
        return _of_factor(*factor, part)
    if _is_transposed(part):
        return "transposed: each element is what its mirror image should be"
    if other := _another(part, numbers, leaf, output):
        return f"this is the derivative of {other}"
    return _lost(part, numbers, leaf, output) or _offset(part)


def _of_factor(factor: float, text: str, part: Numbers) -> str:
    """``9 times too large in all 12 elements``."""
    if factor == -1:
        return f"the sign is wrong{_where(part)}"
    if text.isdigit():
        return f"{text} times too large{_where(part)}"
    small = "half of" if text == "1/2" else f"{text} of"
    return f"{small if 0 < factor < 1 else f'{text} times'} what it should be{_where(part)}"


def _where(part: Numbers) -> str:
    """``in all 12 elements``; empty for a single one, restricted to failing ones where others are right."""
    count = int(part.wrong.sum())
    others = ~part.wrong & (np.abs(part.reference) > part.bar)
    what = "directions" if any(label.moves_many for label in part.inputs) else "elements"
    if count == 1:
        return ""
    return f" in all {count} {what}{' that fail' if others.any() else ''}"


def _factor(part: Numbers) -> tuple[float, str] | None:
    """The common factor between claims and measurements; None without one, or where chance may explain it."""
    claimed, reference, bar = (a[part.wrong] for a in (part.claimed, part.reference, part.bar))
    size = np.minimum(np.abs(claimed), np.abs(reference))
    if (size <= TINY).any() or (bar > SHARP * size).any():
        return None
    ratio, slack = claimed / reference, SLACK + 2 * bar / size
    best, least, several = float(ratio[np.argmin(slack)]), float(slack.min()), _distinct(reference) > 1
    named = _named(best, least, several)
    factor = best if named is None else named[0]
    if not (np.abs(ratio - factor) <= (slack + least) * abs(factor)).all():
        return None
    if named or not several:
        return named
    whole = round(best)
    digits = needed(best, whole) if float(f"{best:.6g}") == whole else 6  # 1.000001 is not 1
    return best, number(best, digits)


def _distinct(values: Array) -> int:
    """The number of different magnitudes."""
    ordered = np.sort(np.abs(values))
    return 1 + int((np.diff(ordered) > APART * ordered[1:]).sum())


def _named(factor: float, slack: float, several: bool) -> tuple[float, str] | None:
    """The number with a name that a factor is within its slack, and the name."""
    near = ((n, text) for n, text in _names(abs(factor), several) if abs(abs(factor) - n) <= slack * n)
    value, text = next(near, (0.0, ""))
    sign = "-" if factor < 0 else ""
    return (math.copysign(value, factor), sign + text) if value and (value != 1 or sign) else None


def _names(size: float, several: bool) -> Iterator[tuple[float, str]]:
    """Named numbers near a size: small fractions, constants and, of several elements, integers."""
    for below in range(1, LARGEST + 1):
        above = round(size * below)
        if 1 <= above <= LARGEST // below:
            yield above / below, f"{above}/{below}" if below > 1 else f"{above}"
    yield from _NAMES.items()
    if several and size >= 1:
        yield float(round(size)), f"{round(size)}"
    if several and size < 1:
        yield 1 / round(1 / size), f"1/{round(1 / size)}"


def _are(claimed: Array, reference: Array, bar: Array) -> bool:
    """Whether claims equal what was measured elsewhere, element by element."""
    return bool(np.all(np.abs(claimed - reference) <= bar + SLACK * np.abs(reference)))


def _mirror(part: Numbers) -> tuple[Array, Array] | None:
    """Reference and bar at the mirror image of each element; None where there is no square."""
    square = _square(part.inputs)
    if square is not None:
        return part.reference[square], part.bar[square]
    square = _square(part.outputs)
    if square is not None:
        return part.reference[:, square], part.bar[:, square]
    if len(part.inputs) == len(part.outputs) > 1:
        return part.reference.T, part.bar.T
    return None


def _square(labels: tuple[Label, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]] | None:
    """The index of each element's mirror image in square matrices; None for other shapes."""
    places = {(label.index, label.part): k for k, label in enumerate(labels)}
    mirrors = [((*label.index[:-2], *label.index[:-3:-1]), label.part) for label in labels]
    if len(labels) < 4 or any(len(label.index) < 2 for label in labels) or not all(m in places for m in mirrors):
        return None
    return np.array([places[mirror] for mirror in mirrors])


def _is_transposed(part: Numbers) -> bool:
    """Whether at least two failing claims equal the measurements at their mirror images."""
    mirror = _mirror(part)
    return mirror is not None and int(part.wrong.sum()) > 1 and _are(part.claimed, mirror[0], part.bar + mirror[1])


def _twins(part: Numbers, numbers: Numbers, leaf: str, output: str) -> Iterator[tuple[str, Numbers]]:
    """The other leaves of the same shape."""
    if leaf not in numbers.leaves:
        return
    own = [(label.index, label.part) for label in part.inputs]
    for other in numbers.leaves:
        twin = numbers.part(other, output)
        if other != leaf and [(label.index, label.part) for label in twin.inputs] == own:
            yield other, twin


def _exchanged(part: Numbers, numbers: Numbers, leaf: str, output: str) -> str:
    """The leaf whose derivative and this leaf's are exchanged; empty if there is none."""
    for other, twin in _twins(part, numbers, leaf, output):
        bar = part.bar + twin.bar
        crossed = _are(part.claimed, twin.reference, bar) and _are(twin.claimed, part.reference, bar)
        same = _are(part.reference, -twin.reference, bar)  # then two wrong signs are the simpler explanation
        if crossed and twin.wrong.any() and not same:
            return other
    return ""


def _another(part: Numbers, numbers: Numbers, leaf: str, output: str) -> str:
    """The leaf whose derivative is claimed for this leaf; empty if there is none."""
    if _distinct(part.claimed[part.wrong]) < 2:
        return ""
    twins = _twins(part, numbers, leaf, output)
    return next((other for other, twin in twins if _are(part.claimed, twin.reference, part.bar + twin.bar)), "")


def _lost(part: Numbers, numbers: Numbers, leaf: str, output: str) -> str:
    """A sentence if all claims of this leaf, and of no other, are 0; else empty."""
    if part.claimed.any():
        return ""
    others = [numbers.part(other, output) for other in numbers.leaves if other != leaf]
    others = [other for other in others if (other.claimed != 0).any()]
    if not others:
        return f"nothing arrives from {leaf}: the claim is 0{_where(part)}" if part.wrong.sum() > 1 else ""
    right = not any(other.wrong.any() for other in others)
    return f"the term of {leaf} is missing" + (", the other arguments are right" if right else "")


def _offset(part: Numbers) -> str:
    """A constant by which several different elements are off."""
    claimed, reference, bar = (a[part.wrong] for a in (part.claimed, part.reference, part.bar))
    if len(reference) < 2 or _distinct(reference) < 2:
        return ""
    gap = claimed - reference
    best = float(gap[np.argmin(bar)])
    size = np.maximum(np.abs(claimed), np.abs(reference))
    slack = bar + bar.min() + SLACK * size
    if (slack > SHARP * abs(best)).any() or not (np.abs(gap - best) <= slack).all():
        return ""
    return f"off by the same {best:+.6g}{_where(part)}"
