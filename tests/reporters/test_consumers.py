"""Can programs that others wrote read what the reporters write?"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from gradhook.model.report import Report
from gradhook.reporters import junit, sarif

Give = Callable[[Report], Report]


@pytest.fixture(params=["rich", "pictured", "empty"])
def report(request: pytest.FixtureRequest) -> Report:
    return Report(()) if request.param == "empty" else request.getfixturevalue(request.param)


def test_junitparser_counts_what_we_counted(report: Report) -> None:
    junitparser = pytest.importorskip("junitparser", reason="it comes with the extra `test`")
    suites = junitparser.JUnitXml.fromstring(junit.render(report))
    counts = report.counts
    cases = [case for suite in suites for case in suite]
    results = [type(result).__name__ for case in cases for result in case.result]
    assert (suites.tests, len(cases)) == (len(report.targets),) * 2
    assert (suites.failures, results.count("Failure")) == (counts["fail"] + counts["undecided"],) * 2
    assert (suites.errors, results.count("Error")) == (counts["error"],) * 2
    assert (suites.skipped, results.count("Skipped")) == (counts["skip"],) * 2
    assert sum(suite.tests for suite in suites) == len(cases)


def test_a_strict_model_of_sarif_takes_the_log_and_keeps_all_of_it(report: Report) -> None:
    sarif_pydantic = pytest.importorskip("sarif_pydantic", reason="it comes with the extra `test`")
    text = sarif.render(report)
    log = sarif_pydantic.Sarif.model_validate_json(text)
    again = json.loads(log.model_dump_json(by_alias=True, exclude_none=True))
    ours = json.loads(text)["runs"][0]["results"]
    assert [(r["ruleId"], r["message"]["text"]) for r in again["runs"][0]["results"]] == [
        (r["ruleId"], r["message"]["text"]) for r in ours
    ]


def test_the_model_of_sarif_is_strict(rich: Report) -> None:
    sarif_pydantic = pytest.importorskip("sarif_pydantic", reason="it comes with the extra `test`")
    log = json.loads(sarif.render(rich))
    log["runs"][0]["results"][0]["level"] = "catastrophe"
    with pytest.raises(ValueError, match="level"):
        sarif_pydantic.Sarif.model_validate(log)
