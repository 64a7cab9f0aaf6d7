"""From projects to a report: what came of the targets? Prints nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from gradhook import __version__
from gradhook.config import Config
from gradhook.model.report import Report
from gradhook.model.results import LEFT_OUT, TargetReport
from gradhook.projects.discovery import Project as Project
from gradhook.projects.discovery import find as find
from gradhook.projects.suppressions import Heard, hear

if TYPE_CHECKING:
    from gradhook.execution.runner import Progress


def check(
    projects: Sequence[Project],
    *,
    progress: Progress | None = None,
    times: Mapping[str, float] | None = None,
    account: bool = False,
) -> Report:
    """Check all targets of the projects; where there are none, no interpreter is looked for and no JAX loaded.

    Recorded ``times`` (seconds by target) balance the work. After Ctrl-C the report has what was answered by then.
    With ``account`` the reports tell how each case was examined.

    Raises:
        GradhookError: a project has no interpreter with JAX, or its workers cannot run.
    """
    start = time.monotonic()
    how = (start, progress, times or {}, account)
    runs: list[_Ran] = []
    for project in projects:
        stopped = any(ran.interrupted for ran in runs)
        runs.append(_Ran(interrupted=True) if stopped else _run(project, *how))
    heard = [_heard(project, ran) for project, ran in zip(projects, runs, strict=True)]
    return Report(
        targets=tuple(report for one in heard for report in one.targets),
        notices=tuple(notice for one in heard for notice in one.notices),
        ignored=tuple(item for one in heard for item in one.ignored),
        environment=_joined(projects, [ran.environment for ran in runs]),
        settings=_joined(projects, [_settings(project.config) for project in projects]),
        seconds=time.monotonic() - start,
        interrupted=any(ran.interrupted for ran in runs),
        unanswered=tuple(name for project, ran in zip(projects, runs, strict=True) for name in ran.left(project)),
    )


@dataclass(frozen=True)
class _Ran:
    """What came of one project: the reports, what they rest on, and whether something cut it short."""

    reports: tuple[TargetReport, ...] = ()
    environment: dict[str, Any] = field(default_factory=lambda: {"gradhook": __version__})
    interrupted: bool = False

    def left(self, project: Project) -> list[str]:
        """The names of the targets that have no report because something cut the run short."""
        answered = {report.target for report in self.reports}
        return [target.name for target in project.targets if self.interrupted and target not in answered]

    @property
    def is_whole(self) -> bool:
        """Whether every target was examined."""
        left_out = any(f.code == LEFT_OUT for report in self.reports for f in report.findings)
        return not (self.interrupted or left_out)


def _heard(project: Project, ran: _Ran) -> Heard:
    whole = project.whole and not project.left_out and ran.is_whole
    return hear(project.config, project.scan, ran.reports, whole=whole)


def _run(project: Project, *how: Any) -> _Ran:
    """The reports about one project and what they rest on."""
    if not project.targets:
        return _Ran()
    from gradhook.execution import (
        runner,  # what starts workers and reads the cache is loaded where there is something to check
    )

    return _Ran(*runner.run(project, runner.Way(*how)))


def _settings(config: Config) -> dict[str, Any]:
    """Each setting's value, and who said so."""
    names = [f.name for f in fields(config.settings)]
    return {name: {"value": getattr(config.settings, name), **config.origin(name)} for name in names}


def _joined(projects: Sequence[Project], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is said of the only project, or of the first with targets and, by root, of each."""
    if len(parts) < 2:
        return dict(parts[0]) if parts else {}
    first = next((part for project, part in zip(projects, parts, strict=True) if project.targets), parts[0])
    each = {str(project.config.root): part for project, part in zip(projects, parts, strict=True)}
    return {**first, "projects": each}
