"""One program before the judge: as it is, with one element made wrong, with an argument forgotten; what is false."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz.verdicts.duals import SMALLEST
from fuzz.verdicts.judging import Answer, Array, Judge, Judged
from fuzz.verdicts.programs import Program
from fuzz.verdicts.source import Wrong
from fuzz.verdicts.truth import True_, Truth, truth

DEFINITION = 1.5
"""An error may be so many times the resolution told: bars are estimates."""
TIMES = 3.0
"""An element is made wrong by so many times the resolution told for it."""
SPOILED = 6
"""So many elements of a program are made wrong, one after the other."""
ARGUMENTS = 6
"""Of so many arguments at most the derivative is dropped, one after the other."""
FULL = 0.25
"""In so many of the programs a wrong derivative is judged from its measurement on, not only by its claims."""

INACCURATE = 1e-7
"""A claim that is off by so much, relatively, is not needlessly undecided."""

FALSE_FAILURE, FALSE_PASS = "false failure", "false pass"
NO_DERIVATIVE = "pass where there is no derivative"
TRIPLED, FORGOTTEN, CRASH = "false pass at three resolutions", "false pass of a forgotten argument", "crash"
KINDS = (FALSE_FAILURE, FALSE_PASS, NO_DERIVATIVE, TRIPLED, FORGOTTEN, CRASH)


@dataclass(frozen=True)
class Find:
    """Something false: what is said of which element, and how the derivative was made wrong."""

    kind: str
    program: Program
    note: str
    wrong: Wrong | None = None


@dataclass
class Result:
    """Counts of answers, and finds."""

    counts: Counter[str] = field(default_factory=Counter)
    finds: list[Find] = field(default_factory=list)


@dataclass(frozen=True)
class Element:
    """One element of an answer beside the truth."""

    mode: str
    row: int
    output: int
    true: True_
    judged: Judged
    extra: bool

    def get(self, name: str) -> Any:
        """Its entry in one array of the answer."""
        return getattr(self.judged, name)[self.row, self.output]

    @property
    def gap(self) -> float:
        """How far the claim is from the truth."""
        return float(abs(self.true.value - float(self.get("claim"))))

    def note(self) -> str:
        """The numbers in a line."""
        return (
            f"{self.mode} d out[{self.output}] along direction {self.row}: claim {self.get('claim'):.17g}, truth "
            f"{_text(self.true.value)} ({self.true.nature}), {self.get('verdict')} {self.get('code')}, allowed "
            f"{self.get('allowed'):.3g}, resolution {self.get('resolution'):.3g} of {self.get('size'):.3g}"
        )


def _text(value: Any) -> str:
    return "none" if value is None else f"{float(value):.17g}"


def trial(program: Program, judge: Judge, source: random.Random, full: float = FULL) -> Result:
    """Everything about one program; the first find of each kind."""
    result = Result()
    try:
        _trial(program, judge, source, full, result)
    except Exception as error:
        result.finds.append(Find(CRASH, program, f"{type(error).__name__}: {error}"[:300]))
    return result


def _trial(program: Program, judge: Judge, source: random.Random, full: float, result: Result) -> None:
    known = truth(program)
    answer = judge(program)
    if answer is None or not answer.modes:
        result.counts["programs of which nothing was compared"] += 1
        return
    result.counts["programs"] += 1
    found = list(elements(answer, known))
    _as_it_is(program, answer, found, known, result)
    _spoiled(program, judge, answer, found, source, full, result)
    _forgotten(program, judge, answer, known, source, full, result)


def elements(answer: Answer, known: Truth, modes: Mapping[str, Judged] | None = None) -> Iterator[Element]:
    """All elements that were compared, each with its truth."""
    kept: dict[tuple[int, int], True_] = {}
    for mode, judged in (modes or answer.modes).items():
        for row, output in zip(*np.nonzero(judged.relevant), strict=True):
            place = (int(row), int(output))
            if place not in kept:
                kept[place] = known.along(answer.directions[row], place[1])
            yield Element(mode, *place, kept[place], judged, bool(answer.extra[row]))


def _as_it_is(program: Program, answer: Answer, found: list[Element], known: Truth, result: Result) -> None:
    for element in found:
        kind = falsehood(element)
        if kind and not any(f.kind == kind for f in result.finds):
            result.finds.append(Find(kind, program, element.note()))
        if not element.extra and element.mode == next(iter(answer.modes)):
            result.counts[_counted(element, answer, known)] += 1
    if answer.verdict == "fail" and not any(e.get("verdict") == "fail" for e in found) and _all_right(found, answer):
        result.finds.append(Find(FALSE_FAILURE, program, f"all elements hold, but {', '.join(answer.codes)} fails"))


def _all_right(found: list[Element], answer: Answer) -> bool:
    finite = all(np.isfinite(judged.claim).all() for judged in answer.modes.values())
    return finite and all(_holds(e) for e in found)


def _holds(element: Element) -> bool:
    return element.true.value is not None and element.gap <= float(element.get("allowed"))


def falsehood(element: Element) -> str:
    """What is false about the answer to JAX's own claim; empty if nothing is."""
    nature, verdict = element.true.nature, element.get("verdict")
    if nature == "vague":
        return ""
    if nature == "no derivative":
        return NO_DERIVATIVE if verdict == "pass" and not element.extra else ""
    if verdict == "fail":
        return FALSE_FAILURE if _holds(element) else ""
    if verdict != "pass" or element.extra or nature == "narrowed":
        return ""
    seen = float(element.get("resolution")) * float(element.get("size"))
    return FALSE_PASS if element.gap > DEFINITION * seen + SMALLEST else ""


