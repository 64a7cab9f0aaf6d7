"""Can code scanning read the report, and does it point to the right places?"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, Target, TargetReport, Verdict
from gradhook.reporters.sarif import MOST, render


def results(report: Report) -> list[dict[str, Any]]:
    log = json.loads(render(report))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    found: list[dict[str, Any]] = run["results"]
    return found


def place(result: dict[str, Any]) -> tuple[str, int | None]:
    physical = result["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region", {}).get("startLine")


def test_results(rich: Report) -> None:
    found = results(rich)
    assert [(r["ruleId"], r["level"], *place(r)) for r in found] == [
        ("GRD901", "error", "b.py", 3), ("GRD102", "error", "a/losses.py", 13), ("GRD105", "error", "a/losses.py", 12),
        ("GRD401", "warning", "a/losses.py", 20), ("gradhook", "note", "ste.py", 9),
        ("GRD501", "warning", "ste.py", 30),
    ]  # fmt: skip
    related = found[1]["relatedLocations"][0]["physicalLocation"]
    assert related["region"]["startLine"] == 12
    assert "help" not in found[1]
    assert json.loads(render(rich))["runs"][0]["invocations"] == [{"executionSuccessful": False}]


def test_fingerprints_tell_findings_apart_and_last(rich: Report) -> None:
    prints = [r["partialFingerprints"]["gradhook/v1"] for r in results(rich)]
    assert len(set(prints)) == len(prints)
    assert prints == [r["partialFingerprints"]["gradhook/v1"] for r in results(rich)]


def test_no_more_than_github_takes(target) -> None:
    findings = tuple(Finding("GRD101", Verdict.FAIL, f"{n}") for n in range(MOST + 10))
    assert len(results(Report((target("f", Verdict.FAIL, findings=findings),)))) == MOST


@given(st.text(st.sampled_from("a é%#?\n\udcff😀/"), min_size=1, max_size=9))
def test_any_path_is_an_address(path: str) -> None:
    report = TargetReport(Target("m", "f", path, 1, 1, ClaimKind.EXACT, "/r"), Verdict.FAIL)
    uri, _ = place(results(Report((report,)))[0])
    assert uri.isascii()
    assert not set(uri) & set(' #?\n"')
