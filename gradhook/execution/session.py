"""Check projects and collect the results in one report; prints nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from gradhook import __version__
from gradhook.config import Config
from gradhook.model.report import ProjectResult, Report
from gradhook.model.results import LEFT_OUT
from gradhook.projects.discovery import Project as Project
from gradhook.projects.discovery import find as find
from gradhook.projects.suppressions import FilteredReport, apply_suppressions

if TYPE_CHECKING:
    from gradhook.execution.runner import Progress


def check(
    projects: Sequence[Project],
    *,
    progress: Progress | None = None,
    times: Mapping[str, float] | None = None,
    account: bool = False,
) -> Report:
    """Check all targets of the projects; without targets, no interpreter is sought or JAX loaded.

    Recorded ``times`` (seconds by target) balance the work. After Ctrl-C the report has what was answered by then.
    With ``account`` the reports have a trace of each case.

    Raises:
        GradhookError: a project has no interpreter with JAX, or its workers cannot run.
    """
    start = time.monotonic()
    results: list[ProjectResult] = []
    for project in projects:
        interrupted = any(result.interrupted for result in results)
        if interrupted or not project.targets:
            results.append(ProjectResult(environment={"gradhook": __version__}, interrupted=interrupted))
        else:
            from gradhook.execution import runner  # starts workers, reads the cache: slow, not needed without targets

            options = runner.RunOptions(start=start, progress=progress, times=times or {}, account=account)
            results.append(runner.run(project, options))
    filtered = [_filtered(project, result) for project, result in zip(projects, results, strict=True)]
    return Report(
        targets=tuple(report for one in filtered for report in one.targets),
        notices=tuple(notice for one in filtered for notice in one.notices),
        ignored=tuple(item for one in filtered for item in one.ignored),
        environment=_joined(projects, [result.environment for result in results]),
        settings=_joined(projects, [_settings(project.config) for project in projects]),
        seconds=time.monotonic() - start,
        interrupted=any(result.interrupted for result in results),
        unanswered=tuple(name for pair in zip(projects, results, strict=True) for name in _unanswered(*pair)),
    )


def _unanswered(project: Project, result: ProjectResult) -> list[str]:
    """The names of the targets without a report because an interrupt ended the run."""
    answered = {report.target for report in result.reports}
    return [target.name for target in project.targets if result.interrupted and target not in answered]


def _filtered(project: Project, result: ProjectResult) -> FilteredReport:
    """The result of a project without what its comments, annotations and settings ignore."""
    left_out = any(finding.code == LEFT_OUT for report in result.reports for finding in report.findings)
    whole = project.whole and not (project.left_out or result.interrupted or left_out)
    return apply_suppressions(project.config, project.scan, result.reports, whole=whole)


def _settings(config: Config) -> dict[str, Any]:
    """Each setting's value and its origin."""
    names = [f.name for f in fields(config.settings)]
    return {name: {"value": getattr(config.settings, name), **config.origin(name)} for name in names}


def _joined(projects: Sequence[Project], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The part of the first project with targets; with several projects, also one part per root."""
    if len(parts) < 2:
        return dict(parts[0]) if parts else {}
    first = next((part for project, part in zip(projects, parts, strict=True) if project.targets), parts[0])
    each = {str(project.config.root): part for project, part in zip(projects, parts, strict=True)}
    return {**first, "projects": each}
