"""What of a report does a user get to see, and under which paths?

Inside, paths start at a project's root; outside, at the working directory, from which they can be opened.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from gradhook.config import Config, Settings
from gradhook.config.settings import BY_KEY
from gradhook.model import Finding, Notice, Report, Target, TargetReport, Verdict

if TYPE_CHECKING:
    from gradhook.session import Project

UNCLAIMED = "GRD501"
_REPEATED = ("order", "modes", "atol", "rtol", "seed", "timeout", "python", "platform", "self_test")


def _said(value: Any) -> list[str]:
    """What follows an option on the command line: nothing after a switch."""
    if isinstance(value, bool):
        return []
    return [",".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)]


def named(projects: Sequence[Project], name: str) -> tuple[Project, ...]:
    """The projects with only those targets whose name contains ``name``."""
    return tuple(project.only(lambda target: name in target.name) for project in projects)


def seen(report: Report, projects: Sequence[Project], here: Path, name: str = "") -> Report:
    """The report as it is shown: targets with ``name`` in theirs, notices that were asked for, paths from ``here``."""
    configs = {str(project.config.root): project.config for project in projects}
    targets = (t for t in report.targets if name in t.target.name)
    return replace(
        report,
        targets=tuple(_target_report(t, configs.get(t.target.root), here) for t in targets),
        notices=tuple(notice for project in projects for notice in notices(project, here)),
    )


def notices(project: Project, here: Path) -> Iterator[Notice]:
    """The notices of a project that its settings ask for, their paths as seen from ``here``."""
    for notice in asked(project):
        yield replace(notice, path=path_from(here, notice.path, str(project.config.root)))


def asked(project: Project) -> tuple[Notice, ...]:
    """The notices of a project that its settings ask for."""
    settings = project.config.settings
    unwanted = UNCLAIMED if settings.unclaimed == "ignore" else None
    return tuple(n for n in project.scan.notices if n.code != unwanted and _is_asked(n.code, settings))


def target_from(here: Path, target: Target) -> Target:
    """The target, its path as seen from ``here``."""
    return replace(target, path=path_from(here, target.path, target.root))


def path_from(here: Path, path: str, root: str) -> str:
    """A path below ``root`` as seen from ``here``; an absolute one stays, unless it is below ``here``."""
    whole = Path(root, path)
    if whole.is_relative_to(here) or not PurePath(path).is_absolute():
        return PurePath(os.path.relpath(whole, here)).as_posix()
    return path


def rebased(report: Report, here: Path, root: Path) -> Report:
    """The report with its paths, which start at ``here``, as seen from ``root``; what is not below it is absolute."""

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
    """The root of the repository around ``here``: git's, else the workspace of GitHub's runner, else ``here``."""
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder
    workspace = Path(environ.get("GITHUB_WORKSPACE") or here)
    return workspace if here.is_relative_to(workspace) else here


def _is_asked(code: str, settings: Settings) -> bool:
    wanted = not settings.select or code.startswith(settings.select)
    return wanted and not code.startswith(settings.ignore)


def _target_report(report: TargetReport, config: Config | None, here: Path) -> TargetReport:
    target = target_from(here, report.target)
    again = _again(target, config)
    findings = tuple(_finding(finding, target.root, again, here) for finding in report.findings)
    return replace(report, target=target, findings=findings)


def _finding(finding: Finding, root: str, again: str, here: Path) -> Finding:
    path = None if finding.path is None else path_from(here, finding.path, root)
    repeats = finding.reproduce or finding.verdict in (Verdict.FAIL, Verdict.UNDECIDED)
    return replace(finding, path=path, reproduce=again if repeats else None)


def _again(target: Target, config: Config | None) -> str:
    """The command that asks about this target alone, with what was said of the numbers outside of files."""
    words = ["gradhook", "check", target.path, "-k", target.name]
    for key in _REPEATED if config else ():
        if config is not None and config.origins[key] not in ("default", "pyproject.toml"):
            value = getattr(config.settings, key)
            words += [BY_KEY[key].flag, *_said(value)]
    return shlex.join(words)
