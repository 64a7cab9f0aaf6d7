"""Verdicts, numbers and foreign text in words, and the order of targets: worst first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gradhook.model.digits import BLIND
from gradhook.model.report import Report
from gradhook.model.results import LEFT_OUT, ClaimKind, Finding, Outcome, Target, TargetReport, Verdict
from gradhook.model.rule_docs import codes, page

WORSE_FIRST = (Verdict.ERROR, Verdict.FAIL, Verdict.UNDECIDED, Verdict.PASS, Verdict.SKIP)
_MOST_REASONS = 4
_COUNTED = {
    Verdict.ERROR: "could not be run",
    Verdict.FAIL: "failed",
    Verdict.UNDECIDED: "undecided",
    Verdict.PASS: "passed",
    Verdict.SKIP: "skipped",
}


def clean(text: str) -> str:
    """Foreign text on one line: controls, escapes, newlines and bidi marks are spelt out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def one_line(text: str) -> str:
    """Foreign prose on one line: any white space is one space, and the rest is ``clean``."""
    return clean(" ".join(text.split()))


def location(finding: Finding, target: Target) -> tuple[str, int | None]:
    """Path and line of a finding; where it has none of its own, the target's."""
    return (finding.path, finding.line) if finding.path else (target.path, target.line)


def location_text(finding: Finding, target: Target) -> str:
    """``path:line`` of a finding."""
    path, line = location(finding, target)
    return clean(path if line is None else f"{path}:{line}")


def resolution_text(value: float) -> str:
    """``resolution 4e-10``: the smallest relative error that would have been a failure."""
    if value == 0:
        return "resolution exact"
    if not value < BLIND:
        return "no resolution"
    return "resolution " + f"{value:.1g}".replace("e-0", "e-").replace("e+0", "e+")


def decisive_findings(report: TargetReport) -> tuple[Finding, ...]:
    """The findings of a target without advice; without any, one made of its notes, unless it passes."""
    findings = tuple(finding for finding in report.findings if finding.verdict is not Verdict.ADVICE)
    if findings or report.verdict is Verdict.PASS:
        return findings
    notes = [outcome.note for outcome in report.outcomes if outcome.note and _is_informative(outcome, report)]
    return (Finding("", report.verdict, "; ".join(dict.fromkeys(notes)) or "no reason was given"),)


def advice(report: TargetReport) -> tuple[Finding, ...]:
    """What lies beyond the claim about a target."""
    return tuple(finding for finding in report.findings if finding.verdict is Verdict.ADVICE)


def _is_informative(outcome: Outcome, report: TargetReport) -> bool:
    """Of a rule without a claim, one note sums up the others."""
    return report.target.claim is not ClaimKind.RULE or outcome.code == "GRD501"


def checked_derivatives(report: TargetReport) -> str:
    """``order 2, forward and reverse``: which derivatives were found right; without any, what else was compared."""
    passed = {outcome.code for outcome in report.outcomes if outcome.verdict is Verdict.PASS}
    modes = [mode for code, mode in (("GRD101", "forward"), ("GRD102", "reverse")) if code in passed]
    order = "order 2" if "GRD103" in passed else "order 1"
    if modes:
        return f"{order}, {' and '.join(modes)}"
    return ", ".join(page(code).name for code in sorted(passed) if code in codes()) or "nothing compared"


def bias_note(report: TargetReport) -> str:
    """The bound of a surrogate's bias over all cases; empty without GRD208."""
    notes = [o.note for o in report.outcomes if o.code == "GRD208" and o.note.startswith("bias: ")]
    return max(notes, key=_last_number, default="")


def _last_number(note: str) -> float:
    try:
        return float(note.rpartition(" ")[2])
    except ValueError:
        return -math.inf


def is_left_out(report: TargetReport) -> bool:
    """Whether a target was on purpose not examined (time budget, slow targets)."""
    return report.verdict is Verdict.SKIP and any(finding.code == LEFT_OUT for finding in report.findings)


