"""Report about a custom rule without a claim: its faults, or what was checked, never a pass."""

from __future__ import annotations

from collections.abc import Sequence

from gradhook.model.results import UNCLAIMED, Outcome, Seconds, Target, TargetReport, Verdict, gravest_first, worst

_CHECKED = {
    "GRD201": "value on every route",
    "GRD203": "linear and transposable",
    "GRD204": "shapes and dtypes",
    "GRD205": "compositions",
}


def unclaimed(target: Target, outcomes: Sequence[Outcome], seconds: Seconds) -> TargetReport:
    """The report about a rule; without faults it is skipped, with a note of what was checked."""
    findings = gravest_first([finding for outcome in outcomes for finding in outcome.findings])
    verdict = worst([outcome.verdict for outcome in outcomes])
    if verdict not in (Verdict.PASS, Verdict.SKIP):
        return TargetReport(target, verdict, tuple(outcomes), findings, seconds=seconds)
    said = Outcome(UNCLAIMED, Verdict.SKIP, None, note=_note(outcomes))
    return TargetReport(target, Verdict.SKIP, (said, *outcomes), findings, seconds=seconds)


def _note(outcomes: Sequence[Outcome]) -> str:
    checked = [words for code, words in _CHECKED.items() if _passed(code, outcomes)]
    if checked:
        return f"unclaimed rule, contract checked: {', '.join(checked)}; nothing said about its derivative"
    reasons = "; ".join(dict.fromkeys(outcome.note for outcome in outcomes if outcome.note))
    return f"unclaimed rule, nothing could be checked: {reasons}"


def _passed(code: str, outcomes: Sequence[Outcome]) -> bool:
    return any(o.code == code and o.verdict is Verdict.PASS for o in outcomes)
