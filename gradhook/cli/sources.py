"""The lines of source code that are quoted below findings."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from gradhook.model.report import Report
from gradhook.reporters.display_options import SourceLines
from gradhook.reporters.formatting import decisive_findings, location

_LONGEST = 10**6
"""Lines of a file that are looked at."""
_DECORATOR_SPAN = 50
"""Lines after a decorator in which its function must begin."""


def source_lines(report: Report) -> SourceLines:
    """``13 | def huber(x, delta):`` for every place of a finding; files that cannot be read have none."""
    wanted: dict[str, set[int]] = {}
    for path, line in (location(finding, t.target) for t in report.targets for finding in decisive_findings(t)):
        if line:
            wanted.setdefault(path, set()).add(line)
    return {(path, n): text for path, lines in wanted.items() for n, text in _read(path, lines).items()}


def _read(path: str, wanted: set[int]) -> dict[int, str]:
    try:
        if not Path(path).is_file():  # a pipe or a device would keep us waiting
            return {}
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in islice(file, min(max(wanted) + _DECORATOR_SPAN, _LONGEST))]
    except (OSError, ValueError):
        return {}
    shown = {n: _behind_decorators(lines, n) for n in wanted if n <= len(lines) and lines[n - 1]}
    return {n: f"{line} | {lines[line - 1]}" for n, line in shown.items()}


def _behind_decorators(lines: list[str], line: int) -> int:
    """The line of the ``def`` that a decorator on ``line`` belongs to; any other line itself."""
    if not lines[line - 1].startswith("@"):
        return line
    beginnings = ("def ", "async def ", "class ")
    return next((n for n, text in enumerate(lines[line:], line + 1) if text.startswith(beginnings)), line)
