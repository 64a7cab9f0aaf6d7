"""The SARIF 2.1.0 report, for GitHub's code scanning and other readers.

Paths of the report start at the repository's root. The format:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from gradhook.model.report import Notice, Report
from gradhook.model.results import Finding, TargetReport, Verdict
from gradhook.reporters.formatting import advice, decisive_findings, one_line, worst_first

MOST = 25_000
"""Results that GitHub takes; the worst come first."""
_LEVELS = {
    Verdict.FAIL: "error", Verdict.ERROR: "error", Verdict.UNDECIDED: "warning", Verdict.SKIP: "note",
    Verdict.ADVICE: "note",
}  # fmt: skip
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NO_CODE = "gradhook"


def render(report: Report) -> str:
    """One SARIF log with one run."""
    results = [*_findings(report), *map(_notice, report.notices)][:MOST]
    codes = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = codes.index(result["ruleId"])
    driver = {"name": "gradhook", "rules": [{"id": code} for code in codes]}
    if version := report.environment.get("gradhook"):
        driver["version"] = str(version)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": report.verdict is not Verdict.ERROR}],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _findings(report: Report) -> Iterator[dict[str, Any]]:
    for target in worst_first(report.targets):
        for finding in (*decisive_findings(target), *advice(target)):
            if finding.verdict in _LEVELS:
                yield _finding(finding, target)


def _finding(finding: Finding, report: TargetReport) -> dict[str, Any]:
    target = report.target
    path, line = (finding.path, finding.line) if finding.path else (target.path, target.line)
    text = f"{target.name}: {one_line(finding.message)}" + (f" ({one_line(finding.help)})" if finding.help else "")
    result = _result(finding.code or _NO_CODE, _LEVELS[finding.verdict], text, path, line)
    identity = (target.name, finding.case, finding.mode, finding.leaf, finding.index)
    result["partialFingerprints"] = {"gradhook/v1": _digest(finding.code, *identity)}
    if report.cached:
        result["properties"] = {"cached": True}
    if (target.path, target.line) != (path, line):
        result["relatedLocations"] = [{"id": 1, **_location(target.path, target.line)}]
    return result


def _notice(notice: Notice) -> dict[str, Any]:
    result = _result(notice.code, "warning", one_line(notice.message), notice.path, notice.line)
    result["partialFingerprints"] = {"gradhook/v1": _digest(notice.code, notice.path, notice.message)}
    return result


def _result(code: str, level: str, text: str, path: str, line: int | None) -> dict[str, Any]:
    return {"ruleId": code, "level": level, "message": {"text": text}, "locations": [_location(path, line)]}


def _location(path: str, line: int | None) -> dict[str, Any]:
    """A location relative to ``%SRCROOT%`` where it lies below it, percent-encoded."""
    uri = quote(path.encode("utf-8", "surrogateescape") if path else "unknown")
    place: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}}
    if PurePath(path).is_absolute():
        place = {"artifactLocation": {"uri": f"file://{uri}"}}
    if line:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()
