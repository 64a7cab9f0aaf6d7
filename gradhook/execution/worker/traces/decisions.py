"""Find the worst element of a comparison and put its decision into words."""

from __future__ import annotations

import numpy as np

from gradhook.comparison.cause import why
from gradhook.comparison.compare import ModeComparison, relative_gap
from gradhook.comparison.judge import Array, smoothness_of
from gradhook.model.digits import number
from gradhook.model.results import Smoothness, Verdict
from gradhook.numerics.function_probe import FunctionProbe

ElementIndex = tuple[int, int]
_GRAVEST_FIRST = (Verdict.FAIL, Verdict.UNDECIDED, Verdict.PASS)


def worst_place(found: ModeComparison) -> ElementIndex | None:
    """The element with the worst verdict and, among these, the largest deviation."""
    if not found.relevant.any():
        return None
    verdicts = found.judgement.verdict
    gravest = next(v for v in _GRAVEST_FIRST if (found.relevant & (verdicts == v)).any())
    candidates = found.relevant & (verdicts == gravest)
    # A direction that moves everything repeats what single inputs show.
    single = candidates & np.array([not label.is_direction for label in found.comparison.input_labels])[:, None]
    candidates = single if single.any() else candidates
    row, column = np.unravel_index(int(np.argmax(np.where(candidates, _excess(found), -1.0))), candidates.shape)
    return int(row), int(column)


def _excess(found: ModeComparison) -> Array:
    """Each element's deviation, in units of its allowance if it passes, else of the derivative."""
    with np.errstate(all="ignore"):
        allowed = found.judgement.tolerance + found.judgement.error
        inside = np.nan_to_num(np.abs(found.claimed - found.judgement.reference) / allowed)
    return np.where(found.judgement.verdict == Verdict.PASS, inside, relative_gap(found))


def decision(found: ModeComparison, place: ElementIndex, probe: FunctionProbe) -> str:
    """The reason why the element passes, fails or is undecided, in words."""
    match found.judgement.verdict[place]:
        case Verdict.PASS:
            return _passes(found, place, probe)
        case Verdict.FAIL:
            return _fails(found, place, probe)
    cause, _ = why(found.comparison, found.mode, found.judgement, place, probe)
    return f"undecided ({cause}): {_UNDECIDED[cause].format(**_numbers(found, place))}"


def _passes(found: ModeComparison, place: ElementIndex, probe: FunctionProbe) -> str:
    if smoothness_of(found.measured, place) is not Smoothness.SMOOTH:
        return f"passes: it keeps the convention kink={probe.kink!r}"
    return "passes: claim and measurement differ by {gap}, allowed are {allowed} and the error bar {error}".format(
        **_numbers(found, place)
    )


def _fails(found: ModeComparison, place: ElementIndex, probe: FunctionProbe) -> str:
    numbers = _numbers(found, place)
    if smoothness_of(found.measured, place) is Smoothness.KINK:
        asked = "" if probe.kink is None else f", declared is kink={probe.kink!r}"
        return f"fails: the claim is none of the slopes from {{left}} to {{right}}{asked}".format(**numbers)
    return (
        "fails: claim and measurement differ by {gap}, allowed are {allowed} and the error bar {error}, and the bar is "
        "fine enough to accuse".format(**numbers)
    )


_NO_SLOPE = "the function has no derivative here"
_UNDECIDED = {
    "GRD401": "the slopes on the two sides are {left} and {right}, or slopes along several directions do not add up",
    "GRD402": f"the value jumps: {_NO_SLOPE}",
    "GRD403": f"the one-sided slopes part without bound: {_NO_SLOPE}",
    "GRD404": f"the differences grow without bound: {_NO_SLOPE}",
    "GRD405": "the value is uncertain by {noise}, or the claim moves as much as it differs when the input is rounded",
    "GRD406": "the value moves in quanta of a narrower format, so that the error bar is {error}",
    "GRD407": "small steps measure {measured}, large ones {coarse}, and the claim fits the large ones",
    "GRD408": "the point lies on the edge of the domain, and no slope from the inside settles",
    "GRD409": "no difference explains all finer ones, or the error bar {error} is wide beside a derivative of {size}",
}


def _numbers(found: ModeComparison, place: ElementIndex) -> dict[str, str]:
    """The numbers in a decision, as they are shown."""
    of = found.measured
    shown = {name: number(float(getattr(of, name)[place])) for name in ("left", "right", "coarse")}
    small = {name: f"{float(getattr(of, name)[place]):.2g}" for name in ("noise",)}
    judged = found.judgement
    small |= {"error": f"{float(judged.error[place]):.2g}", "size": f"{float(judged.size[place]):.2g}"}
    gap = f"{abs(float(found.claimed[place] - judged.reference[place])):.2g}"
    allowed = f"{float(judged.tolerance[place]):.2g}"
    return {**shown, **small, "measured": number(float(of.value[place])), "gap": gap, "allowed": allowed}
