"""Word judged comparisons for readers that have not seen the rule.

Every message names the place, both numbers (what JAX gives, what finite differences give) and the error bar; every
undecided one names its cause and the remedy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradhook.comparison.judge import COMPLEX_STEP, DISAGREE, Array, Judgement, Measurement, smoothness_of
from gradhook.comparison.probe import CustomRuleUse, DerivativeComparison, Label, LocatedError
from gradhook.model.digits import bar, needed, number, pair
from gradhook.model.results import Mode, Smoothness

MODE_NAMES = {"fwd": "forward mode", "rev": "reverse mode"}
TRANSFORM_NAMES = {"fwd": "jvp", "rev": "grad"}
Text = tuple[str, str]
"""A message and its remedy."""


@dataclass(frozen=True)
class ComparedElement:
    """One element of a comparison, with the words for it."""

    comparison: DerivativeComparison
    mode: Mode
    claimed: Array
    measured: Measurement
    judgement: Judgement
    place: tuple[int, int]
    input: Label
    output: Label
    narrow: str = ""
    """What narrows a float inside the function, where that is the cause."""

    def get(self, name: str) -> float:
        """A number of the estimate at this element."""
        return float(getattr(self.measured, name)[self.place])

    def shown(self, value: float) -> str:
        """A number with enough digits to tell the claim from its reference."""
        others = (self.get(name) for name in ("value", "left", "right", "coarse"))
        return number(value, needed(float(self.claimed[self.place]), self.reference, *others))

    @property
    def claim(self) -> str:
        """``d out / d delta[3]: JAX gives -0.5 (grad)``."""
        value = self.shown(float(self.claimed[self.place]))
        what = symbol(self.comparison, self.output, self.input)
        return f"{what}: JAX gives {value} ({transform_name(self.comparison, self.mode)})"

    @property
    def reference(self) -> float:
        """The number that the claim was compared with: differences, the complex step, or a proven 0."""
        return float(self.judgement.reference[self.place])

    @property
    def error(self) -> float:
        """The error bar of the reference."""
        return float(self.judgement.error[self.place])

    @property
    def differences(self) -> str:
        """``finite differences give 0.5 ± 2e-11``."""
        if self.measured.motionless[self.place]:
            return "finite differences see no change at any step"
        if not np.isfinite(self.get("value")):
            return "finite differences settle on no value"
        return f"finite differences give {self.shown(self.get('value'))} ± {bar(self.get('error'))}"

    @property
    def measurement(self) -> str:
        """The evidence that resolved the element: ``the complex step gives 0.5 ± 2e-16``."""
        match self.judgement.witness[self.place]:
            case "equations":
                return "the output does not depend on it, so the derivative is exactly 0"
            case "complex step":
                return f"the complex step gives {self.shown(self.reference)} ± {bar(self.error)}"
            case "disagree":
                return f"{self.differences}, the complex step gives {self.shown(self.reference)} ± {bar(self.error)}"
        return self.differences


def file_line(path: str, line: int) -> str:
    """``losses.py:31``, of a library ``optax/losses.py:31``: short enough for a message."""
    path = path.replace("\\", "/")
    short = path.rpartition("-packages/")[2] if "-packages/" in path else path.rpartition("/")[2]
    return f"{short}:{line}"


def rule_place(suspect: CustomRuleUse) -> str:
    """``losses.py:31``; of a library's rule ``optax/losses.py:31, used at train.py:7``."""
    used = f", used at {file_line(*suspect.used)}" if suspect.used[0] else ""
    return f"{file_line(suspect.path, suspect.line)}{used}"


SOLVER = (
    "the rule gives the derivative of the solution, the value is where the solver stops: tighten the solver's "
    "tolerance (rtol, atol) first; what then remains is the rule's"
)
_BACKSOLVE = (
    "BacksolveAdjoint solves an equation of its own backwards, right to the solver's tolerance and no better: tighten "
    "rtol and atol, or use RecursiveCheckpointAdjoint, the derivative of the steps that were taken"
)
SOLVED = 0.1
"""By so much of the largest number of a column a derivative may be off that a solver's tolerance is thought of."""


def mode_name(comparison: DerivativeComparison, mode: Mode) -> str:
    """``reverse mode``, or ``reverse over forward mode`` for what is differentiated once more."""
    if not comparison.path:
        return MODE_NAMES[mode]
    words = {"fwd": "forward", "rev": "reverse"}
    return f"{words[mode]} over {' over '.join(words[m] for m in reversed(comparison.path))} mode"


def transform_name(comparison: DerivativeComparison, mode: Mode) -> str:
    """``grad``, or ``jvp of grad`` for what is differentiated once more."""
    return " of ".join(TRANSFORM_NAMES[m] for m in (mode, *reversed(comparison.path)))


def symbol(comparison: DerivativeComparison, output: Label, input: Label) -> str:
    """``d out / d x[0]``; a second derivative by what was differentiated first."""
    by = " along a random direction" if input.is_direction else f" / d {input}"
    if not comparison.path:
        return f"d {output}{by}"
    if comparison.path[-1] == "rev":
        twice = by if input.is_direction else f" d {input}"
        return f"d² out / d {output}{twice}" if comparison.order == 2 else f"d gradient[{output}]{by}"
    return f"d (derivative of {output} along a fixed tangent){by}"


def solver_help(rule: CustomRuleUse) -> str:
    """The remedy for a rule over a loop that stops at a tolerance; one such rule is inexact by design."""
    if rule.name == "_loop_backsolve" and "diffrax" in rule.path:
        return _BACKSOLVE
    return SOLVER