def _counted(element: Element, answer: Answer, known: Truth) -> str:
    verdict, nature = str(element.get("verdict")), element.true.nature
    if verdict == "undecided" and nature == "smooth":
        sharp = known.is_sharp(answer.directions[element.row], element.output, element.true.value)
        nature = "sharp" if sharp else "smooth"
    if verdict == "undecided" and nature in ("smooth", "sharp") and _is_inaccurate(element):
        nature = "JAX's derivative is inaccurate"
    if verdict == "fail" and nature not in ("vague", "no derivative") and not _holds(element):
        return "fail: JAX's derivative is inaccurate"
    return f"{verdict} {element.get('code')}: {nature}".replace(" :", ":")


def _is_inaccurate(element: Element) -> bool:
    """Whether JAX's own derivative is off by so much that nobody could bear it out."""
    return element.gap > INACCURATE * abs(float(element.true.value))


def _spoiled(
    program: Program, judge: Judge, answer: Answer, found: list[Element], source: random.Random, full: float,
    result: Result,
) -> None:  # fmt: skip
    """Elements that passed, each made wrong by three times the resolution told for it."""
    passed = [e for e in found if e.get("verdict") == "pass" and not e.extra and _amount(e) > 0 and _sure(e)]
    source.shuffle(passed)
    for number, element in enumerate(passed[:SPOILED]):
        wrong = _wrong(answer, element, _amount(element) * source.choice((1, -1)))
        said = _verdict_at(answer, answer.again(_error(answer, wrong)), element)
        if said == "pass" or (number == 0 and source.random() < full):
            again = judge(program, wrong)
            said = "fault" if again is None else _verdict_at(again, again.modes, element)
        result.counts[f"three resolutions: {said}"] += 1
        if said == "pass":
            result.finds.append(Find(TRIPLED, program, element.note(), wrong))
            return


def _sure(element: Element) -> bool:
    return element.true.nature not in ("vague", "narrowed") and element.true.value is not None


def _amount(element: Element) -> float:
    amount = TIMES * float(element.get("resolution")) * float(element.get("size"))
    return amount if np.isfinite(amount) else 0.0


def _wrong(answer: Answer, element: Element, amount: float) -> Wrong:
    direction = answer.directions[element.row]
    along = direction / np.sum(direction * direction)
    return Wrong(output=element.output, along=tuple(float(v) for v in along), amount=amount)


