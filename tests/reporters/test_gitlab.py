"""Does GitLab get what its documentation asks for, and every finding of its own?"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.report import Notice, Report
from gradhook.model.results import ClaimKind, Finding, Target, TargetReport, Verdict
from gradhook.reporters.gitlab import render

FORMAT = {  # https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


def read(report: Report) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(render(report))
    jsonschema.validate(entries, FORMAT, cls=jsonschema.Draft202012Validator)
    prints = [entry["fingerprint"] for entry in entries]
    assert len(set(prints)) == len(prints)  # GitLab shows the first of equals only
    return entries


def test_entries(rich: Report) -> None:
    found = [
        (e["check_name"], e["severity"], e["location"]["path"], e["location"]["lines"]["begin"]) for e in read(rich)
    ]
    assert found == [
        ("GRD901", "blocker", "b.py", 3), ("GRD102", "critical", "a/losses.py", 13),
        ("GRD105", "critical", "a/losses.py", 12), ("GRD401", "minor", "a/losses.py", 20),
        ("gradhook", "info", "ste.py", 9), ("GRD501", "minor", "ste.py", 30),
    ]  # fmt: skip


def test_nothing_is_an_empty_list(rich: Report) -> None:
    assert read(Report(rich.targets[:1])) == []


def test_a_moved_line_is_the_same_finding(target) -> None:
    def prints(line: int) -> list[str]:
        finding = Finding("GRD101", Verdict.FAIL, "wrong", path="m.py", line=line)
        return [
            e["fingerprint"] for e in read(Report((target("f", Verdict.FAIL, line=line, findings=(finding,) * 2),)))
        ]

    assert prints(3) == prints(30)


@given(st.text(max_size=20), st.integers(-2, 5))
def test_any_text_makes_an_entry(text: str, line: int) -> None:
    finding = Finding("", Verdict.FAIL, text, path=text or None, line=line, help=text, case=text)
    report = TargetReport(Target(text, text, f"a{text}", line, 1, ClaimKind.EXACT, "/r"), Verdict.FAIL, (), (finding,))
    for entry in read(Report((report,), (Notice("GRD501", f"a{text}", line, text or "x"),))):
        assert entry["description"].isprintable() and entry["location"]["path"].isprintable()
