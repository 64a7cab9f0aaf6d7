"""Can readers of JUnit's XML count what passed, and does no text break the document?"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, Target, TargetReport, Verdict
from gradhook.reporters.junit import render


def test_counts_and_cases(rich: Report) -> None:
    root = ET.fromstring(render(rich))
    assert root.attrib == {
        "name": "gradhook", "tests": "6", "failures": "2", "errors": "1", "skipped": "1", "time": "3.210",
    }  # fmt: skip
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert len(cases["objective"]) == 0
    assert cases["round"].findtext("system-out") == "cached"
    assert cases["huber"][0].tag == "failure"
    assert cases["huber"][0].get("type") == "GRD102"
    assert "GRD105 the gradient is nan" in (cases["huber"][0].text or "")
    assert "\\x1b[31mred" in (cases["huber"].findtext("system-out") or "")
    assert (cases["softplus"][0].tag, cases["softplus"][0].get("type")) == ("failure", "undecided")
    assert cases["gone"][0].tag == "error"
    assert cases["later"][0].tag == "skipped"
    assert cases["objective"].get("time") == "0.750"


@given(st.text(st.sampled_from("a<>&\"']]>\x00\x1b\n\udcff\ufffe\u2028é"), max_size=12))
def test_any_text_makes_a_document(text: str) -> None:
    finding = Finding("GRD101", Verdict.FAIL, text, case=text, help=text, reproduce=text, path=text or None)
    target = TargetReport(
        Target(text, text, text, 1, 1, ClaimKind.EXACT, "/r"), Verdict.FAIL, (), (finding,), output=text
    )
    document = render(Report((target,)))
    assert len(list(ET.fromstring(document.encode()).iter("testcase"))) == 1
