"""The report of ``gradhook explain``, as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from gradhook.model.protocol import to_json
from gradhook.model.results import Outcome, TargetReport, Verdict
from gradhook.model.trace import CaseTrace, Curve, DerivativeTrace, InputTrace
from gradhook.reporters.display_options import DEFAULT_DISPLAY, DisplayOptions
from gradhook.reporters.formatting import clean, one_line, resolution_text

_STYLE = {
    Verdict.PASS: "32", Verdict.FAIL: "1;31", Verdict.ERROR: "1;31", Verdict.UNDECIDED: "1;33", Verdict.SKIP: "2",
    Verdict.ADVICE: "36",
}  # fmt: skip


def as_text(reports: Sequence[TargetReport], options: DisplayOptions = DEFAULT_DISPLAY) -> str:
    """One target, or several claims about one, from the inputs to the answers."""
    return "\n".join("".join(f"{line}\n" for line in _report(report, options)) for report in reports)


def as_json(reports: Sequence[TargetReport]) -> str:
    """A list with an object for each claim."""
    return json.dumps([_object(report) for report in reports], indent=2, allow_nan=False) + "\n"


def _report(report: TargetReport, options: DisplayOptions) -> Iterator[str]:
    target = report.target
    verdict = options.paint(report.verdict.value, _STYLE[report.verdict])
    name, place = options.paint(clean(target.name), "1"), f"{clean(target.path)}:{target.line}"
    yield f"{name}  {target.claim.value} claim  {place}  {verdict}"
    traces = {trace.case: trace for trace in report.traces}
    cases = dict.fromkeys([*traces, *(outcome.case for outcome in report.outcomes)])
    for case in cases:
        yield ""
        yield options.paint(f"case {clean(case)}" if case is not None else "the whole", "1")
        if case in traces:
            yield from _case(traces[case], options)
        yield from _outcomes([outcome for outcome in report.outcomes if outcome.case == case], options)
    if not report.outcomes:
        for finding in report.findings:
            yield from _wrap(f"{finding.code} {finding.verdict.value}: {finding.message}", "  ", options)


def _case(trace: CaseTrace, options: DisplayOptions) -> Iterator[str]:
    yield "  inputs"
    rows = [_input(item) for item in trace.inputs]
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else []
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        yield "    " + "  ".join([*cells, *row[3:]]).rstrip()
    if trace.outputs:
        yield from _wrap(f"outputs: {', '.join(trace.outputs)}", "  ", options)
    if trace.lines:
        yield from _wrap(f"followed along {trace.lines}", "  ", options)
    for remark in trace.remarks:
        yield from _wrap(remark, "  ", options)
    shown: list[Curve] = []
    for comparison in trace.comparisons:
        yield ""
        yield from _derivative(comparison, shown, options)


def _input(item: InputTrace) -> list[str]:
    """Name, kind, where it comes from, and the rest in words."""
    role = "differentiated" if item.moved else "not differentiated"
    rest = [f"in {item.domain}"] if item.domain else []
    if item.low is not None and item.high is not None:
        rest.append(f"value {item.low:.6g}" if item.low == item.high else f"values {item.low:.3g} to {item.high:.3g}")
    return [clean(item.name), item.kind, item.source, ", ".join([role, *rest])]


def _derivative(found: DerivativeTrace, shown: list[Curve], options: DisplayOptions) -> Iterator[str]:
    head = f"{found.what}, order {found.order}"
    if found.fault:
        yield from _wrap(f"{head}: {found.fault}", "  ", options)
        return
    counts = (("pass", found.passed), ("fail", found.failed), ("undecided", found.undecided))
    yield f"  {options.paint(head, '1')}: {', '.join(f'{n} {word}' for word, n in counts if n) or 'nothing compared'}"
    yield f"    worst element  {clean(found.of)}"
    yield f"    claimed        {found.claimed:.12g}"
    if found.shape == "declared":
        yield f"    declared       {found.measured:.12g}"
    else:
        yield f"    measured       {found.measured:.12g} ± {found.error:.1g} ({_witness(found)})"
    yield f"    allowed        {found.allowed:.2g}, {resolution_text(found.resolution)}"
    if found.noise:
        yield f"    noise          {found.noise:.1g}"
    if found.curve:
        again = any(_is_same(found.curve, other) for other in shown)
        yield from ["    ladder         as above"] if again else _step_table(found.curve)
        shown.append(found.curve)
    yield from _wrap(found.decision, "    ", options)


def _witness(found: DerivativeTrace) -> str:
    """What measured the worst element, and how the function looks to differences there."""
    return found.shape if found.witness in ("", "differences") else f"{found.witness}; {found.shape}"


def _is_same(one: Curve, other: Curve) -> bool:
    """Whether both modes give the same number of the same derivative."""
    return (one.of, one.claimed, one.steps) == (other.of, other.claimed, other.steps)


def _step_table(curve: Curve) -> Iterator[str]:
    """Level by level from the coarsest step; where the function is not smooth, both sides too."""
    sides = ("left", "right") if curve.left else ()
    yield "    " + "".join(f"{word:>18}" for word in ("step", "difference", "minus the claim", "noise", *sides))
    for n, (step, central, noise) in enumerate(zip(curve.steps, curve.central, curve.noise, strict=True)):
        cells = [f"{step:.3g}", f"{central:.10g}", f"{central - curve.claimed:.2g}", f"{noise:.1g}"]
        cells += [f"{side[n]:.10g}" for side in (curve.left, curve.right) if curve.left]
        yield "    " + "".join(f"{cell:>18}" for cell in cells)


def _outcomes(outcomes: Sequence[Outcome], options: DisplayOptions) -> Iterator[str]:
    yield from ["", "  questions"] if outcomes else []
    for outcome in outcomes:
        verdict = _displayed_verdict(outcome)
        word = options.paint(f"{verdict.value:<9}", _STYLE[verdict])
        parts = [f"{f.code}: {f.message}" if f.code != outcome.code else f.message for f in outcome.findings]
        if outcome.resolution is not None and not outcome.findings:
            parts.append(resolution_text(outcome.resolution))
        parts += [outcome.note] if outcome.note else []
        text = _wrap("; ".join(parts), " " * 22, options) or [""]
        yield f"    {outcome.code}  {word}  {text[0].strip()}".rstrip()
        yield from text[1:]


def _wrap(text: str, indent: str, options: DisplayOptions) -> list[str]:
    return textwrap.wrap(
        one_line(text), max(options.width, 40), initial_indent=indent, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _displayed_verdict(outcome: Outcome) -> Verdict:
    """A pass with advice is shown as what there is to read."""
    advised = any(finding.verdict is Verdict.ADVICE for finding in outcome.findings)
    return Verdict.ADVICE if advised and outcome.verdict is Verdict.PASS else outcome.verdict


def _object(report: TargetReport) -> dict[str, Any]:
    target = report.target
    return {
        "target": target.name, "path": target.path, "line": target.line, "claim": target.claim.value,
        "verdict": report.verdict.value, "cases": [to_json(trace) for trace in report.traces],
        "outcomes": [to_json(outcome) for outcome in report.outcomes],
        "findings": [to_json(finding) for finding in report.findings],
    }  # fmt: skip
