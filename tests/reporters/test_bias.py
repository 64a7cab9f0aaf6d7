"""Does every report that shows a surrogate say how far it is from the true derivative, passed or not?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gradhook.model import ClaimKind, Finding, Outcome, Report, Verdict
from gradhook.reporters import json_report, junit, summary, terminal
from gradhook.reporters.wording import bias

SMALL, LARGE = (f"bias: differs from the true derivative by up to {size}" for size in ("0.5", "3"))
UNKNOWN = "bias: no true derivative was found to compare with"
FORMATS = {"terminal": terminal, "summary": summary, "junit": junit, "json": json_report}


def surrogate(target: Any, verdict: Verdict, *notes: str) -> Any:
    outcomes = tuple(Outcome("GRD208", verdict, note=note) for note in notes)
    findings = (Finding("GRD202", verdict, "gives 0, declared is 1"),) if verdict is not Verdict.PASS else ()
    return target("ste", verdict, claim=ClaimKind.SURROGATE, outcomes=outcomes, findings=findings)


@pytest.mark.parametrize(("notes", "said"), [((SMALL, LARGE, UNKNOWN), LARGE), ((UNKNOWN,), UNKNOWN), ((), "")])
def test_the_largest_of_all_cases_counts(target: Callable[..., Any], notes: tuple[str, ...], said: str) -> None:
    assert bias(surrogate(target, Verdict.PASS, *notes)) == said


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED])
@pytest.mark.parametrize("name", FORMATS)
def test_it_is_said(target: Callable[..., Any], name: str, verdict: Verdict) -> None:
    report = Report((surrogate(target, verdict, SMALL, LARGE),))
    text = " ".join(FORMATS[name].render(report).split())
    assert LARGE in text
    assert LARGE not in FORMATS[name].render(replace(report, targets=(surrogate(target, verdict),)))
