"""The JSON report; ``docs/report.schema.json`` describes it, ``SCHEMA`` is its version."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from gradhook.model.protocol import to_json
from gradhook.model.report import Ignored, Notice, Report
from gradhook.model.results import Finding, Outcome, TargetReport

SCHEMA = 2


def render(report: Report, exit_code: int | None = None) -> str:
    """One JSON object; nan and infinities are the strings ``"nan"``, ``"inf"`` and ``"-inf"``."""
    document = {
        "schema": SCHEMA,
        "verdict": report.verdict,
        "exit_code": exit_code,
        "counts": report.counts,
        "environment": report.environment,
        "settings": report.settings,
        "seconds": report.seconds,
        "targets": [_target(target) for target in report.targets],
        "notices": [_notice(notice) for notice in report.notices],
        "ignored": [_ignored(item) for item in report.ignored],
        "interrupted": report.interrupted,
        "unanswered": report.unanswered,
        "against": None if report.against is None else [asdict(change) for change in report.against],
    }
    return json.dumps(to_json(document), indent=2, allow_nan=False) + "\n"


def _target(report: TargetReport) -> dict[str, Any]:
    return {
        "target": report.target.name,
        "path": report.target.path,
        "line": report.target.line,
        "claim": report.target.claim,
        "source": report.target.source,
        "verdict": report.verdict,
        "cached": report.cached,
        "resolution": report.resolution,
        "seconds": {name: getattr(report.seconds, name) for name in ("compile", "run", "wall")},
        "compilations": report.seconds.compilations,
        "findings": [_finding(finding, report) for finding in report.findings],
        "outcomes": [_outcome(outcome) for outcome in report.outcomes],
        "output": report.output,
    }


def _finding(finding: Finding, report: TargetReport) -> dict[str, Any]:
    """Every field of the record; a finding without a place of its own stands at its target."""
    fields = {name: getattr(finding, name) for name in Finding.__dataclass_fields__}
    if finding.path is None:
        fields |= {"path": report.target.path, "line": report.target.line}
    return fields


def _outcome(outcome: Outcome) -> dict[str, Any]:
    names = ("code", "verdict", "case", "resolution", "note", "curve", "jacobian", "staircases", "leaves")
    return {name: getattr(outcome, name) for name in names}


def _notice(notice: Notice) -> dict[str, Any]:
    return {"code": notice.code, "path": notice.path, "line": notice.line, "message": notice.message}


def _ignored(item: Ignored) -> dict[str, Any]:
    names = ("code", "by", "target", "verdict", "case", "path", "line", "message")
    return {name: getattr(item, name) for name in names}
