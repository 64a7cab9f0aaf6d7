"""Does every report that shows a surrogate say how far it is from the true derivative, passed or not?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, Outcome, Verdict
from gradhook.reporters import github_summary, html, json_report, junit, terminal
from gradhook.reporters.formatting import bias_note

SMALL, LARGE = (f"bias: differs from the true derivative by up to {size}" for size in ("0.5", "3"))
UNKNOWN = "bias: no true derivative was found to compare with"
FORMATS = {"terminal": terminal, "summary": github_summary, "junit": junit, "json": json_report}


def surrogate(target: Any, verdict: Verdict, *notes: str) -> Any:
    outcomes = tuple(Outcome("GRD208", verdict, note=note) for note in notes)
    findings = (Finding("GRD202", verdict, "gives 0, declared is 1"),) if verdict is not Verdict.PASS else ()
    return target("ste", verdict, claim=ClaimKind.SURROGATE, outcomes=outcomes, findings=findings)


@pytest.mark.parametrize(("notes", "said"), [((SMALL, LARGE, UNKNOWN), LARGE), ((UNKNOWN,), UNKNOWN), ((), "")])
def test_the_largest_of_all_cases_counts(target: Callable[..., Any], notes: tuple[str, ...], said: str) -> None:
    assert bias_note(surrogate(target, Verdict.PASS, *notes)) == said


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED])
@pytest.mark.parametrize("name", FORMATS)
def test_it_is_said(target: Callable[..., Any], name: str, verdict: Verdict) -> None:
    report = Report((surrogate(target, verdict, SMALL, LARGE),))
    text = " ".join(FORMATS[name].render(report).split())
    assert LARGE in text
    assert LARGE not in FORMATS[name].render(replace(report, targets=(surrogate(target, verdict),)))


def test_a_rule_without_a_claim_is_no_exact_derivative(target: Callable[..., Any]) -> None:
    note = "unclaimed rule, contract checked: linear and transposable; nothing said about its derivative"
    outcomes = (Outcome("GRD501", Verdict.SKIP, note=note), Outcome("GRD204", Verdict.PASS, note="traced for float64"))
    report = Report((target("rule", Verdict.SKIP, claim=ClaimKind.RULE, outcomes=outcomes),))
    page = html.render(report)
    assert "rule without a claim" in page and "exact derivative" not in page
    for name in ("terminal", "summary", "junit"):
        text = " ".join(FORMATS[name].render(report).split())
        assert note in text and "traced" not in text and "1 skipped" in FORMATS["terminal"].render(report)
