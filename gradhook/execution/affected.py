"""Find the targets that a change of some files affects.

These are the targets in the files, those that depended on one of them when last examined, and, when code or settings
changed, those of the same project that were never examined.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gradhook.config import FILES, NEAREST, Source, load, project_root
from gradhook.execution.cache.dependency_index import DependencyIndex, load_index, real_paths
from gradhook.execution.cache.store import FOLDER
from gradhook.execution.project_cache import open_project_cache
from gradhook.model.errors import GradhookError
from gradhook.model.results import Target
from gradhook.projects.discovery import ConfigReader, Project, roots_below, whole_projects
from gradhook.scan.files import absolute


def affected_projects(
    changed: Sequence[Path],
    overrides: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    source: Source = NEAREST,
    read: ConfigReader = load,
) -> tuple[Project, ...]:
    """The projects with only the affected targets, and notices about the changed files.

    Raises:
        GradhookError: one of them is a folder, or a configuration or a file is wrong.
    """
    files = [absolute(path) for path in changed]
    for folder in (file for file in files if file.is_dir()):
        raise GradhookError(f"--affected takes files, and {folder} is a folder", "name the files that changed")
    homes = dict.fromkeys(project_root(file.parent) for file in files)
    others = [root for home in homes for root in roots_below(_repository(home)) if (root / FOLDER).is_dir()]
    projects = whole_projects([*dict.fromkeys([*homes, *others])], overrides, environ, source, read)
    return tuple(_limited(project, files, project.config.root in homes, environ) for project in projects)


def _limited(project: Project, files: Sequence[Path], is_home: bool, environ: Mapping[str, str]) -> Project:
    """The project with its affected targets only; ``is_home``: one of the files is its own."""
    config, changed = project.config, frozenset(real_paths([*map(str, files), *(str(file.parent) for file in files)]))
    store = open_project_cache(config, environ).store
    seen = load_index(store) if store else DependencyIndex({})
    all_of_it = is_home and not {config.file, *(config.root / name for name in FILES)}.isdisjoint(files)
    new_too = is_home and any(file.suffix == ".py" for file in files)
    wanted = partial(_is_affected, seen=seen, changed=changed, all_of_it=all_of_it, new_too=new_too)
    names = {os.path.relpath(file, config.root).replace(os.sep, "/") for file in files}
    notices = tuple(notice for notice in project.scan.notices if notice.path in names)
    mine = tuple(file for file in project.scan.files if file in names)
    return replace(project.only(wanted), scan=replace(project.scan, notices=notices, files=mine), whole=False)


def _is_affected(
    target: Target, seen: DependencyIndex, changed: frozenset[str], all_of_it: bool, new_too: bool
) -> bool:
    if all_of_it or not changed.isdisjoint(real_paths(_places(target))):
        return True
    return seen.is_affected(target, changed) if seen.has(target) else new_too


def _places(target: Target) -> list[str]:
    """The files in which a target is defined and annotated."""
    return [str(Path(target.root, path)) for path in (target.path, target.mark_path) if path]


def _repository(folder: Path) -> Path:
    """The repository around a folder, or the folder itself."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
