"""Every report shows advice, beside the answers and never as a failure."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, Outcome, TargetReport, Verdict
from gradhook.reporters import (
    concise,
    explanation,
    github_annotations,
    github_summary,
    gitlab,
    html,
    json_reading,
    json_report,
    junit,
    sarif,
    terminal,
)
from gradhook.reporters.display_options import DisplayOptions

Build = Callable[..., TargetReport]
TEXT = "the rule is lost at second order: its value has no rule any more (order2= would claim it)"


@pytest.fixture
def report(target: Build) -> Report:
    """A pass with advice, a failure with advice, and a rule without a claim with advice."""
    lost = Finding("GRD206", Verdict.ADVICE, TEXT, case="args", path="a/ste.py", line=7, help="return ste(x)")
    wide = Finding("GRD204", Verdict.ADVICE, "for bfloat16, forward mode: raises TypeError", path="a/ste.py", line=9)
    wrong = Finding("GRD202", Verdict.FAIL, "forward mode: the rule gives 1, declared is 2", path="a/ste.py", line=20)
    passed = (Outcome("GRD202", Verdict.PASS, "args"), Outcome("GRD206", Verdict.PASS, "args", (lost,)))
    said = (Outcome("GRD501", Verdict.SKIP, note="unclaimed rule, contract checked: shapes and dtypes"),)
    return Report(
        (
            target("ste", Verdict.PASS, "a/ste.py", 7, claim=ClaimKind.SURROGATE, outcomes=passed, findings=(lost,)),
            target("bad", Verdict.FAIL, "a/ste.py", 20, claim=ClaimKind.SURROGATE, findings=(wrong, wide)),
            target("nobodys", Verdict.SKIP, "a/ste.py", 30, claim=ClaimKind.RULE, outcomes=said, findings=(wide,)),
        )
    )


def test_the_screen_has_a_line_for_each_after_the_answers(report: Report) -> None:
    screen = terminal.render(report, DisplayOptions(width=200))
    answers, beside = screen.split("\n\nadvice, beyond what is claimed\n")
    assert "GRD206" not in answers and "  pass      ste      surrogate, as declared\n" in answers
    assert "skip      nobodys  unclaimed rule, contract checked: shapes and dtypes" in answers
    assert beside.splitlines()[:4] == [
        f"  a/ste.py:7: GRD206 ste: {TEXT}",
        "  a/ste.py:9: GRD204 bad: for bfloat16, forward mode: raises TypeError",
        "  a/ste.py:9: GRD204 nobodys: for bfloat16, forward mode: raises TypeError",
        "",
    ]
    assert "1 failed, 1 passed (1 surrogate), 1 skipped, 3 advice in 0.0 s" in beside


def test_the_screen_says_more_or_less_of_it(report: Report) -> None:
    assert "help: return ste(x)" in terminal.render(report, DisplayOptions(verbose=True))
    assert "GRD206" in terminal.render(report, DisplayOptions(quiet=True))
    assert "GRD204" not in terminal.render(report, DisplayOptions(only_failures=True))


def test_concise(report: Report) -> None:
    lines = concise.render(report).splitlines()
    assert f"a/ste.py:7: GRD206 advice losses:ste {TEXT}" in lines and len(lines) == 5
    assert len(concise.render(report, only_failures=True).splitlines()) == 1


def test_json_counts_the_findings_and_reads_them_again(report: Report) -> None:
    text = json_report.render(report, 1)
    document = json.loads(text)
    assert (document["schema"], document["verdict"], document["counts"]["advice"]) == (2, "fail", 3)
    found = [(f["code"], f["verdict"]) for t in document["targets"] for f in t["findings"]]
    assert found.count(("GRD204", "advice")) == 2 and ("GRD206", "advice") in found
    again, code = json_reading.read_report(text)
    assert (again.counts, code) == (report.counts, 1)
    assert [f.verdict for f in again.targets[0].findings] == [Verdict.ADVICE]


def test_advice_alone_may_end_with_nothing_to_report(report: Report) -> None:
    alone = Report(report.targets[:1])
    assert json_reading.read_report(json_report.render(alone, 0))[1] == 0
    assert json_reading.read_report(json_report.render(alone))[1] == 0


def test_github_shows_notices(report: Report) -> None:
    lines = github_annotations.render(report).splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["::error", "::notice", "::notice", "::notice"]
    assert TEXT in github_annotations.render(report)


def test_github_says_how_many_notices_are_missing(target: Build) -> None:
    findings = tuple(Finding("GRD204", Verdict.ADVICE, f"for size {n}", path="a.py", line=n) for n in range(1, 13))
    lines = github_annotations.render(Report((target("f", Verdict.PASS, findings=findings),))).splitlines()
    assert len(lines) == github_annotations.MOST and "3 more notices: the summary" in lines[-1]


def test_sarif_and_gitlab(report: Report) -> None:
    results = json.loads(sarif.render(report))["runs"][0]["results"]
    assert sorted((r["ruleId"], r["level"]) for r in results if r["ruleId"] in ("GRD204", "GRD206")) == [
        ("GRD204", "note"), ("GRD204", "note"), ("GRD206", "note"),
    ]  # fmt: skip
    entries = json.loads(gitlab.render(report))
    assert {e["severity"] for e in entries if e["check_name"] in ("GRD204", "GRD206")} == {"info"}


def test_junit_has_it_in_the_output_of_a_case_that_passes(report: Report) -> None:
    cases = {case.get("name"): case for case in ET.fromstring(junit.render(report)).iter("testcase")}
    assert [child.tag for child in cases["ste"]] == ["system-out"]
    assert cases["ste"].findtext("system-out") == f"advice: a/ste.py:7: GRD206 {TEXT}"
    assert "GRD204" in str(cases["bad"].findtext("system-out")) and "GRD204" not in str(
        cases["bad"].findtext("failure")
    )


def test_the_summary_has_a_table_of_it(report: Report) -> None:
    page = github_summary.render(report)
    assert "### Advice" in page and page.index("### Failed") < page.index("### Advice")
    assert page.count("`GRD204`") == 2 and "3 advice" in page


def test_the_page(report: Report) -> None:
    page = html.render(report)
    assert 'class="advice"' in page and TEXT in page
    assert "show-advice" not in page


def test_an_account_shows_a_question_with_advice(report: Report) -> None:
    text: Any = explanation.as_text(report.targets[:1], DisplayOptions(width=200))
    assert f"GRD206  advice     {TEXT}" in text and "a/ste.py:7  pass" in text
