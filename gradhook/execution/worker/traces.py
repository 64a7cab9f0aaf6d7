"""Collect what `gradhook explain` shows of a case: inputs, comparisons, decisions, modes of a surrogate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from gradhook.annotations.inputs import Spec
from gradhook.comparison.cause import why
from gradhook.comparison.compare import ModeComparison, evaluate_mode, relative_gap
from gradhook.comparison.judge import SURROGATE, Array, smoothness_of
from gradhook.comparison.messages import MODE_NAMES, file_line, mode_name, rule_place, symbol
from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Label
from gradhook.comparison.surrogate_probe import SurrogateValues
from gradhook.model.digits import number, pair
from gradhook.model.results import Mode, Smoothness, Verdict
from gradhook.model.trace import CaseTrace, DerivativeTrace, InputTrace
from gradhook.numerics.finite_difference.plot_data import PlotData
from gradhook.numerics.flatten import is_array
from gradhook.numerics.function import FlatFunction
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


DECLARED = "declared"
"""The word in the place of a shape: no difference was taken."""


def declared(probe: FunctionProbe) -> Iterator[DerivativeTrace]:
    """One comparison for each mode; none where no derivative was declared."""
    surrogate_values = probe.surrogate_values()
    if surrogate_values is None or np.isnan(surrogate_values.declared).all():
        return
    for mode, claim in surrogate_values.autodiff.items():
        what = f"{MODE_NAMES[mode]} beside the declared derivative"
        yield (
            DerivativeTrace(what, 1, claim.message)
            if isinstance(claim, DerivativeError)
            else _surrogate_element(what, surrogate_values, mode, claim)
        )


def _surrogate_element(what: str, surrogate_values: SurrogateValues, mode: Mode, claim: Array) -> DerivativeTrace:
    combined = mode == "rev" and len(surrogate_values.weights) > 0
    ways = surrogate_values.ways(mode)
    allowed = surrogate_values.margin(mode, claim, ways[0])
    with np.errstate(all="ignore"):
        gap = np.min([np.abs(claim - way) for way in ways], axis=0) / np.maximum(allowed, np.finfo(np.float64).tiny)
    asked = ~np.isnan(ways[0])
    same = surrogate_values.as_declared(mode, claim)
    row, column = _worst(np.where(asked, np.where(same, 0.0, np.nan_to_num(gap, nan=np.inf)), -1.0), surrogate_values)
    output = Label("combination", (column,)) if combined else surrogate_values.output_labels[column]
    fits = bool(same[row, column])
    return DerivativeTrace(
        what,
        1,
        passed=int((asked & same).sum()),
        failed=int((asked & ~same).sum()),
        of=f"d {output} / d {surrogate_values.input_labels[row]}",
        claimed=float(claim[row, column]),
        measured=float(ways[0][row, column]),
        allowed=float(allowed[row, column]),
        resolution=SURROGATE,
        shape=DECLARED,
        decision="passes: as declared, up to rounding" if fits else f"fails: {_wrong(claim, ways[0], row, column)}",
    )


def _worst(excess: Array, surrogate_values: SurrogateValues) -> tuple[int, int]:
    """The element with the largest deviation; a random direction only where no single input has it."""
    alone = np.array([not label.is_direction for label in surrogate_values.input_labels])
    if alone.any() and (excess[alone] > 0).any() == (excess > 0).any():
        excess = np.where(alone[:, None], excess, -2.0)
    row, column = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return int(row), int(column)


def _wrong(claim: Array, declared: Array, row: int, column: int) -> str:
    got, wanted = pair(float(claim[row, column]), float(declared[row, column]))
    return f"the rule gives {got}, declared is {wanted}"


def account(probe: FunctionProbe) -> CaseTrace:
    """The trace of a case after all its checks."""
    held = probe.held
    plots = PlotData(probe.differentiator)
    return CaseTrace(
        probe.case,
        tuple(_inputs(probe)),
        tuple(f"{leaf.name} {_kind(leaf.dtype, leaf.shape)}" for leaf in held.outputs.leaves),
        _directions_in_words(probe),
        tuple(_remarks(probe, held)),
        tuple(_comparisons(probe, plots)),
    )


def inputs_alone(probe: FunctionProbe) -> CaseTrace:
    """The inputs of a case whose function could not be called, or had to refuse them."""
    try:
        return CaseTrace(probe.case, tuple(_inputs(probe)))
    except Exception:  # the arguments are wrong, which a finding reports
        return CaseTrace(probe.case)


def _inputs(probe: FunctionProbe) -> Iterator[InputTrace]:
    """The leaves of the arguments; drawn ones with their spec."""
    found = probe.arguments
    specs = jax.tree.leaves(
        (probe.check_case.args, dict(probe.check_case.kwargs)), is_leaf=lambda x: isinstance(x, Spec)
    )
    moved = dict(zip(found.moved, found.space.leaves, strict=True))
    for place, value in enumerate(found.leaves):
        spec = specs[place] if len(specs) == len(found.leaves) and isinstance(specs[place], Spec) else None
        leaf = moved.get(place)
        name = leaf.name if leaf else f"argument {place}"
        low, high = _range(value)
        yield InputTrace(
            name=name, kind=_kind_of(value), source=_source(spec), domain=_domain(spec), moved=leaf is not None,
            low=low, high=high,
        )  # fmt: skip


def _kind_of(value: Any) -> str:
    if not is_array(value):
        return type(value).__name__
    dtype = value.dtype if hasattr(value, "dtype") else np.result_type(type(value))
    return _kind(str(dtype), tuple(np.shape(value)))


def _kind(dtype: str, shape: tuple[int, ...]) -> str:
    """``float64[3,4]``."""
    return f"{dtype}[{','.join(map(str, shape))}]"


def _source(spec: Spec | None) -> str:
    """``uniform(3, low=0, high=1)``."""
    if spec is None:
        return "given"
    parts = list(map(str, spec.shape))
    if spec.kind in ("uniform", "integers"):
        parts += [f"low={spec.low:g}", f"high={spec.high:g}"]
    parts += [f"value={spec.value:g}"] if spec.kind == "full" else []
    return f"{spec.kind}({', '.join(parts)})"


def _domain(spec: Spec | None) -> str:
    if spec is None or spec.kind in ("integers", "key"):
        return ""
    if spec.kind in ("spd", "orthogonal", "simplex"):
        return str(spec.kind)
    if np.isinf(spec.low) and np.isinf(spec.high):
        return "the whole line"
    return f"({spec.low:g}, {spec.high:g})"


def _range(value: Any) -> tuple[float | None, float | None]:
    try:
        numbers = np.asarray(value)
        if numbers.size and np.issubdtype(numbers.dtype, np.number) and not np.iscomplexobj(numbers):
            return float(numbers.min()), float(numbers.max())
    except (TypeError, ValueError):
        pass  # a key, or an object of the user's
    return None, None


def _directions_in_words(probe: FunctionProbe) -> str:
    comparison = probe.comparison()
    if isinstance(comparison, DerivativeError):
        return ""
    everything = sum(label.is_direction for label in comparison.input_labels)
    single = len(comparison.input_labels) - everything
    parts = []
    if single:
        parts.append(f"{single} single input{'s' if single > 1 else ''}")
    if everything:
        parts.append(f"{everything} directions that move all" if everything > 1 else "1 direction that moves all")
    return f"{' and '.join(parts)} of {probe.held.inputs.size}; seed {probe.seed.rpartition(chr(31))[2]}"


def _remarks(probe: FunctionProbe, held: FlatFunction) -> Iterator[str]:
    if not held.traceable:
        yield "the function cannot be traced, so it is called with plain numbers"
    if probe.options.step is not None:
        yield f"eps={probe.options.step:g} was asked for: one central difference of that step, and no ladder"
    for (what, path, line), _ in probe.differentiator.dependence.narrowed[:4]:
        yield f"less than float64 inside: {what} ({file_line(path, line)})"
    for rule in probe.rules_in_use():
        yield f"{rule.kind} inside: {rule.name} ({rule_place(rule)})" if rule.path else rule.kind
    for path, line in probe.constants():
        yield f"held constant under stop_gradient ({file_line(path, line)})"


def _comparisons(probe: FunctionProbe, plots: PlotData) -> Iterator[DerivativeTrace]:
    """The comparisons that checks made, by mode; of a surrogate, with the declared derivative."""
    if probe.is_surrogate:
        yield from declared(probe)
        return
    if probe.options.forward is not None:  # a rule without a claim: differences say nothing for or against it
        return
    for comparison in probe.differentiator.computed_comparisons():
        for mode in comparison.autodiff:
            found = evaluate_mode(comparison, mode, probe)
            yield (
                _failed(comparison, mode, found)
                if isinstance(found, DerivativeError)
                else _element_result(found, probe, plots)
            )


def _failed(comparison: DerivativeComparison, mode: Mode, fault: DerivativeError) -> DerivativeTrace:
    return DerivativeTrace(mode_name(comparison, mode), comparison.order, fault.message)


def _element_result(found: ModeComparison, probe: FunctionProbe, plots: PlotData) -> DerivativeTrace:
    place = worst_place(found)
    verdicts = found.judgement.verdict[found.relevant]
    count = {verdict: int((verdicts == verdict).sum()) for verdict in Verdict}
    what, order = mode_name(found.comparison, found.mode), found.comparison.order
    if place is None:
        return DerivativeTrace(what, order, "neither the value nor a claim is finite here")
    measured, judged = found.measured, found.judgement
    return DerivativeTrace(
        what,
        order,
        passed=count[Verdict.PASS],
        failed=count[Verdict.FAIL],
        undecided=count[Verdict.UNDECIDED],
        of=symbol(found.comparison, found.output(place[1]), found.comparison.input_labels[place[0]]),
        claimed=float(found.claimed[place]),
        measured=float(judged.reference[place]),
        error=float(judged.error[place]),
        witness=str(judged.witness[place]),
        allowed=float(judged.tolerance[place]),
        resolution=float(judged.resolution[place]),
        noise=float(measured.noise[place]),
        shape=smoothness_of(measured, place).value,
        decision=decision(found, place, probe),
        curve=plots.curve(found.comparison.path, found.mode, place),
    )
