"""On what does each answer of this process rest?

Watched from the first module of the user's to the last answer; in doubt an answer rests on everything.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradhook.execution.cache import installed
from gradhook.execution.cache.fingerprints import UNKNOWN, build, content, is_foreign, is_installed, stamp
from gradhook.execution.worker.dependencies import depends_on, import_statements, shadowing
from gradhook.execution.worker.dependencies.environment_variables import heard
from gradhook.execution.worker.dependencies.import_graph import Graph, file_of, graph, users_modules
from gradhook.execution.worker.dependencies.mutated_modules import SETTING, Guard
from gradhook.execution.worker.dependencies.opened_files import Witness
from gradhook.model.protocol import DependencyReport, Job


@dataclass
class Recorder:
    """What was observed so far."""

    witness: Witness
    guard: Guard
    variables: set[str]
    patterns: dict[int, tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    def begin(self, number: int, options: Mapping[str, Any], base: str) -> None:
        """A job is examined from now on; ``options`` are its annotation's, which stands in the folder ``base``.

        Raises:
            GradhookError: ``depends_on`` is wrong.
        """
        self.witness.job = number
        files = depends_on.files(options, base)
        if patterns := depends_on.patterns(options):
            self.patterns[number] = base, patterns, files
        for file in files:
            self.witness.note(file)
            self.witness.read.add(file)
            self.witness.by_job.setdefault(number, set()).add(file)

    def depended(self, jobs: Sequence[Job], roots: Mapping[int, str]) -> DependencyReport:
        """All that the answers about ``jobs`` rest on; ``roots`` are the files of their modules."""
        self.witness.job = None
        for file in users_modules().values():
            self.witness.note_late(file)
        self.witness.disown()
        meddled = self.guard.meddled()
        found = graph(self.witness.openers, self.witness.files, meddled)
        needs = {job.number: self._needs(job, roots.get(job.number, ""), found) for job in jobs}
        common = self._common(found, [file for file in roots.values() if file], needs)
        table = _Table(self.witness.files)
        beside: dict[str, set[int]] = defaultdict(set)
        for name, file in found.modules.items():
            beside[file].update(table.row(path) for path in shadowing.before(name))
        rows = {
            str(number): sorted({row for file in files | common for row in (table.row(file), *beside[file])})
            for number, files in needs.items()
        }
        return DependencyReport(
            patterns={str(number): pattern for number, pattern in self.patterns.items()},
            common=self._surroundings(table),
            needs=rows,
            files=tuple(table.rows()),
            sources=table.rows_of(self._sources(found)),
            meddled=table.rows_of(sorted({found.modules[name] for name in meddled if name in found.modules})),
            shared=table.rows_of(sorted(self._changing(found))),
        )

    def _changing(self, found: Graph) -> set[str]:
        """What changed something that belongs to everybody, or replaced what is installed, with all that it uses."""
        if self.guard.patched():
            return {*found.everything}
        return found.closure(found.modules[name] for name in self.guard.changers if name in found.modules)

    def _sources(self, found: Graph) -> list[str]:
        """The code that was imported by Python's own loader, which heeds no comments, and not read otherwise."""
        own = {file for name, file in found.modules.items() if _is_plain(sys.modules.get(name))}
        return sorted(own & self.witness.imported - self.witness.read)

    def _needs(self, job: Job, root: str, found: Graph) -> set[str]:
        named = {found.modules[name] for name in _referred(job.options or {}) if name in found.modules}
        own = self.witness.by_job.get(job.number, set())
        return found.closure([*([root] if root and not is_foreign(root) else []), *named, *own])

    def _common(self, found: Graph, roots: Sequence[str], needs: Mapping[int, set[str]]) -> set[str]:
        """What every answer rests on: who changed what belongs to all, and what nobody is known to have opened."""
        known = found.closure(roots).union(*needs.values())
        return self._changing(found) | found.closure(self.witness.shared) | (found.everything - known)

    def _surroundings(self, table: _Table) -> dict[str, Any]:
        places = [os.path.abspath(place) for place in sys.path if place]  # noqa: PTH100
        files = sorted({file for name in [*sys.modules] if is_installed(file := file_of(name))})
        top = {name.partition(".")[0] for name in [*sys.modules]}
        names = self.witness.asked.union(*(installed.owners(place, top) for place in places))
        return {
            "rows": sorted({table.row(path) for name in self.witness.sought for path in shadowing.instead(name)}),
            "modules": [[file, self._build(file)] for file in files],
            "sites": {place: installed.site(place, names) for place in places if os.path.isdir(place)},  # noqa: PTH112
            "names": sorted(names),
            "variables": sorted(self.variables),
        }

    def _build(self, file: str) -> str:
        """An installed file that was changed since this process began may not be the one that was loaded."""
        found = stamp(file)
        return build(file) if found and int(found.split(":")[2]) < self.witness.began else UNKNOWN


@dataclass
class _Table:
    """Files by number, so that each is written down once."""

    known: Mapping[str, tuple[str, str]]
    numbers: dict[str, int] = field(default_factory=dict)

    def row(self, path: str) -> int:
        """The number of a file, a new one for one that has none yet."""
        return self.numbers.setdefault(path, len(self.numbers))

    def rows_of(self, paths: Iterable[str]) -> tuple[int, ...]:
        """The numbers of those files that have one."""
        return tuple(self.numbers[path] for path in paths if path in self.numbers)

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """What was in each file when it was opened; those that nobody opened should not be there at all."""
        return ((path, *self.known.get(path, ("", _unopened(path)))) for path in self.numbers)


def recorder(ignored: Iterable[str] = ()) -> Recorder:
    """Begin to watch; JAX is loaded by now, nothing of the user's is."""
    witness = Witness(ignored=tuple(ignored))
    guard = Guard(_common)
    for file in users_modules().values():
        witness.note(file)
    witness.watch()
    guard.watch()
    return Recorder(witness, guard, heard())


def _common() -> dict[str, Any]:
    """What belongs to everybody in this process, each under a name."""
    config = getattr(sys.modules.get("jax"), "config", None)
    settings = getattr(config, "values", None) or {}
    found = {f"{SETTING}{name}": value for name, value in [*settings.items()]}
    return found | {"environment": dict(getattr(os.environ, "_data", {})), "path": list(sys.path)}


def _is_plain(module: Any) -> bool:
    return type(getattr(module, "__loader__", None)) is importlib.machinery.SourceFileLoader


def _unopened(path: str) -> str:
    """The content of a path that was looked for and, mostly, not found; one that appeared meanwhile is unknown."""
    found = content(path)
    return found if found in ("", "folder") else UNKNOWN


def _referred(options: Any) -> Iterator[str]:
    """The modules that texts in the configuration name, and the packages around them."""
    if isinstance(options, str):
        yield from import_statements.prefixes(options.partition(":")[0].strip())
    elif isinstance(options, Mapping):
        for value in options.values():
            yield from _referred(value)
    elif isinstance(options, (list, tuple)):
        for value in options:
            yield from _referred(value)
