"""Find the projects that paths touch, and the targets in each.

Every file belongs to its nearest project root; each project has its own configuration, interpreter and workers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradhook.config import FILES, NEAREST, Config, ConfiguredTarget, Source, file_from, load, project_root
from gradhook.model.results import UNCLAIMED, ClaimKind, Target
from gradhook.scan import Scan, scan
from gradhook.scan.files import absolute, excluder, list_folder, tracked_and_new

if TYPE_CHECKING:
    from gradhook.model.protocol import Job

ConfigReader = Callable[[Path, Mapping[str, Any], Mapping[str, str], Source], Config]
_FOREIGN = frozenset({"site-packages", "node_modules"})


@dataclass(frozen=True)
class Project:
    """The targets below one project root: those of the scan and those of the configuration."""

    config: Config
    scan: Scan
    configured: tuple[ConfiguredTarget, ...] = ()
    left_out: frozenset[int] = frozenset()
    """Numbers of jobs that are not examined; the worker gets them, as it must match every claim of a module."""
    whole: bool = False
    """Whether all files of the project were scanned."""

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The targets of the scan, then those of the configuration, then unclaimed custom rules."""
        named = [(_target(found, self.config), found.options) for found in self.configured]
        scanned = [(target, None) for target in self.scan.targets]
        rules = [(target, None) for target in self.scan.unclaimed] if self._checks_unclaimed_rules else []
        if not (scanned or named or rules):
            return ()
        from gradhook.model.protocol import (
            Job,  # with all that crosses to workers: only where there is something to check
        )

        return tuple(Job(n, *pair) for n, pair in enumerate([*scanned, *named, *rules]))

    @property
    def _checks_unclaimed_rules(self) -> bool:
        settings = self.config.settings
        return settings.unclaimed != "ignore" and not UNCLAIMED.startswith(settings.ignore or ("none",))

    @property
    def claimed(self) -> tuple[Target, ...]:
        """The targets to check that have a claim."""
        return tuple(target for target in self.targets if target.claim is not ClaimKind.RULE)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets to check."""
        return tuple(job.target for job in self.jobs if job.number not in self.left_out)

    def without(self, numbers: Collection[int]) -> Project:
        """The project with these jobs left out."""
        return replace(self, left_out=self.left_out.union(numbers))

    def only(self, wanted: Callable[[Target], bool]) -> Project:
        """The project with fewer targets to check."""
        unwanted = {job.number for job in self.jobs if not wanted(job.target)}
        return replace(self, left_out=self.left_out | unwanted)


def find(
    paths: Sequence[Path],
    overrides: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    source: Source = NEAREST,
    read: ConfigReader = load,
) -> tuple[Project, ...]:
    """The projects that ``paths`` touch (none: the working directory), with their targets.

    What a configuration names belongs to its project as a whole: it is taken when no path was given, a folder around
    the project was, its configuration file, or the very file that the named target is in. ``read``
    is what reads the configuration of a root.

    Raises:
        GradhookError: a path, a configuration or a file is wrong.
    """
    given = [absolute(path) for path in paths] or [Path.cwd()]
    config_of = cache(lambda root: read(root, overrides, environ, source))
    groups = _by_root(given, config_of)
    return tuple(
        _project(config_of(root), mine, groups.keys(), given if paths else ()) for root, mine in groups.items()
    )


def whole_projects(
    roots: Sequence[Path],
    overrides: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    source: Source = NEAREST,
    read: ConfigReader = load,
) -> tuple[Project, ...]:
    """Each project as a whole, without the projects inside it; otherwise as ``find``.

    Raises:
        GradhookError: a configuration or a file is wrong.
    """
    configs = [read(root, overrides, environ, source) for root in roots]
    return tuple(_project(c, [c.root], {c.root, *roots_below(c.root)}, ()) for c in configs)


def _by_root(given: Sequence[Path], config_of: Callable[[Path], Config]) -> dict[Path, list[Path]]:
    """The paths of each project, in order; projects inside a given folder are included."""
    root_of = cache(project_root)
    groups: dict[Path, list[Path]] = {}
    for path in given:
        home = root_of(path if path.is_dir() else path.parent)
        groups.setdefault(home, []).append(path)
        if path.is_dir():
            config = config_of(home)
            excluded = excluder(config.settings.exclude, config.prefix("exclude"))
            for root in roots_below(path):
                if root != home and not excluded((root / FILES[0]).relative_to(home).as_posix()):
                    groups.setdefault(root, []).append(root)
    return groups


def roots_below(folder: Path) -> list[Path]:
    """The project roots below a folder, as git lists their files; without git, those of the Python files."""
    listed = tracked_and_new(folder, *(f"*{name}" for name in FILES))
    names = list_folder(folder).files if listed is None else [name for name in listed if Path(name).name in FILES]
    parents = {name.rpartition("/")[0] for name in names if _FOREIGN.isdisjoint(Path(name).parts)}
    return sorted({project_root(folder / parent) for parent in parents})


def _project(config: Config, mine: Sequence[Path], roots: Collection[Path], named: Collection[Path]) -> Project:
    """Scan one project.

    ``mine`` are the paths to scan, ``roots`` those of all projects; without ``named`` paths the whole project is meant.
    """
    root = config.root
    prefix = config.prefix("exclude")
    below = [other.relative_to(root) for other in roots if other != root and other.is_relative_to(root)]
    inner = [_glob(prefix + other.as_posix()) for other in below]
    configured = [found for found in config.targets if not named or _is_selected(found, config, mine)]
    may_be_empty = [path for path in mine if path.is_dir() and (configured or path not in named)]
    empty = {path for path in may_be_empty if not list_folder(path).files}
    found = scan(
        root,
        [path for path in mine if path not in empty],
        exclude=(*config.settings.exclude, *inner),
        prefix=prefix,
        configured=[target.name for target in config.targets if target.claim is not ClaimKind.RULE],
        given=[target.name for target in config.targets if target.claim is ClaimKind.RULE],
    )
    return Project(config, found, tuple(configured), whole=root in mine)


def _is_selected(found: ConfiguredTarget, config: Config, given: Sequence[Path]) -> bool:
    """Whether one of the paths includes a target of the configuration."""
    stem = found.name.partition(":")[0].replace(".", "/")
    files = {base / f"{stem}{end}" for base in (config.root, config.root / "src") for end in (".py", "/__init__.py")}
    files |= {config.file} if config.file else set()
    real = [path.resolve() for path in given]
    return any(config.root.is_relative_to(path) if path.is_dir() else path in files for path in real)


def _glob(inner: str) -> str:
    """A pattern for exactly this folder."""
    return "/" + re.sub(r"([\\*?\[\]!])", r"\\\1", inner) + "/"


def _target(found: ConfiguredTarget, config: Config) -> Target:
    module, _, qualname = found.name.partition(":")
    path = file_from(config.root, config.file)
    return Target(module, qualname, path, found.line, found.line, found.claim, str(config.root), source="config")
