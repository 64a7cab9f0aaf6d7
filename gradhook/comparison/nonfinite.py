"""Find claims that are not finite where the value is, and what made them so."""

from __future__ import annotations

import numpy as np

from gradhook.comparison.judge import NO_SLOPE, Array, Measurement, smoothness_of
from gradhook.comparison.messages import file_line, mode_name, symbol
from gradhook.comparison.probe import DerivativeComparison, NonfiniteSource, Probe
from gradhook.model.digits import bar, number
from gradhook.model.results import Finding, Mode, Smoothness, Verdict

CODE = "GRD105"


def not_finite(comparison: DerivativeComparison, mode: Mode, claim: Array, probe: Probe) -> Finding | None:
    """The first element that is not finite, a nan before an infinity, with a count of the others."""
    measured = comparison.measured_by(mode)
    bad = ~np.isfinite(claim) & np.isfinite(measured.centre)[None, :]
    if not bad.any():
        return None
    nan = bad & np.isnan(claim)
    d, o = (int(i) for i in np.argwhere(nan if nan.any() else bad)[0])
    label, value = comparison.input_labels[d], float(claim[d, o])
    shape = smoothness_of(measured, (d, o))
    undecided = _excused(comparison, bool(nan.any()), shape, bool(measured.accepted[d, o]))
    code, why = _cause(shape, undecided)
    output = comparison.column_labels(mode)[o]
    axes = np.array([not label.is_direction for label in comparison.input_labels], dtype=bool)
    count = int(np.sum(bad.any(axis=1) & (axes | (not axes.any()))))
    more = f" (and for {count - 1} more)" if count > 1 else ""
    source = probe.nonfinite_source(mode, d, o) if not comparison.path else None
    return Finding(
        code, Verdict.UNDECIDED if undecided else Verdict.FAIL,
        f"{mode_name(comparison, mode)} gives {number(value)} for {symbol(comparison, output, label)}, "
        "where the value is finite"
        f"{_measured(measured, (d, o))}{more}{_made(source)}",
        case=probe.case, mode=mode, order=comparison.order, leaf=label.leaf, index=label.index, output=str(output),
        claimed=value, measured=float(measured.value[d, o]), error=float(measured.error[d, o]), help=why,
        path=source.path if source and source.path else None, line=source.line if source and source.path else None,
    )  # fmt: skip


def _excused(comparison: DerivativeComparison, nan: bool, shape: Smoothness, settled: bool) -> bool:
    """Whether the function itself has no finite slope: then an infinite claim is no fault."""
    if comparison.path:
        return shape is not Smoothness.SMOOTH or not settled
    return not nan and shape in (*NO_SLOPE, Smoothness.EDGE)


def _made(source: NonfiniteSource | None) -> str:
    """``; first produced by `div` at losses.py:31 (sqrt or norm at 0)``."""
    if source is None:
        return ""
    where = f" at {file_line(source.path, source.line)}" if source.path else ""
    return f"; first produced by `{source.primitive}`{where}" + (f" ({source.cause})" if source.cause else "")


_ARTICLE = {Smoothness.EDGE: "the"}


def _cause(shape: Smoothness, undecided: bool) -> tuple[str, str]:
    if undecided and shape is Smoothness.SMOOTH:
        return "GRD409", "differences cannot tell whether it is finite here: choose a case of ordinary size"
    if undecided:
        code = NO_SLOPE.get(shape, "GRD408")
        return (
            code,
            f"here the function has {_ARTICLE.get(shape, 'a')} {shape}, so no derivative is finite: move the case",
        )
    return CODE, (
        "the usual causes: an unselected branch of where() that is not finite (guard its input with a second where), "
        "sqrt or norm at 0, 0 * inf"
    )


def _measured(measured: Measurement, place: tuple[int, int]) -> str:
    value, error = float(measured.value[place]), float(measured.error[place])
    settled = measured.accepted[place] and error <= 1e-3 * max(abs(value), float(measured.surroundings[place]))
    return f"; finite differences give {number(value)} ± {bar(error)}" if settled else ""
