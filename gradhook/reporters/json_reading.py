"""Which report does a JSON report hold? What reading loses: the options of targets, and findings of single outcomes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradhook.model import (
    Change,
    ClaimKind,
    Finding,
    Ignored,
    Notice,
    Outcome,
    Report,
    Seconds,
    Target,
    TargetReport,
    Verdict,
)
from gradhook.pictures import Curve, Jacobian, Staircase
from gradhook.reporters.json_report import SCHEMA

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMBERS = frozenset({"claimed", "measured", "error", "tolerance", "resolution"})


def read(text: str) -> tuple[Report, int]:
    """The report and the exit code that its command ended with.

    Raises:
        ValueError: the text is no JSON report of this version; the error says why.
    """
    try:
        document = json.loads(text)
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
        code = document.get("exit_code")
        return report, _code_of(report.verdict) if code is None else int(code)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no report of gradhook ({type(error).__name__}: {error})") from error


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
    """What a report of an earlier gradhook did not tell is 0."""
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
    )  # fmt: skip


def _curve(item: Mapping[str, Any] | None) -> Curve | None:
    if item is None:
        return None
    claimed, measured, error = (_known(item[name]) for name in ("claimed", "measured", "error"))
    rows = (_numbers(item[name]) for name in ("steps", "central", "noise", "left", "right"))
    return Curve(str(item["of"]), str(item["mode"]), claimed, measured, error, str(item["shape"]), *rows)


def _jacobian(item: Mapping[str, Any] | None) -> Jacobian | None:
    if item is None:
        return None
    tables = (tuple(map(_numbers, item[name])) for name in ("claimed", "measured"))
    return Jacobian(item["mode"], tuple(map(str, item["inputs"])), tuple(map(str, item["outputs"])), *tables)


def _staircase(item: Mapping[str, Any]) -> Staircase:
    return Staircase(item["input"], item["output"], *(_numbers(item[name]) for name in ("at", "value", "slope")))


def _numbers(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(map(_known, values))


def _known(value: Any) -> float:
    return _NON_FINITE[value] if isinstance(value, str) else float(value)


def _changes(items: Any) -> tuple[Change, ...] | None:
    names = Change.__dataclass_fields__
    return None if items is None else tuple(Change(**{name: item[name] for name in names}) for item in items)


def _ignored(item: Mapping[str, Any]) -> Ignored:
    verdict = None if item["verdict"] is None else Verdict(item["verdict"])
    known = {name: item[name] for name in ("code", "by", "path", "line", "message", "target", "case")}
    return Ignored(**known, verdict=verdict)


def _number(value: Any) -> float | None:
    return None if value is None else _known(value)
