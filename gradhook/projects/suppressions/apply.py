"""Remove ignored findings from the report about a target, and apply the setting `advice`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gradhook.config import Config
from gradhook.config.settings import level_of
from gradhook.model.report import Ignored
from gradhook.model.results import Finding, Outcome, TargetReport, Verdict, gravest_first, worst
from gradhook.projects.suppressions.sources import Location, Suppressions, is_selected


def advice_as_errors(report: TargetReport, config: Config) -> TargetReport:
    """The report with the advice that counts as an error turned into failures."""
    if not any(_is_error(finding, config) for finding in report.findings):
        return report
    outcomes = tuple(_raised_outcome(outcome, config) for outcome in report.outcomes)
    findings = gravest_first([_finding(finding, config) for finding in report.findings])
    verdict = worst([report.verdict, *(f.verdict for f in findings if f.verdict is Verdict.FAIL)])
    return replace(report, outcomes=outcomes, findings=findings, verdict=verdict)


def setting_that_ignores(finding: Finding, config: Config) -> str:
    """The setting that leaves out this advice, in words; empty when none does."""
    is_left = finding.verdict is Verdict.ADVICE and _level(finding, config) == "ignore"
    return f"advice ({config.origins['advice']})" if is_left else ""


def _level(finding: Finding, config: Config) -> str:
    return level_of(finding.code, config.settings.advice)


def _is_error(finding: Finding, config: Config) -> bool:
    return finding.verdict is Verdict.ADVICE and _level(finding, config) == "error"


def _finding(finding: Finding, config: Config) -> Finding:
    if not _is_error(finding, config):
        return finding
    why = f"advice, which counts as an error by {config.origins['advice']}"
    return replace(finding, verdict=Verdict.FAIL, help="; ".join(filter(None, [finding.help, why])))


def _raised_outcome(outcome: Outcome, config: Config) -> Outcome:
    findings = tuple(_finding(finding, config) for finding in outcome.findings)
    failed = [finding.verdict for finding in findings if finding.verdict is Verdict.FAIL]
    return replace(outcome, findings=findings, verdict=worst([outcome.verdict, *failed]))


_DERIVATIVE = frozenset({"GRD101", "GRD102", "GRD103", "GRD201", "GRD202"})
"""The questions whose pass is what a green target stands for."""
KeepFinding = Callable[[Finding], bool]


def filter_report(report: TargetReport, suppressions: Suppressions) -> tuple[TargetReport, tuple[Ignored, ...]]:
    """The report without ignored findings, and these; its verdict is that of the rest."""
    report, select = advice_as_errors(report, suppressions.config), suppressions.config.settings.select

    def source_of(finding: Finding) -> str:
        source = suppressions.source_of(finding.code, locations(report, finding), report.ignore)
        return source or setting_that_ignores(finding, suppressions.config)

    def is_kept(finding: Finding) -> bool:
        return is_selected(finding.code, select) and not source_of(finding)

    outcomes = tuple(_outcome(outcome, is_kept, suppressions) for outcome in report.outcomes)
    findings = tuple(filter(is_kept, report.findings))
    if len(findings) == len(report.findings) and all(a is b for a, b in zip(outcomes, report.outcomes, strict=True)):
        return report, ()
    gone = [f for f in report.findings if is_selected(f.code, select) and not is_kept(f)]
    rest = _rest(report, outcomes, findings)
    answers = [finding for finding in gone if finding.verdict is not Verdict.ADVICE]
    rest = _without_verdict(rest, answers) if answers and rest.verdict is Verdict.PASS else rest
    return rest, tuple(_ignored(finding, source_of(finding), report) for finding in gone)


def locations(report: TargetReport, finding: Finding) -> list[Location]:
    """The lines where a comment may ignore a finding: its own, the decorator's and the ``def``."""
    target = report.target
    lines = {*target.lines, target.line, *(() if target.mark_path else (target.mark,))}
    own = [(finding.path, finding.line)] if finding.path else []
    return [*own, *((target.path, line) for line in sorted(lines))]


def _outcome(outcome: Outcome, is_kept: KeepFinding, suppressions: Suppressions) -> Outcome:
    """The outcome with the findings that remain; skipped when none does."""
    kept = tuple(filter(is_kept, outcome.findings))
    select = suppressions.config.settings.select
    if len(kept) == len(outcome.findings) and (kept or is_selected(outcome.code, select)):
        return outcome
    only_advice = {finding.verdict for finding in outcome.findings} == {Verdict.ADVICE}
    if only_advice and is_selected(outcome.code, select):
        return replace(outcome, findings=kept)
    if kept:
        return replace(outcome, findings=kept, verdict=worst([f.verdict for f in kept]))
    return Outcome(outcome.code, Verdict.SKIP, outcome.case, note=_why(outcome, select))


def _why(outcome: Outcome, select: Sequence[str]) -> str:
    """The findings that an outcome has lost, and the reason."""
    codes = list(dict.fromkeys(f.code for f in outcome.findings))
    ignored = [code for code in codes if is_selected(code, select)]
    if ignored:
        return f"{', '.join(ignored)} ignored"
    return f"{', '.join(codes or [outcome.code])} {'were' if len(codes) > 1 else 'was'} left out by select"


def _rest(report: TargetReport, outcomes: tuple[Outcome, ...], findings: tuple[Finding, ...]) -> TargetReport:
    if outcomes and not findings and all(outcome.verdict is Verdict.SKIP for outcome in outcomes):
        nothing = _nothing(report, outcomes)
        outcomes, findings = (*outcomes, nothing), nothing.findings
    seen = [o.resolution for o in outcomes if o.resolution is not None and o.verdict is Verdict.PASS]
    return replace(
        report, outcomes=outcomes, findings=gravest_first(list(findings)), resolution=max(seen, default=None),
        verdict=worst([o.verdict for o in outcomes] or [f.verdict for f in findings]),
    )  # fmt: skip


def _without_verdict(report: TargetReport, gone: Sequence[Finding]) -> TargetReport:
    """Skip a target when every finding about its derivative is ignored: nothing was verified."""
    if any(outcome.code in _DERIVATIVE and outcome.verdict is Verdict.PASS for outcome in report.outcomes):
        return report
    codes = list(dict.fromkeys(finding.code for finding in gone))
    text = "".join(f"and {code} " for code in codes[1:]) + "ignored: nothing is said about the derivative"
    finding = Finding(codes[0], Verdict.SKIP, text, path=report.target.path, line=report.target.line)
    return replace(report, verdict=Verdict.SKIP, findings=(finding,))


def _nothing(report: TargetReport, outcomes: tuple[Outcome, ...]) -> Outcome:
    """An undecided outcome for a target of which nothing is left: it must not pass."""
    reasons = "; ".join(dict.fromkeys(o.note for o in outcomes if o.note))
    finding = Finding(
        "GRD410", Verdict.UNDECIDED, f"nothing was tested: {reasons}", path=report.target.path, line=report.target.line,
        help="ask more, or ignore less",
    )  # fmt: skip
    return Outcome("GRD410", Verdict.UNDECIDED, None, (finding,))


def _ignored(finding: Finding, by: str, report: TargetReport) -> Ignored:
    target = report.target
    path, line = (finding.path, finding.line) if finding.path else (target.path, target.line)
    return Ignored(
        finding.code, by, path, line, finding.message, target.name, finding.verdict, finding.case, target.root
    )
