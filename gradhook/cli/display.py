"""A report as it is shown: selected targets, paths that can be opened, source lines, weakened claims.

Inside, paths start at a project's root; outside, at the working directory, from which they can be opened.
"""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from gradhook.config import Config
from gradhook.config.settings import BY_KEY
from gradhook.model.errors import GradhookError
from gradhook.model.report import Change, Ignored, Notice, Report
from gradhook.model.results import Finding, Target, TargetReport, Verdict
from gradhook.reporters.display_options import SourceLines
from gradhook.reporters.formatting import decisive_findings, location

if TYPE_CHECKING:
    from gradhook.execution.session import Project


HasPath = TypeVar("HasPath", Notice, Ignored)
_REPRODUCED_SETTINGS = ("order", "modes", "atol", "rtol", "seed", "timeout", "python", "platform", "self_test")


def _option_words(value: Any) -> list[str]:
    """What follows an option on the command line: nothing after a switch."""
    if isinstance(value, bool):
        return []
    return [",".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)]


def filter_by_name(projects: Sequence[Project], names: Sequence[str]) -> tuple[Project, ...]:
    """The projects with only the targets whose name contains one of ``names``; all without names."""
    return tuple(project.only(lambda target: _matches(target.name, names)) for project in projects)


def select_by_name(projects: Sequence[Project], names: Sequence[str]) -> tuple[Project, ...]:
    """As ``named``, where every one of the names has to be some target's.

    Raises:
        GradhookError: one of the names is in no target's name, though there are targets.
    """
    known = [target.name for project in projects for target in project.targets]
    for name in names if known else ():
        if not any(name in one for one in known):
            near = difflib.get_close_matches(name, [*known, *(one.partition(":")[2] for one in known)], 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise GradhookError(f"no target has {name!r} in its name", f"{hint}`gradhook list` shows the names")
    return filter_by_name(projects, names)


def _matches(name: str, parts: Sequence[str]) -> bool:
    return not parts or any(part in name for part in parts)


def displayed(report: Report, projects: Sequence[Project], here: Path, names: Sequence[str] = ()) -> Report:
    """The report with the targets of ``names``, paths as seen from ``here``, and commands to repeat."""
    configs = {str(project.config.root): project.config for project in projects}
    targets = (t for t in report.targets if _matches(t.target.name, names))
    return replace(
        report,
        targets=tuple(_target_report(t, configs.get(t.target.root), here) for t in targets),
        notices=tuple(_with_path_from(here, notice) for notice in report.notices),
        ignored=tuple(
            _with_path_from(here, item) for item in report.ignored if _matches(item.target, names) or not item.target
        ),
    )


def scan_notices(project: Project, here: Path) -> Iterator[Notice]:
    """The notices that a project has without any check, their paths as seen from ``here``."""
    from gradhook.projects.suppressions import (
        early_notices,  # it brings the scan, which `gradhook --help` does not need
    )

    yield from (_with_path_from(here, notice) for notice in early_notices(project.config, project.scan))


def target_from(here: Path, target: Target) -> Target:
    """The target, its path as seen from ``here``."""
    return replace(target, path=path_from(here, target.path, target.root))


def path_from(here: Path, path: str, root: str) -> str:
    """A path below ``root`` as seen from ``here``; an absolute one stays, unless it is below ``here``."""
    whole = Path(root, path)
    if whole.is_relative_to(here) or not PurePath(path).is_absolute():
        return PurePath(os.path.relpath(whole, here)).as_posix()
    return path


def _with_path_from(here: Path, item: HasPath) -> HasPath:
    """A notice, or what was ignored, its path as seen from ``here``."""
    return replace(item, path=path_from(here, item.path, item.root))


def rebased(report: Report, here: Path, root: Path) -> Report:
    """The report with its paths, which start at ``here``, as seen from ``root``; others are absolute."""

    def moved(path: str) -> str:
        whole = Path(os.path.normpath(here / path))
        return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()

    def finding(found: Finding) -> Finding:
        return replace(found, path=moved(found.path)) if found.path else found

    targets = tuple(
        replace(t, target=replace(t.target, path=moved(t.target.path)), findings=tuple(map(finding, t.findings)))
        for t in report.targets
    )
    return replace(report, targets=targets, notices=tuple(replace(n, path=moved(n.path)) for n in report.notices))


def repository(here: Path, environ: Mapping[str, str]) -> Path:
    """The root of the repository around ``here``: git's, else GitHub's workspace, else ``here``."""
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder
    workspace = Path(environ.get("GITHUB_WORKSPACE") or here)
    return workspace if here.is_relative_to(workspace) else here


def _target_report(report: TargetReport, config: Config | None, here: Path) -> TargetReport:
    target = target_from(here, report.target)
    again = _reproduce_command(target, config)
    findings = tuple(_finding(finding, target.root, again, here) for finding in report.findings)
    return replace(report, target=target, findings=findings)


def _finding(finding: Finding, root: str, again: str, here: Path) -> Finding:
    path = None if finding.path is None else path_from(here, finding.path, root)
    repeats = finding.reproduce or finding.verdict in (Verdict.FAIL, Verdict.UNDECIDED)
    return replace(finding, path=path, reproduce=again if repeats else None)


def _reproduce_command(target: Target, config: Config | None) -> str:
    """The command that checks this target alone, with the numeric settings that come from no file."""
    words = ["gradhook", "check", target.path, "-k", target.name]
    source = config.source if config else None
    words += ["--isolated"] if source and source.isolated else []
    words += ["--config", str(source.path)] if source and source.path else []
    for key in _REPRODUCED_SETTINGS if config else ():
        if config is not None and not config.is_default_or_from_file(key):
            value = getattr(config.settings, key)
            words += [BY_KEY[key].flag, *_option_words(value)]
    return shlex.join(words)


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


CODE = "GRD505"


def with_weakened_claims(report: Report, projects: Sequence[Project], ref: str) -> Report:
    """The report with the changes since ``ref``, each of them a notice too, unless settings ignore them.

    No comment silences them: it would stand in the very change that is to be reported.

    Raises:
        GradhookError: git has no ``ref``, or its files cannot be read.
    """
    if not any(_is_selected(project) for project in projects):
        return report
    from gradhook.projects.baseline import compare

    changes = compare(ref, Path.cwd())
    notices = (Notice(CODE, change.path, change.line, describe(change, ref)) for change in changes)
    named = {"against": {"value": ref, "origin": "--against"}}
    return replace(report, against=changes, notices=(*report.notices, *notices), settings={**report.settings, **named})


def describe(change: Change, ref: str) -> str:
    """``pkg.mod:f: rtol weakened since main, 1e-06 before, 0.01 now``."""
    values = f"{change.before or 'nothing'} before, {change.after or 'nothing'} now"
    return f"{change.subject}: {change.what} {change.kind} since {ref}, {values}"


def _is_selected(project: Project) -> bool:
    settings = project.config.settings
    chosen = not settings.select or CODE.startswith(settings.select)
    return settings.weakened != "ignore" and chosen and not CODE.startswith(settings.ignore or ("-",))
