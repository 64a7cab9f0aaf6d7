"""Record what each result of this process depends on.

Watched from the first user module to the last answer; in doubt a result depends on everything.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradhook.execution.cache import fingerprints
from gradhook.execution.cache.fingerprints import UNKNOWN, build, content, is_foreign, is_installed, stamp
from gradhook.execution.worker.dependencies import import_graph, outside_inputs
from gradhook.execution.worker.dependencies.import_graph import ImportGraph, build_graph, file_of, user_modules
from gradhook.execution.worker.dependencies.mutated_modules import SETTING, ModuleMonitor
from gradhook.execution.worker.dependencies.opened_files import FileAudit
from gradhook.execution.worker.dependencies.outside_inputs import names_read
from gradhook.model.protocol import DependencyReport, Job


@dataclass
class Recorder:
    """The dependencies observed so far."""

    audit: FileAudit
    monitor: ModuleMonitor
    variables: set[str]
    patterns: dict[int, tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    def begin(self, number: int, options: Mapping[str, Any], base: str) -> None:
        """Attribute files to this job from now on; its annotation stands in the folder ``base``.

        Raises:
            GradhookError: ``depends_on`` is wrong.
        """
        self.audit.job = number
        files = outside_inputs.files(options, base)
        if patterns := outside_inputs.patterns(options):
            self.patterns[number] = base, patterns, files
        for file in files:
            self.audit.record(file)
            self.audit.read.add(file)
            self.audit.by_job.setdefault(number, set()).add(file)

    def depended(self, jobs: Sequence[Job], roots: Mapping[int, str]) -> DependencyReport:
        """Everything that the answers about ``jobs`` depend on; ``roots`` are their modules' files."""
        self.audit.job = None
        for file in user_modules().values():
            self.audit.record_late(file)
        self.audit.disown()
        mutated = self.monitor.mutated()
        found = build_graph(self.audit.openers, self.audit.files, mutated)
        needs = {job.number: self._needs(job, roots.get(job.number, ""), found) for job in jobs}
        common = self._common(found, [file for file in roots.values() if file], needs)
        table = _Table(self.audit.files)
        beside: dict[str, set[int]] = defaultdict(set)
        for name, file in found.modules.items():
            beside[file].update(table.row(path) for path in import_graph.files_before(name))
        rows = {
            str(number): sorted({row for file in files | common for row in (table.row(file), *beside[file])})
            for number, files in needs.items()
        }
        return DependencyReport(
            patterns={str(number): pattern for number, pattern in self.patterns.items()},
            common=self._common_record(table),
            needs=rows,
            files=tuple(table.rows()),
            sources=table.rows_of(self._sources(found)),
            mutated=table.rows_of(sorted({found.modules[name] for name in mutated if name in found.modules})),
            shared=table.rows_of(sorted(self._changing(found))),
        )

    def _changing(self, found: ImportGraph) -> set[str]:
        """What changed something that belongs to everybody, or replaced what is installed, with all that it uses."""
        if self.monitor.patched():
            return {*found.everything}
        return found.closure(found.modules[name] for name in self.monitor.changers if name in found.modules)

    def _sources(self, found: ImportGraph) -> list[str]:
        """The code that was imported by Python's own loader, which heeds no comments, and not read otherwise."""
        own = {file for name, file in found.modules.items() if _is_plain(sys.modules.get(name))}
        return sorted(own & self.audit.imported - self.audit.read)

    def _needs(self, job: Job, root: str, found: ImportGraph) -> set[str]:
        named = {found.modules[name] for name in _modules_named(job.options or {}) if name in found.modules}
        own = self.audit.by_job.get(job.number, set())
        return found.closure([*([root] if root and not is_foreign(root) else []), *named, *own])

    def _common(self, found: ImportGraph, roots: Sequence[str], needs: Mapping[int, set[str]]) -> set[str]:
        """The files that every answer depends on: those of global changes, and those without an opener."""
        known = found.closure(roots).union(*needs.values())
        return self._changing(found) | found.closure(self.audit.shared) | (found.everything - known)

    def _common_record(self, table: _Table) -> dict[str, Any]:
        places = [os.path.abspath(place) for place in sys.path if place]  # noqa: PTH100
        files = sorted({file for name in [*sys.modules] if is_installed(file := file_of(name))})
        top = {name.partition(".")[0] for name in [*sys.modules]}
        names = self.audit.asked.union(*(fingerprints.owners(place, top) for place in places))
        missing = [path for name in self.audit.sought for path in import_graph.files_for_missing(name)]
        return {
            "rows": sorted({table.row(path) for path in missing}),
            "modules": [[file, self._build(file)] for file in files],
            "sites": {place: fingerprints.site(place, names) for place in places if os.path.isdir(place)},  # noqa: PTH112
            "names": sorted(names),
            "variables": sorted(self.variables),
        }

    def _build(self, file: str) -> str:
        """The state of an installed file; unknown if it changed since this process began."""
        found = stamp(file)
        return build(file) if found and int(found.split(":")[2]) < self.audit.began else UNKNOWN


@dataclass
class _Table:
    """Files by number, so that each is stored once."""

    known: Mapping[str, tuple[str, str]]
    numbers: dict[str, int] = field(default_factory=dict)

    def row(self, path: str) -> int:
        """The number of a file, a new one for one that has none yet."""
        return self.numbers.setdefault(path, len(self.numbers))

    def rows_of(self, paths: Iterable[str]) -> tuple[int, ...]:
        """The numbers of those files that have one."""
        return tuple(self.numbers[path] for path in paths if path in self.numbers)

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """The content of each file when it was opened; files never opened should not exist."""
        return ((path, *self.known.get(path, ("", _unopened(path)))) for path in self.numbers)


def recorder(ignored: Iterable[str] = ()) -> Recorder:
    """Begin to record; JAX is loaded by now, no user module is."""
    audit = FileAudit(ignored=tuple(ignored))
    monitor = ModuleMonitor(_common)
    for file in user_modules().values():
        audit.record(file)
    audit.watch()
    monitor.watch()
    return Recorder(audit, monitor, names_read())


def _common() -> dict[str, Any]:
    """The global state of this process, by name."""
    config = getattr(sys.modules.get("jax"), "config", None)
    settings = getattr(config, "values", None) or {}
    found = {f"{SETTING}{name}": value for name, value in [*settings.items()]}
    return found | {"environment": dict(getattr(os.environ, "_data", {})), "path": list(sys.path)}


def _is_plain(module: Any) -> bool:
    return type(getattr(module, "__loader__", None)) is importlib.machinery.SourceFileLoader


def _unopened(path: str) -> str:
    """The content of a path that was sought but not opened; unknown if it exists by now."""
    found = content(path)
    return found if found in ("", "folder") else UNKNOWN


def _modules_named(options: Any) -> Iterator[str]:
    """The modules that texts in the configuration name, and their packages."""
    if isinstance(options, str):
        yield from import_graph.prefixes(options.partition(":")[0].strip())
    elif isinstance(options, Mapping):
        for value in options.values():
            yield from _modules_named(value)
    elif isinstance(options, (list, tuple)):
        for value in options:
            yield from _modules_named(value)
