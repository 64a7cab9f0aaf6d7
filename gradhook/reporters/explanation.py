"""How does it read to a person, and to a program, how a target was examined?"""

from __future__ import annotations

import dataclasses
import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gradhook.model.plots import Curve
from gradhook.model.results import Outcome, TargetReport, Verdict
from gradhook.model.trace import Account, Comparison, Drawn
from gradhook.reporters.formatting import clean, flat, resolution

_STYLE = {
    Verdict.PASS: "32", Verdict.FAIL: "1;31", Verdict.ERROR: "1;31", Verdict.UNDECIDED: "1;33", Verdict.SKIP: "2",
    Verdict.ADVICE: "36",
}  # fmt: skip


@dataclass(frozen=True)
class _View:
    width: int
    color: bool

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color else text

    def wrapped(self, text: str, indent: str) -> list[str]:
        room = max(self.width, 40)
        return textwrap.wrap(
            flat(text), room, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip


def as_text(reports: Sequence[TargetReport], *, width: int = 100, color: bool = False) -> str:
    """One target, or several claims about one, from the inputs to the answers."""
    view = _View(width, color)
    return "\n".join("".join(f"{line}\n" for line in _report(report, view)) for report in reports)


def as_json(reports: Sequence[TargetReport]) -> str:
    """A list with an object for each claim."""
    return json.dumps([_object(report) for report in reports], indent=2, allow_nan=False) + "\n"


def _report(report: TargetReport, view: _View) -> Iterator[str]:
    target = report.target
    verdict = view.paint(report.verdict.value, _STYLE[report.verdict])
    name, place = view.paint(clean(target.name), "1"), f"{clean(target.path)}:{target.line}"
    yield f"{name}  {target.claim.value} claim  {place}  {verdict}"
    told = {account.case: account for account in report.accounts}
    cases = dict.fromkeys([*told, *(outcome.case for outcome in report.outcomes)])
    for case in cases:
        yield ""
        yield view.paint(f"case {clean(case)}" if case is not None else "the whole", "1")
        if case in told:
            yield from _account(told[case], view)
        yield from _questions([outcome for outcome in report.outcomes if outcome.case == case], view)
    if not report.outcomes:
        for finding in report.findings:
            yield from view.wrapped(f"{finding.code} {finding.verdict.value}: {finding.message}", "  ")


def _account(account: Account, view: _View) -> Iterator[str]:
    yield "  inputs"
    rows = [_drawn(item) for item in account.inputs]
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else []
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        yield "    " + "  ".join([*cells, *row[3:]]).rstrip()
    if account.outputs:
        yield from view.wrapped(f"outputs: {', '.join(account.outputs)}", "  ")
    if account.lines:
        yield from view.wrapped(f"followed along {account.lines}", "  ")
    for remark in account.remarks:
        yield from view.wrapped(remark, "  ")
    shown: list[Curve] = []
    for comparison in account.comparisons:
        yield ""
        yield from _comparison(comparison, shown, view)


def _drawn(item: Drawn) -> list[str]:
    """Name, kind, where it comes from, and the rest in words."""
    role = "differentiated" if item.moved else "not differentiated"
    rest = [f"in {item.domain}"] * bool(item.domain)
    if item.low is not None and item.high is not None:
        rest.append(f"value {item.low:.6g}" if item.low == item.high else f"values {item.low:.3g} to {item.high:.3g}")
    return [clean(item.name), item.kind, item.source, ", ".join([role, *rest])]


def _comparison(found: Comparison, shown: list[Curve], view: _View) -> Iterator[str]:
    head = f"{found.what}, order {found.order}"
    if found.fault:
        yield from view.wrapped(f"{head}: {found.fault}", "  ")
        return
    counts = (("pass", found.passed), ("fail", found.failed), ("undecided", found.undecided))
    yield f"  {view.paint(head, '1')}: {', '.join(f'{n} {word}' for word, n in counts if n) or 'nothing compared'}"
    yield f"    worst element  {clean(found.of)}"
    yield f"    claimed        {found.claimed:.12g}"
    if found.shape == "declared":
        yield f"    declared       {found.measured:.12g}"
    else:
        yield f"    measured       {found.measured:.12g} ± {found.error:.1g} ({_origin(found)})"
    yield f"    allowed        {found.allowed:.2g}, {resolution(found.resolution)}"
    yield from [f"    noise          {found.noise:.1g}"] * bool(found.noise)
    if found.curve:
        again = any(_is_same(found.curve, other) for other in shown)
        yield from ["    ladder         as above"] if again else _ladder(found.curve)
        shown.append(found.curve)
    yield from view.wrapped(found.decision, "    ")


def _origin(found: Comparison) -> str:
    """What measured the worst element, and how the function looks to differences there."""
    return found.shape if found.witness in ("", "differences") else f"{found.witness}; {found.shape}"


def _is_same(one: Curve, other: Curve) -> bool:
    """Whether both modes claim the same number of the same derivative."""
    return (one.of, one.claimed, one.steps) == (other.of, other.claimed, other.steps)


def _ladder(curve: Curve) -> Iterator[str]:
    """Level by level from the coarsest step; where the function is not smooth, both sides too."""
    sides = ("left", "right") if curve.left else ()
    yield "    " + "".join(f"{word:>18}" for word in ("step", "difference", "minus the claim", "noise", *sides))
    for n, (step, central, noise) in enumerate(zip(curve.steps, curve.central, curve.noise, strict=True)):
        cells = [f"{step:.3g}", f"{central:.10g}", f"{central - curve.claimed:.2g}", f"{noise:.1g}"]
        cells += [f"{side[n]:.10g}" for side in (curve.left, curve.right) if curve.left]
        yield "    " + "".join(f"{cell:>18}" for cell in cells)


def _questions(outcomes: Sequence[Outcome], view: _View) -> Iterator[str]:
    yield from ["", "  questions"] if outcomes else []
    for outcome in outcomes:
        verdict = _shown(outcome)
        word = view.paint(f"{verdict.value:<9}", _STYLE[verdict])
        said = [f"{f.code}: {f.message}" if f.code != outcome.code else f.message for f in outcome.findings]
        said += [resolution(outcome.resolution)] if outcome.resolution is not None and not outcome.findings else []
        said += [outcome.note] if outcome.note else []
        text = view.wrapped("; ".join(said), " " * 22) or [""]
        yield f"    {outcome.code}  {word}  {text[0].strip()}".rstrip()
        yield from text[1:]


def _shown(outcome: Outcome) -> Verdict:
    """A pass with advice is shown as what there is to read."""
    advised = any(finding.verdict is Verdict.ADVICE for finding in outcome.findings)
    return Verdict.ADVICE if advised and outcome.verdict is Verdict.PASS else outcome.verdict


def _object(report: TargetReport) -> dict[str, Any]:
    target = report.target
    return {
        "target": target.name, "path": target.path, "line": target.line, "claim": target.claim.value,
        "verdict": report.verdict.value, "cases": [_plain(account) for account in report.accounts],
        "outcomes": [_plain(outcome) for outcome in report.outcomes],
        "findings": [_plain(finding) for finding in report.findings],
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """Records as JSON knows them; nan and infinities are words."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