def _error(answer: Answer, wrong: Wrong) -> Array:
    outputs = next(iter(answer.modes.values())).claim.shape[1]
    return np.outer(answer.directions @ np.array(wrong.along), np.eye(outputs)[wrong.output] * wrong.amount)


def _verdict_at(answer: Answer, modes: Mapping[str, Judged], element: Element) -> str:
    """The answer to a wrong element: a failure in its output counts wherever it is, a pass only where all pass."""
    verdicts = [judged.verdict[element.row, element.output] for judged in modes.values()]
    everywhere = [v for judged in modes.values() for v in judged.verdict[answer.extra, element.output]]
    if "fail" in [*map(str, verdicts), *map(str, everywhere)]:
        return "fail"
    return "undecided" if any(str(v) != "pass" for v in verdicts) else "pass"


def _forgotten(
    program: Program, judge: Judge, answer: Answer, known: Truth, source: random.Random, full: float, result: Result
) -> None:
    """The derivative by one argument is dropped: a pass is false, however small the derivative is."""
    starts = np.cumsum([0, *program.sizes])
    leaves = list(range(len(program.leaves)))
    for leaf in sorted(source.sample(leaves, min(len(leaves), ARGUMENTS))):
        lost = _lost(answer, known, int(starts[leaf]), int(starts[leaf + 1]))
        if not lost.groups:
            continue
        said = _said(answer, answer.again(lost.error), lost)
        if said == "pass" or source.random() < full / len(leaves):
            again = judge(program, Wrong(leaf=leaf))
            said = "fault" if again is None else _said(again, again.modes, lost)
        result.counts[f"forgotten argument: {said}"] += 1
        if said == "pass":
            result.finds.append(
                Find(FORGOTTEN, program, f"argument {leaf} is forgotten, and no answer says so", Wrong(leaf=leaf))
            )
            return


@dataclass(frozen=True)
class Lost:
    """The error (D, m) that dropping an argument makes; groups of directions, each with an output of which one answer
    at least must not be a pass."""

    error: Array
    groups: tuple[tuple[int, tuple[int, ...]], ...]


def _lost(answer: Answer, known: Truth, start: int, stop: int) -> Lost:
    """A direction that moves the argument alone is a group; those that move more are one, where there is none such."""
    first = next(iter(answer.modes.values()))
    error, groups = np.zeros(first.claim.shape), []
    inside = np.arange(answer.directions.shape[1])
    parts = np.where((inside >= start) & (inside < stop), answer.directions, 0.0)
    moved = parts.any(axis=1)
    own = moved & ~answer.extra & (parts == answer.directions).all(axis=1)
    for output in range(first.claim.shape[1]):
        slopes = {int(d): known.along(parts[d], output) for d in np.flatnonzero(moved)}
        error[list(slopes), output] = [-float(s.value or 0) for s in slopes.values()]
        error[own, output] = -first.claim[own, output]
        wrong = [d for d, s in slopes.items() if s.value and s.nature != "vague" and first.relevant[d, output]]
        alone = [(output, (d,)) for d in wrong if own[d] and first.claim[d, output]]
        shared = [d for d in wrong if not own[d] and not answer.extra[d]]
        groups += alone or ([(output, tuple(shared))] if shared else [])
    return Lost(error, tuple(groups))


def _said(answer: Answer, modes: Mapping[str, Judged], lost: Lost) -> str:
    """``pass`` where all of a group passes and no direction through everything objects."""
    said = []
    for output, rows in lost.groups:
        verdicts = {str(j.verdict[d, output]) for j in modes.values() for d in rows}
        objections = {str(v) for j in modes.values() for v in j.verdict[answer.extra, output]}
        said.append("fail" if "fail" in verdicts | objections else "pass" if verdicts == {"pass"} else "undecided")
    return max(said, key=("fail", "undecided", "pass").index)