def text(code: str, element: ComparedElement) -> Text:
    """The message and the remedy for a code; a code that is no cause is a plain disagreement."""
    return _TEXTS.get(code, _disagreement)(element)


def _disagreement(element: ComparedElement) -> Text:
    help = (
        "value and derivative disagree: check the rule for this argument first, then the value itself"
        if element.comparison.order == 1
        else "the first derivative is right, differentiating it once more is not: look for a value that the rule takes "
        "for a constant, or a special case that returns a constant"
    )
    return f"{element.claim}, {element.measurement}", help


def located(element: ComparedElement, found: LocatedError) -> str:
    """A disagreement along a direction that moves everything, traced to the input that it belongs to."""
    claimed, measured = pair(found.claimed, found.measured)
    transform = transform_name(element.comparison, element.mode)
    what = f"d {element.output} / d {found.input}: JAX gives {claimed} ({transform})"
    return f"{what}, finite differences give {measured} ± {bar(found.error)} (found by bisection)"


def _kink(element: ComparedElement) -> Text:
    if smoothness_of(element.measured, element.place) is Smoothness.SMOOTH:
        return (
            f"no derivative: {element.claim}, but the slopes along different directions do not add up to a derivative",
            "equal elements meet here (a tie of sort, max, median, eigenvalues): move the case away from the tie",
        )
    left, right = element.shown(element.get("left")), element.shown(element.get("right"))
    sides = f"the slopes on its two sides are {left} and {right}"
    return (
        f"kink: {element.claim}, {sides}",
        'say which slope is meant with kink="left", "right", "mean", "subgradient" or a number, or move the case away',
    )


def declared_kink(element: ComparedElement, kink: str | float | None) -> Text:
    """A claim that no slope of a kink bears out, or not the one that was declared."""
    asked = "" if kink is None else f", declared is kink={kink!r}"
    return (
        f"kink: {_kink(element)[0].removeprefix('kink: ')}{asked}",
        "the claim is none of the slopes that the function has here"
        if kink is None
        else "declare the slope that JAX gives, or change the function so that it gives the declared one",
    )


def _jump(element: ComparedElement) -> Text:
    return (
        f"jump: {element.claim}, but the value changes by a finite amount for the smallest step",
        "no derivative exists at a jump: move the case away from it, or declare the derivative with @surrogate",
    )


def _cusp(element: ComparedElement) -> Text:
    return (
        f"cusp: {element.claim}, but the one-sided slopes part without bound as the step shrinks",
        "no derivative exists at a cusp: move the case away, or smooth the function there",
    )


def _vertical(element: ComparedElement) -> Text:
    return (
        f"vertical tangent: {element.claim}, but differences grow without bound as the step shrinks",
        "no finite derivative exists here: move the case away, or use a formula that is safe at this point",
    )


def _noise(element: ComparedElement) -> Text:
    if element.get("noise") == 0 or element.judgement.witness[element.place] == COMPLEX_STEP:
        return (
            f"noise: {element.claim}, {element.measurement}, but the derivative itself moves as much under rounding",
            "the function is ill-conditioned here: choose a case of ordinary size, or state rtol= or atol=",
        )
    return (
        f"noise: the value is uncertain by {bar(element.get('noise'))}: {element.claim}, {element.measurement}",
        "a solver's tolerance or a cancellation limits the value: tighten it for the case, or state rtol= or atol=",
    )


def _reduced(element: ComparedElement) -> Text:
    where = f" ({element.narrow})" if element.narrow else ""
    return (
        f"reduced precision inside{where}: {element.claim}, {element.measurement}",
        "keep float64 through the function (dtype=x.dtype instead of a fixed float32), or state rtol=",
    )


def _scales(element: ComparedElement) -> Text:
    small = f"{element.shown(element.get('value'))} ± {bar(element.get('error'))}"
    if element.judgement.witness[element.place] == DISAGREE:
        return (
            f"scale-dependent: {element.claim}; {element.measurement}",
            "the value moves on a scale that differences do not resolve: choose a case of ordinary size",
        )
    if math.isnan(element.get("coarse")):
        return (
            f"an iteration that stops at a tolerance: {element.claim}, {element.measurement}, "
            "so near that it may be its own",
            "tighten the tolerance for the case, or state the accuracy that you need with rtol=",
        )
    large = f"{element.shown(element.get('coarse'))} ± {bar(element.get('coarse_error'))}"
    return (
        f"scale-dependent: {element.claim}; small steps give {small}, large steps {large}",
        "a fine ripple lies on the value (an iteration that stops early, a table); the claim fits its large scale",
    )


def _edge(element: ComparedElement) -> Text:
    return (
        f"edge of the domain: {element.claim}, and no slope from the inside settles",
        "move the case inside, or draw it from a spec with a domain: positive(…), uniform(low=…, high=…)",
    )


def _coarse(element: ComparedElement) -> Text:
    return (
        f"too coarse to decide: {element.claim}, {element.measurement}",
        "rescale the input or the output of the case, or state the tolerance that you need with rtol= or atol=",
    )


_TEXTS: dict[str, Callable[[ComparedElement], Text]] = {
    "GRD401": _kink,
    "GRD402": _jump,
    "GRD403": _cusp,
    "GRD404": _vertical,
    "GRD405": _noise,
    "GRD406": _reduced,
    "GRD407": _scales,
    "GRD408": _edge,
    "GRD409": _coarse,
}
