"""The loop of ``gradhook check --watch``: find changed files, and check what they affect.

Files are polled twice a second, more seldom where they are many: that needs no library, and works where the system
reports no change (network and container mounts).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from gradhook.cli.progress import progress
from gradhook.execution.cache.dependency_index import DependencyIndex, load_index, real_paths
from gradhook.execution.project_cache import open_project_cache
from gradhook.model.errors import GradhookError
from gradhook.model.report import Report
from gradhook.model.results import Target
from gradhook.reporters.formatting import clean
from gradhook.scan.files import list_folder
from gradhook.scan.imports import file_of, import_closure

if TYPE_CHECKING:
    from gradhook.execution.session import Project

FindProjects = Callable[[], "Sequence[Project]"]
ShowReport = Callable[[Report, "Sequence[Project]"], int]
Stamps = dict[str, tuple[int, int]]
_PAUSE = 0.5
_REST_FACTOR = 10
"""So many times as long as a look takes, until the next: ten thousand files take some tenths of a second."""
_SETTLED = 0.1
"""Seconds in which a file that is being saved must not change any more."""
_SETTINGS = ("pyproject.toml", "gradhook.toml")


def watch(find: FindProjects, show: ShowReport, quiet: bool) -> NoReturn:
    """Check all, then again what a change affects, until an interrupt.

    Raises:
        GradhookError: the targets cannot be found at the start; later such an error is only shown.
        KeyboardInterrupt: the way to end it.
    """
    projects, report = find(), None
    changed, data = frozenset[Path](), _data_files(projects)
    while True:
        seen = stamps(projects, data)
        try:
            projects = find()
            report, line = check_changes(projects, report, changed, quiet)
            click.clear()
            show(report, projects)
            changed = frozenset()
        except GradhookError as error:
            line = f"gradhook: {error.message}\n  help: {error.help}\nnot checked"
        data |= _data_files(projects)
        seen = {**stamps((), data), **seen}
        _print_status(line, len(seen))
        changed |= _next_change(projects, data, seen)


def check_changes(
    projects: Sequence[Project], before: Report | None, changed: Collection[Path], quiet: bool
) -> tuple[Report, str]:
    """A report about everything, of which only what ``changed`` affects is new; and a status line."""
    from gradhook.execution import session

    if any(path.name in _SETTINGS for path in changed):
        before = None
    again = [affected(project, changed) if before else project for project in projects]
    with progress(quiet, sum(len(project.targets) for project in again)) as show:
        new = session.check(again, progress=show)
    if new.interrupted:
        raise KeyboardInterrupt
    every, some = (sum(len(project.targets) for project in group) for group in (projects, again))
    line = f"checked {some} of {every} target{'s' * (every != 1)}"
    return (merge_reports(before, new, again, changed) if before else new), line


def affected(project: Project, changed: Collection[Path]) -> Project:
    """The project with only those targets that one of the files affects.

    By the imports in the source, and by the files that earlier runs opened (data, imports by computed names).
    """
    root = project.config.root
    reached, seen = import_closure(root), opened_files(project)
    real_changed = frozenset(real_paths(map(str, changed)))

    def is_affected(target: Target) -> bool:
        if seen.has(target) and seen.is_affected(target, real_changed):
            return True
        path = file_of(target.module, root) if target.source == "config" else root / target.path
        return path is None or not reached(path).isdisjoint(changed)

    return project.only(is_affected)


def opened_files(project: Project) -> DependencyIndex:
    """What the targets of a project opened when they were last examined; nothing where there is no cache."""
    store = open_project_cache(project.config, os.environ).store
    return load_index(store) if store else DependencyIndex({})


def merge_reports(before: Report, new: Report, again: Sequence[Project], changed: Collection[Path]) -> Report:
    """The new reports, and the old ones of unchanged files that were not checked again."""
    asked = {target for project in again for target in project.targets} | {t.target for t in new.targets}
    kept = [t for t in before.targets if t.target not in asked and Path(t.target.root, t.target.path) not in changed]
    targets = sorted([*kept, *new.targets], key=lambda t: (t.target.root, t.target.path, t.target.line, t.target.mark))
    environment = new.environment if any(project.targets for project in again) else before.environment
    names = {report.target.name for report in kept}
    ignored = (*(item for item in before.ignored if item.target in names), *new.ignored)
    return replace(new, targets=tuple(targets), environment=environment, ignored=ignored)


def stamps(projects: Sequence[Project], data: Collection[Path] = ()) -> Stamps:
    """When each file that could matter was last changed, and how long it is."""
    found: Stamps = {}
    roots = {str(project.config.root) for project in projects}
    listed = (f"{root}/{name}" for root in roots for name in (*list_folder(Path(root)).files, *_SETTINGS))
    for path in {*map(str, data), *listed}:
        try:
            status = os.stat(path)  # noqa: PTH116  # ten thousand Path objects take their time
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


def _data_files(projects: Sequence[Project]) -> frozenset[Path]:
    """The files that targets opened and that are no Python."""
    used = {path for project in projects for files, _ in opened_files(project).files.values() for path in files}
    return frozenset(Path(path) for path in used if not path.endswith(".py"))


def _next_change(projects: Sequence[Project], data: Collection[Path], seen: Stamps) -> frozenset[Path]:
    """Wait until files differ from what was seen, and stay as they are."""
    start = time.monotonic()
    while (now := stamps(projects, data)) == seen:
        time.sleep(max(_PAUSE, _REST_FACTOR * (time.monotonic() - start)))
        start = time.monotonic()
    while True:
        time.sleep(_SETTLED)
        if (later := stamps(projects, data)) == now:
            return frozenset(Path(path) for path, _ in later.items() ^ seen.items())
        now = later


def _print_status(line: str, files: int) -> None:
    when = time.strftime("%H:%M:%S")
    shown = "\n".join(map(clean, line.split("\n")))
    click.echo(f"\n{shown} at {when}; watching {files} file{'s' * (files != 1)}, Ctrl-C ends")
