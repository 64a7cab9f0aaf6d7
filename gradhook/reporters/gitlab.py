"""GitLab's code quality report. Paths of the report start at the repository's root.

The format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. Of entries with one fingerprint
GitLab shows the first only, so that a second one with the same identity is numbered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from gradhook.model.report import Notice, Report
from gradhook.model.results import Finding, TargetReport, Verdict
from gradhook.reporters.formatting import advice, clean, decisive_findings, location, one_line, worst_first

_SEVERITY = {
    Verdict.ERROR: "blocker", Verdict.FAIL: "critical", Verdict.UNDECIDED: "minor", Verdict.SKIP: "info",
    Verdict.ADVICE: "info",
}  # fmt: skip
_NO_CODE = "gradhook"


def render(report: Report) -> str:
    """A JSON array with an entry for each finding and notice, worst first."""
    seen: dict[str, int] = {}
    entries = [*_findings(report), *map(_notice, report.notices)]
    for entry in entries:
        identity = entry["fingerprint"]
        seen[identity] = seen.get(identity, 0) + 1
        entry["fingerprint"] = _digest(identity, seen[identity])
    return json.dumps(entries, indent=2) + "\n"


def _findings(report: Report) -> Iterator[dict[str, Any]]:
    for target in worst_first(report.targets):
        for finding in (*decisive_findings(target), *advice(target)):
            if finding.verdict in _SEVERITY:
                yield _finding(finding, target)


def _finding(finding: Finding, report: TargetReport) -> dict[str, Any]:
    """One finding; its line is no part of its identity, for code above it may grow and shrink."""
    path, line = location(finding, report.target)
    text = f"{report.target.name}: {one_line(finding.message)}" + (
        f" ({one_line(finding.help)})" if finding.help else ""
    )
    text += " (cached)" if report.cached else ""
    identity = (finding.code, report.target.name, finding.case, finding.mode, finding.leaf, finding.index)
    return _entry(finding.code or _NO_CODE, _SEVERITY[finding.verdict], clean(text), path, line, identity)


def _notice(notice: Notice) -> dict[str, Any]:
    identity = (notice.code, notice.path, notice.message)
    return _entry(notice.code, "minor", one_line(notice.message), notice.path, notice.line, identity)


def _entry(code: str, severity: str, text: str, path: str, line: int | None, identity: object) -> dict[str, Any]:
    return {
        "description": text or code,
        "check_name": code,
        "fingerprint": repr(identity),
        "severity": severity,
        "location": {"path": clean(path), "lines": {"begin": max(line or 1, 1)}},
    }


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()
