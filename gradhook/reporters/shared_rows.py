"""Rows that several formats share: boundaries of a surrogate, weakened claims, versions and settings.

The rows come from the note of GRD207: ``left | on | right of each boundary: x = 0.5: value 0 | 0 | 1, derivative
1 | 1 | 1, closed``, several with ``; `` between. What does not look like that is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gradhook.model.report import Change, Notice, Report
from gradhook.model.results import Outcome, TargetReport
from gradhook.reporters.formatting import clean, one_line
from gradhook.reporters.markdown import TEXT, code, row, table_head

_CODE = "GRD207"
_TITLE = "left | on | right of each boundary: "
_THREE = r"([^|,\s]+) \| ([^|,\s]+) \| ([^|,\s]+)"
_ROW = re.compile(rf"(.+): value {_THREE}, derivative {_THREE}(?:, (\w+))?")
_SIDES = ("left", "on", "right")
NAMES = ("at", *(f"value {s}" for s in _SIDES), *(f"derivative {s}" for s in _SIDES), "bound")
HEAD = table_head(("surrogate", *NAMES))


def boundary_rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    """The cells of ``NAMES`` for each boundary of one case."""
    if outcome.code == _CODE and outcome.note:
        for line in outcome.note.removeprefix(_TITLE).split("; "):
            found = _ROW.fullmatch(line)
            yield tuple(part or "" for part in found.groups()) if found else (line, *[""] * (len(NAMES) - 1))


def boundary_markdown(report: TargetReport) -> str:
    """The rows of all cases of a target; empty for a target without GRD207."""
    return "".join(_rows(report))


def _rows(report: TargetReport) -> Iterator[str]:
    for outcome in report.outcomes:
        case = f"<br>case {code(outcome.case)}" if outcome.case else ""
        for cells in boundary_rows(outcome):
            yield row((f"{code(report.target.name)}{case}", *(code(cell, TEXT) for cell in cells)))


CODE = "GRD505"
COLUMNS = ("kind", "what", "option", "before", "now", "place")
_NOTHING = "nothing"
_LONGEST = 60
_ORDER = ("removed", "weakened", "changed")


def rows(report: Report) -> Iterator[tuple[str, ...]]:
    """One row for each change in the columns of ``COLUMNS``, the gravest first; long texts are cut."""
    for change in sorted(report.against or (), key=lambda c: _ORDER.index(c.kind) if c.kind in _ORDER else 9):
        yield tuple(map(_short, _cells(change)))


def revision(report: Report) -> str:
    """What was compared with."""
    setting = report.settings.get("against")
    return clean(str(setting.get("value"))) if isinstance(setting, dict) else "another revision"


def other_notices(report: Report) -> tuple[Notice, ...]:
    """The notices that are no row of this table."""
    return tuple(n for n in report.notices if n.code != CODE or not report.against)


def _cells(change: Change) -> tuple[str, ...]:
    return (
        change.kind,
        change.subject,
        change.what,
        change.before or _NOTHING,
        change.after or _NOTHING,
        f"{change.path}:{change.line}",
    )


def _short(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_PACKAGES = {"gradhook": "gradhook", "python": "Python", "jax": "jax", "jaxlib": "jaxlib", "numpy": "numpy"}

_MOST = 20  # variables


def environment_parts(report: Report) -> list[str]:
    """Versions and numeric settings: ``gradhook 0.1.0``, ``jax 0.10.2``, …, ``cpu``, ``seed 0``."""
    return [*_versions(report.environment), *_numeric_settings(report.settings, report.environment)]


def environment_table(report: Report) -> Iterator[tuple[str, str]]:
    """Names and values of everything that may explain a different result on another machine."""
    found = report.environment
    if found.get("other_gradhook"):
        yield "gradhook in the project", f"{found['other_gradhook']}, which is not used"
    for key, name in {**_PACKAGES, "system": "OS", "interpreter": "interpreter"}.items():
        if found.get(key):
            yield name, str(found[key])
    if found.get("device") or found.get("platform"):
        yield "device", f"{found.get('device') or found['platform']}, {found.get('devices', 1)} of them"
    if "x64" in found:
        yield "precision", "float64" if found["x64"] else "float32 only"
    for key, name in {"matmul_precision": "matmul precision", "steps": "steps", "commit": "commit"}.items():
        if found.get(key):
            yield name, str(found[key])
    yield from ((str(name), str(value)) for name, value in list(_mapping(found.get("variables")).items())[:_MOST])
    yield from _settings(report.settings)
    if found or report.targets:
        compiled = sum(target.seconds.compile for target in report.targets)
        yield "time", f"{report.seconds:.1f} s in all, {compiled:.1f} s of compilation"


def _settings(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The numeric settings, and all others that are no defaults, with their origins."""
    for key, setting in settings.items():
        if key == "projects":
            yield "projects", f"{len(setting)}, of which this is the first with targets; the JSON report has each"
            continue
        origin = setting.get("origin", "default") if isinstance(setting, Mapping) else "default"
        if key in ("rtol", "atol", "seed") or origin != "default":
            value = _value(setting)
            shown = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            yield key.replace("_", "-"), f"{shown} ({origin})"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _versions(environment: Mapping[str, Any]) -> Iterator[str]:
    for key, name in _PACKAGES.items():
        if environment.get(key):
            yield f"{name} {environment[key]}"
    if environment.get("other_gradhook"):
        yield f"not gradhook {environment['other_gradhook']}, which the project has"
    device = environment.get("device") or environment.get("platform")
    if device:
        yield str(device)
    if "x64" in environment:
        yield "float64" if environment["x64"] else "float32 only"


def _numeric_settings(settings: Mapping[str, Any], environment: Mapping[str, Any]) -> Iterator[str]:
    for key in ("rtol", "atol"):
        if key in settings:
            value = _value(settings[key])
            yield f"{key} {value:g}" if isinstance(value, (int, float)) else f"{key} {value}"
    if environment.get("steps"):
        yield f"steps: {environment['steps']}"
    if "seed" in settings:
        yield f"seed {_value(settings['seed'])}"


def _value(setting: Any) -> Any:
    """Settings come as ``{"value": …, "origin": …}``."""
    return setting.get("value") if isinstance(setting, Mapping) else setting
