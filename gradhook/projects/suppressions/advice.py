"""Apply the setting ``advice``: it is kept, counts as a failure, or is left out."""

from __future__ import annotations

from dataclasses import replace

from gradhook.config import Config
from gradhook.config.settings import level_of
from gradhook.model.results import Finding, Outcome, TargetReport, Verdict, gravest_first, worst


def advice_as_errors(report: TargetReport, config: Config) -> TargetReport:
    """The report with the advice that counts as an error turned into failures."""
    if not any(_is_error(finding, config) for finding in report.findings):
        return report
    outcomes = tuple(_outcome(outcome, config) for outcome in report.outcomes)
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


def _outcome(outcome: Outcome, config: Config) -> Outcome:
    findings = tuple(_finding(finding, config) for finding in outcome.findings)
    failed = [finding.verdict for finding in findings if finding.verdict is Verdict.FAIL]
    return replace(outcome, findings=findings, verdict=worst([outcome.verdict, *failed]))
