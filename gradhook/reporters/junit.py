"""The JUnit report: a target is a test case, a file is a suite.

JUnit has no third verdict: undecided is a failure of the type ``undecided``, never a pass. Advice stands in the output
of its test case, whatever its verdict.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from gradhook.model.report import Report
from gradhook.model.results import Finding, TargetReport, Verdict
from gradhook.reporters.formatting import (
    advice,
    bias_note,
    clean,
    decisive_findings,
    location_text,
    one_line,
    resolution_text,
)

_ELEMENTS = {Verdict.FAIL: "failure", Verdict.UNDECIDED: "failure", Verdict.ERROR: "error", Verdict.SKIP: "skipped"}


def render(report: Report) -> str:
    """A document with one suite for each file."""
    files: dict[str, list[TargetReport]] = {}
    for target in report.targets:
        files.setdefault(target.target.path, []).append(target)
    root = ET.Element("testsuites", {"name": "gradhook", **_counts(report.targets), "time": f"{report.seconds:.3f}"})
    for path, targets in files.items():
        suite = ET.SubElement(root, "testsuite", {"name": clean(path), **_counts(targets)})
        for target in targets:
            _case(suite, target)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _counts(targets: Sequence[TargetReport]) -> dict[str, str]:
    names = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: sum(_ELEMENTS.get(t.verdict) == element for t in targets) for name, element in names.items()}
    return {"tests": str(len(targets)), **{name: str(count) for name, count in counts.items()}}


def _case(suite: ET.Element, report: TargetReport) -> None:
    target, seconds = report.target, report.seconds.total
    attributes = {
        "classname": clean(target.module),
        "name": clean(target.qualname),
        "file": clean(target.path),
        "line": str(target.line),
        "time": f"{seconds:.3f}",
    }
    case = ET.SubElement(suite, "testcase", attributes)
    known = ["cached"] * report.cached
    known += [f"surrogate, {clean(text)}" for text in [bias_note(report)] if text]
    known += [f"advice: {line}" for finding in advice(report) for line in _lines(finding, report)[:1]]
    if report.verdict is Verdict.PASS:
        _system_out(case, known)
        return
    findings = decisive_findings(report)
    first = findings[0]
    element = ET.SubElement(
        case,
        _ELEMENTS[report.verdict],
        {
            "message": clean(f"{first.code} {one_line(first.message)}".strip()),
            "type": first.code or report.verdict.value,
        },
    )
    if report.verdict is Verdict.UNDECIDED:
        element.set("type", "undecided")
    element.text = "\n".join(line for finding in findings for line in _lines(finding, report))
    _system_out(case, [*known, *(clean(line.expandtabs(4)) for line in report.output.splitlines())])


def _system_out(case: ET.Element, lines: Sequence[str]) -> None:
    if lines:
        ET.SubElement(case, "system-out").text = "\n".join(lines)


def _lines(finding: Finding, report: TargetReport) -> list[str]:
    lines = [f"{location_text(finding, report.target)}: {finding.code} {one_line(finding.message)}"]
    lines += [f"case {clean(finding.case)}"] if finding.case else []
    lines += [resolution_text(finding.resolution)] if finding.resolution is not None else []
    lines += [f"help: {one_line(finding.help)}"] if finding.help else []
    lines += [f"rerun: {clean(finding.reproduce)}"] if finding.reproduce else []
    return lines
