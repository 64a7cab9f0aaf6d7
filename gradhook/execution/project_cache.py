"""Recall the results of a project that still hold, and keep new ones; without a cache, do neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gradhook.config import Config
from gradhook.execution.cache import dependency_index, last_run
from gradhook.execution.cache.cache_key import cache_key, is_known
from gradhook.execution.cache.interpreter_facts import cached_probe, is_script
from gradhook.execution.cache.passes import Kept, Recalled, recall, remember
from gradhook.execution.cache.store import FOLDER, Store, open_store
from gradhook.execution.cache.syntax import Shapes
from gradhook.execution.interpreter import Interpreter, choose_interpreter, unusable_reason
from gradhook.execution.supervisor.process import worker_environment
from gradhook.model.protocol import DECODING_ERRORS, DependencyReport, Job
from gradhook.model.results import CheckSettings, TargetReport
from gradhook.scan.files import tracked

_FALSE = ("", "0", "false", "no", "off")
_TRACKED = f"git tracks {FOLDER}: take it out with `git rm -r --cached {FOLDER}`"


@dataclass
class ProjectCache:
    """The cache of one project, or none; ``unavailable`` is the reason why a wanted one is missing."""

    config: Config
    environ: Mapping[str, str]
    store: Store | None = None
    unavailable: str = ""
    on: Kept | None = None
    """What is kept under what this run rests on; none before its interpreter is known."""

    def python(self) -> Interpreter:
        """The project's interpreter; one that was probed before is not started again.

        Raises:
            GradhookError: there is none with JAX.
        """
        settings, root, origin = self.config.settings, self.config.root, self.config.origins["python"]
        ask = cached_probe(unusable_reason, self.store) if self.store else unusable_reason
        return choose_interpreter(settings.python, root, self.environ, origin=origin, probe=ask)

    def recall(self, python: Path, jobs: Sequence[Job], asked: Sequence[int], paths: Sequence[str]) -> Recalled:
        """The results that still hold; ``paths`` are those that the worker imports from first."""
        environment = worker_environment(python, requested_platform(self.config), self.environ)
        if self.store is None or not is_known(environment):
            return Recalled()
        if is_script(python):
            self.unavailable = f"{python} is a script, which may start any interpreter: name the interpreter itself"
            return Recalled()
        settings = {**_settings(self.config), "paths": list(paths)}
        self.on = Kept(self.store, cache_key(python, environment, settings), environment, Shapes(self.store))
        return recall(self.on, jobs, asked)

    def failed(self, jobs: Iterable[Job]) -> frozenset[int]:
        """Which jobs failed when they were last asked, or were undecided or could not run."""
        names = last_run.failed(self.store) if self.store else frozenset[str]()
        return frozenset(job.number for job in jobs if names and dependency_index.name_of(job.target) in names)

    def keep(self, jobs: Sequence[Job], collected: Collected, ran_on: Mapping[str, Any]) -> None:
        """Keep results and dependencies; a cache that cannot be written does not end the run."""
        if self.store is None or self.on is None or not [*collected.asked()]:
            return
        targets = {job.number: job.target for job in jobs} | {n: r.target for n, r in collected.reports.items()}
        try:
            self.store.prepare()
            last_run.keep(self.store, [collected.reports[number] for number in collected.asked()])
            for depended in collected.depended:
                remember(self.on, jobs, collected.reports, depended, ran_on)
                dependency_index.keep(self.store, targets, depended)
            self.store.prune()
        except OSError as error:
            self.unavailable = f"{self.store.folder.parent} cannot be written: {error.strerror}"
        except (*DECODING_ERRORS, IndexError):
            self.unavailable = "a worker did not say properly on what its answers rest"


@dataclass(frozen=True)
class Collected:
    """Reports by job number, and what those of workers depend on."""

    reports: dict[int, TargetReport] = field(default_factory=dict)
    depended: list[DependencyReport] = field(default_factory=list)

    def asked(self) -> Iterator[int]:
        """The numbers of those that were not recalled."""
        return (number for number, report in self.reports.items() if not report.cached)

    def in_order(self) -> Iterator[TargetReport]:
        """The reports in the order of the numbers."""
        return (self.reports[number] for number in sorted(self.reports))


def open_project_cache(config: Config, environ: Mapping[str, str]) -> ProjectCache:
    """The cache of a project, where one is wanted and possible."""
    if not _is_wanted(config, environ):
        return ProjectCache(config, environ)
    if (config.root / FOLDER).is_dir() and tracked(config.root, FOLDER):
        return ProjectCache(config, environ, unavailable=_TRACKED)
    try:
        return ProjectCache(config, environ, open_store(config.root, environ))
    except OSError as error:
        return ProjectCache(config, environ, unavailable=f"the key in your cache folder cannot be used: {error}")


def requested_platform(config: Config) -> str | None:
    """The platform that was configured; ``None`` for the default."""
    return None if config.origins["platform"] == "default" else config.settings.platform


def _is_wanted(config: Config, environ: Mapping[str, str]) -> bool:
    """Whether a cache is wanted; in CI only if it is configured, as new machines have no cache."""
    by_itself = config.origins["cache"] == "default" and environ.get("CI", "").lower() not in _FALSE
    return config.settings.cache and not by_itself


def _settings(config: Config) -> dict[str, Any]:
    """The settings that can change a verdict."""
    names = [f.name for f in fields(CheckSettings) if hasattr(config.settings, f.name)]
    return {name: getattr(config.settings, name) for name in (*names, "timeout", "max_memory")}
