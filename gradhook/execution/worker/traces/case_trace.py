"""Trace how a case was examined: its inputs, and each comparison with differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from gradhook.annotations.inputs import Spec
from gradhook.comparison.compare import ModeComparison, evaluate_mode
from gradhook.comparison.judge import smoothness_of
from gradhook.comparison.messages import file_line, mode_name, rule_place, symbol
from gradhook.comparison.probe import DerivativeComparison, DerivativeError
from gradhook.execution.worker.traces.decisions import decision, worst_place
from gradhook.execution.worker.traces.surrogate_trace import declared
from gradhook.model.results import Mode, Verdict
from gradhook.model.trace import CaseTrace, DerivativeTrace, InputTrace
from gradhook.numerics.finite_difference.plot_data import PlotData
from gradhook.numerics.flatten import is_array
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.function_probe import FunctionProbe


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