def skipped_outcomes(report: TargetReport) -> tuple[Outcome, ...]:
    """The questions that did not apply."""
    return tuple(outcome for outcome in report.outcomes if outcome.verdict is Verdict.SKIP)


def summary(report: Report) -> str:
    """``1 failed, 7 passed (1 surrogate) in 3.2 s``."""
    counts = report.counts
    parts = [
        f"{counts[verdict]} {_COUNTED[verdict]}{_asides(verdict, report)}" for verdict in WORSE_FIRST if counts[verdict]
    ]
    if counts[Verdict.ADVICE]:
        parts.append(f"{counts[Verdict.ADVICE]} advice")
    if report.interrupted:
        parts.append(f"interrupted with {len(report.unanswered)} unanswered")
    if report.notices:
        parts.append(f"{len(report.notices)} notice{'s' * (len(report.notices) > 1)}")
    return f"{', '.join(parts) or 'nothing checked'} in {report.seconds:.1f} s"


def ignored_summary(report: Report) -> str:
    """``2 findings ignored: GRD406 by comment losses.py:12, …``; empty without any."""
    count = len(report.ignored)
    reasons = Counter((item.code, item.by) for item in report.ignored)
    parts = [f"{code} by {by}{f' ({times} times)' * (times > 1)}" for (code, by), times in reasons.items()]
    if len(parts) > _MOST_REASONS:
        parts = [*parts[:_MOST_REASONS], f"and {len(parts) - _MOST_REASONS} more reasons"]
    return f"{count} finding{'s' * (count > 1)} ignored: {', '.join(parts)}" if count else ""


def _asides(verdict: Verdict, report: Report) -> str:
    """What a reader of "7 passed" must not take for more than it is."""
    counted = [t for t in report.targets if t.verdict is verdict]
    surrogates = sum(t.target.claim is ClaimKind.SURROGATE for t in counted) if verdict is Verdict.PASS else 0
    cached = sum(t.cached for t in counted if verdict is not Verdict.SKIP)
    left = sum(map(is_left_out, counted))
    parts = [f"{surrogates} surrogate{'s' * (surrogates > 1)}"] * bool(surrogates) + [f"{cached} cached"] * bool(cached)
    parts += [f"{left} left out: nothing is known about {'it' if left == 1 else 'them'}"] * bool(left)
    return f" ({', '.join(parts)})" if parts else ""


def merge_modes(findings: Sequence[Finding]) -> list[Finding]:
    """Findings without those of reverse mode that repeat forward mode's word for word."""
    forward, reverse = "(jvp", "(grad"
    spoken = {(f.case, f.message.replace(forward, reverse, 1)): f for f in findings if forward in f.message}
    kept: list[Finding] = []
    for finding in findings:
        twin = spoken.get((finding.case, finding.message))
        if twin is None or twin not in kept:
            kept.append(finding)
        else:
            codes = twin.code if twin.code == finding.code else f"{twin.code}, {finding.code}"
            words = twin.message.replace(forward, "(jvp and grad", 1)
            kept[kept.index(twin)] = replace(twin, code=codes, message=words)
    return kept


def tolerance_multiple(finding: Finding) -> float:
    """The distance between claim and measurement in tolerances; infinity where it cannot be computed."""
    if finding.claimed is None or finding.measured is None:
        return math.inf
    distance = abs(finding.claimed - finding.measured)
    if not math.isfinite(distance):
        return math.inf
    return distance / finding.tolerance if finding.tolerance else math.inf


def worst_first(targets: Iterable[TargetReport]) -> list[TargetReport]:
    """By verdict, then by the worst finding, then by place."""
    return sorted(targets, key=_rank)


def _rank(report: TargetReport) -> tuple[int, float, str, int]:
    worst = max((tolerance_multiple(finding) for finding in decisive_findings(report)), default=0.0)
    return WORSE_FIRST.index(report.verdict), -worst, report.target.path, report.target.line
