"""Is the derivative finite wherever the value is, and of the input's dtype?"""

from __future__ import annotations

import numpy as np

from gradhook.judge import NO_SLOPE, Array, Estimate, columns_of, shape_of
from gradhook.messages import MODE_NAMES, bar, file_line, number
from gradhook.model import ClaimKind, Finding, Mode, Outcome, Rule, Shape, Verdict, worst
from gradhook.probe import Fault, Label, Origin, Probe, Study

RULE = Rule("GRD105", "finite", "Is the derivative finite wherever the value is, and of the input's dtype?")
APPLIES = frozenset({ClaimKind.EXACT})


def run(probe: Probe) -> Outcome:
    """A nan is never a pass, not even beside a measured nan; an infinite slope only where the function has one."""
    findings = [*_not_finite(probe), *_dtypes(probe)]
    return Outcome(RULE.code, worst([f.verdict for f in findings] or [Verdict.PASS]), probe.case, tuple(findings))


def _not_finite(probe: Probe) -> list[Finding]:
    study = probe.study()
    if isinstance(study, Fault):
        return []
    found = [_worst(study, mode, claim, probe) for mode, claim in study.claims.items() if not isinstance(claim, Fault)]
    return [finding for finding in found if finding]


def _worst(study: Study, mode: Mode, claim: Array, probe: Probe) -> Finding | None:
    """The first element that is not finite, a nan before an infinity, with a count of the others."""
    measured = columns_of(study.measured, study.columns(mode))
    bad = ~np.isfinite(claim) & np.isfinite(measured.centre)[None, :]
    if not bad.any():
        return None
    nan = bad & np.isnan(claim)
    d, o = (int(i) for i in np.argwhere(nan if nan.any() else bad)[0])
    label, value = study.input_labels[d], float(claim[d, o])
    undecided = not nan.any() and shape_of(measured, (d, o)) in (*NO_SLOPE, Shape.EDGE)
    code, why = _cause(shape_of(measured, (d, o)), undecided)
    output = study.output_labels[o] if not (mode == "rev" and len(study.weights)) else Label("combination", (o,))
    axes = np.array([label.leaf != "direction" for label in study.input_labels], dtype=bool)
    count = int(np.sum(bad.any(axis=1) & (axes | (not axes.any()))))
    more = f" (and for {count - 1} more)" if count > 1 else ""
    origin = probe.origin(mode, d, o)
    return Finding(
        code, Verdict.UNDECIDED if undecided else Verdict.FAIL,
        f"{MODE_NAMES[mode]} gives {number(value)} for d {output} / d {label}, where the value is finite"
        f"{_measured(measured, (d, o))}{more}{_made(origin)}",
        case=probe.case, mode=mode, order=1, leaf=label.leaf, index=label.index, output=str(output), claimed=value,
        measured=float(measured.value[d, o]), error=float(measured.error[d, o]), help=why,
        path=origin.path if origin and origin.path else None, line=origin.line if origin and origin.path else None,
    )  # fmt: skip


def _made(origin: Origin | None) -> str:
    """``; first produced by `div` at losses.py:31 (sqrt or norm at 0)``."""
    if origin is None:
        return ""
    where = f" at {file_line(origin.path, origin.line)}" if origin.path else ""
    return f"; first produced by `{origin.primitive}`{where}" + (f" ({origin.cause})" if origin.cause else "")


_ARTICLE = {Shape.EDGE: "the"}


def _cause(shape: Shape, undecided: bool) -> tuple[str, str]:
    if undecided:
        code = NO_SLOPE.get(shape, "GRD408")
        return (
            code,
            f"here the function has {_ARTICLE.get(shape, 'a')} {shape}, so there is no finite derivative: move the case",
        )
    return RULE.code, (
        "the usual causes: an unselected branch of where() that is not finite (guard its input with a second where), "
        "sqrt or norm at 0, 0 * inf"
    )


def _measured(measured: Estimate, place: tuple[int, int]) -> str:
    value, error = float(measured.value[place]), float(measured.error[place])
    settled = measured.accepted[place] and error <= 1e-3 * max(abs(value), float(measured.scale[place]))
    return f"; finite differences measure {number(value)} ± {bar(error)}" if settled else ""


def _dtypes(probe: Probe) -> list[Finding]:
    return [
        Finding(
            RULE.code, Verdict.FAIL, f"the gradient with respect to {label} has dtype {given}, the input {dtype}",
            case=probe.case, mode="rev", order=1, leaf=label.leaf, help="cast the cotangent to the input's dtype",
        )
        for label, dtype, given in probe.gradient_dtypes()
        if dtype != given
    ]  # fmt: skip
