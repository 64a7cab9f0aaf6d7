"""Read a JSON report; options of targets and findings of single outcomes are lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradhook.model.protocol import from_json, parse, to_json
from gradhook.model.report import Change, Ignored, Notice, Report
from gradhook.model.results import (
    ClaimKind,
    Finding,
    LeafResolution,
    Outcome,
    Seconds,
    Target,
    TargetReport,
    Verdict,
    worst,
)
from gradhook.model.trace import Curve, Jacobian, Staircase
from gradhook.reporters.json_report import SCHEMA

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMBERS = frozenset({"claimed", "measured", "error", "tolerance", "resolution"})


def read_report(text: str) -> tuple[Report, int]:
    """The report, and the exit code that its command ended with.

    Raises:
        ValueError: the text is no JSON report of this version; the error has the reason.
    """
    try:
        document = parse(text)
        if document["schema"] != SCHEMA:
            raise ValueError(f"it has schema {document['schema']}, not {SCHEMA}")
        report = Report(
            tuple(map(_target, document["targets"])),
            tuple(Notice(n["code"], n["path"], n["line"], n["message"]) for n in document["notices"]),
            dict(document["environment"]),
            dict(document["settings"]),
            float(document["seconds"]),
            tuple(map(_ignored, document.get("ignored", ()))),
            interrupted=bool(document.get("interrupted", False)),
            unanswered=tuple(map(str, document.get("unanswered", ()))),
            against=_changes(document.get("against")),
        )
        report = from_json(Report, to_json(report))  # every field is of its type, however deep it lies
        code = document.get("exit_code")
        code = _code_of(report.verdict) if code is None else from_json(int, code)
        _require_consistency(report, document, code)
        return report, code
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"it is no report of gradhook ({type(error).__name__}: {error})") from error


def _require_consistency(report: Report, document: Mapping[str, Any], code: int) -> None:
    """Raise ValueError where verdicts, counts and exit code contradict each other: the file was edited."""
    counts = {verdict.value: count for verdict, count in report.counts.items()}
    milder = [t.target.name for t in report.targets if worst([t.verdict, *_finding_verdicts(t)]) != t.verdict]
    if milder or document["verdict"] != report.verdict or document["counts"] != counts:
        raise ValueError(f"its verdicts contradict each other{f' ({milder[0]})' if milder else ''}")
    if not all(isinstance(setting, dict) for setting in report.settings.values()):
        raise ValueError("its settings are no table")
    if code not in (0, 1, 2, 130) or code < _lowest_exit_code(report):
        raise ValueError(f"its exit code {code} contradicts its verdict {report.verdict}")


def _finding_verdicts(target: TargetReport) -> list[Verdict]:
    """The verdicts of findings; advice makes no target better or worse."""
    return [finding.verdict for finding in target.findings if finding.verdict is not Verdict.ADVICE]


def _lowest_exit_code(report: Report) -> int:
    """The mildest exit code that such a report can have."""
    projects = report.settings.get("projects", {})
    everywhere = [report.settings, *(p for p in projects.values() if isinstance(p, dict))]
    lenient = any(_is(settings, "exit_zero", True) for settings in everywhere)
    forgiving = lenient or any(_is(settings, "undecided", "warn") for settings in everywhere)
    return {Verdict.ERROR: 2, Verdict.FAIL: 0 if lenient else 1, Verdict.UNDECIDED: 0 if forgiving else 1}.get(
        report.verdict, 0
    )


def _is(settings: Mapping[str, Any], key: str, value: object) -> bool:
    setting = settings.get(key)
    return isinstance(setting, dict) and setting.get("value") == value


def _code_of(verdict: Verdict) -> int:
    return {Verdict.ERROR: 2, Verdict.FAIL: 1, Verdict.UNDECIDED: 1}.get(verdict, 0)


def _target(item: Mapping[str, Any]) -> TargetReport:
    module, _, qualname = item["target"].partition(":")
    claim, line = ClaimKind(item["claim"]), int(item["line"])
    return TargetReport(
        Target(module, qualname, item["path"], line, line, claim, "", source=item["source"]),
        Verdict(item["verdict"]),
        tuple(map(_outcome, item["outcomes"])),
        tuple(map(_finding, item["findings"])),
        _number(item["resolution"]),
        _seconds(item),
        bool(item["cached"]),
        str(item["output"]),
    )


def _seconds(item: Mapping[str, Any]) -> Seconds:
    """Seconds; what a report of an earlier gradhook lacks is 0."""
    given = item["seconds"]
    wall, compilations = float(given.get("wall", 0.0)), int(item.get("compilations", 0))
    return Seconds(float(given["compile"]), float(given["run"]), wall, compilations)


def _finding(item: Mapping[str, Any]) -> Finding:
    known = {name: item[name] for name in Finding.__dataclass_fields__ if name in item}
    known |= {name: _number(item.get(name)) for name in _NUMBERS}
    known["verdict"] = Verdict(item["verdict"])
    known["curve"] = _curve(item.get("curve"))
    known["index"] = None if item.get("index") is None else tuple(item["index"])
    return Finding(**known)


def _outcome(item: Mapping[str, Any]) -> Outcome:
    return Outcome(
        item["code"], Verdict(item["verdict"]), item["case"], resolution=_number(item["resolution"]), note=item["note"],
        curve=_curve(item.get("curve")), jacobian=_jacobian(item.get("jacobian")),
        staircases=tuple(map(_staircase, item.get("staircases") or ())),
        leaves=tuple(map(_resolved, item.get("leaves") or ())),
    )  # fmt: skip


def _curve(item: Mapping[str, Any] | None) -> Curve | None:
    if item is None:
        return None
    claimed, measured, error = (_float(item[name]) for name in ("claimed", "measured", "error"))
    rows = [_numbers(item[name]) for name in ("steps", "central", "noise", "left", "right")]
    _require_equal_lengths(rows[:3] + [row for row in rows[3:] if row])
    _require_equal_lengths(rows[3:])
    return Curve(str(item["of"]), str(item["mode"]), claimed, measured, error, str(item["shape"]), *rows)


def _jacobian(item: Mapping[str, Any] | None) -> Jacobian | None:
    if item is None:
        return None
    tables = [tuple(map(_numbers, item[name])) for name in ("claimed", "measured")]
    _require_equal_lengths([*tables, item["inputs"]])
    _require_equal_lengths([item["outputs"], *(row for table in tables for row in table)])
    return Jacobian(item["mode"], tuple(map(str, item["inputs"])), tuple(map(str, item["outputs"])), *tables)


def _resolved(item: Mapping[str, Any]) -> LeafResolution:
    return LeafResolution(str(item["leaf"]), _float(item["resolution"]), str(item["witness"]))


def _staircase(item: Mapping[str, Any]) -> Staircase:
    rows = [_numbers(item[name]) for name in ("at", "value", "slope")]
    _require_equal_lengths(rows)
    return Staircase(item["input"], item["output"], *rows)


def _require_equal_lengths(rows: Sequence[Sequence[Any]]) -> None:
    """Raises ValueError for numbers of a picture of which some are missing."""
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the numbers of a picture do not belong together")


def _numbers(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(map(_float, values))


def _float(value: Any) -> float:
    return _NON_FINITE[value] if isinstance(value, str) else float(value)


def _changes(items: Any) -> tuple[Change, ...] | None:
    names = Change.__dataclass_fields__
    return None if items is None else tuple(Change(**{name: item[name] for name in names}) for item in items)


def _ignored(item: Mapping[str, Any]) -> Ignored:
    verdict = None if item["verdict"] is None else Verdict(item["verdict"])
    known = {name: item[name] for name in ("code", "by", "path", "line", "message", "target", "case")}
    return Ignored(**known, verdict=verdict)


def _number(value: Any) -> float | None:
    return None if value is None else _float(value)
