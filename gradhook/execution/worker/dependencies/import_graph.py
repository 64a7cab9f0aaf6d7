"""Build the graph of the user's files and the files that each of them uses."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gradhook.execution.cache.fingerprints import is_foreign
from gradhook.execution.worker.dependencies import import_statements


@dataclass(frozen=True)
class ImportGraph:
    """The user's modules with their files, and for each file the files that it uses."""

    modules: Mapping[str, str]
    edges: Mapping[str, set[str]]
    everything: frozenset[str]

    def closure(self, roots: Iterable[str]) -> set[str]:
        """The files that can be reached from some, these included."""
        found: set[str] = set()
        waiting = [*roots]
        while waiting:
            file = waiting.pop()
            if file not in found:
                found.add(file)
                waiting.extend(self.edges.get(file, ()))
        return found


def user_modules() -> dict[str, str]:
    """The loaded modules that belong to a user, with their files."""
    named = ((name, file_of(name)) for name in [*sys.modules])
    return {name: file for name, file in named if file and not is_foreign(file)}


def file_of(name: str) -> str:
    """The file of a loaded module; empty for those without."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return os.path.abspath(file) if isinstance(file, str) else ""  # noqa: PTH100


def build_graph(opened: Mapping[str, Collection[str]], files: Collection[str], mutated: Collection[str]) -> ImportGraph:
    """The graph of files ``opened`` while others ran, and of import statements.

    ``files`` are all that were opened. Files that import dynamically, and modules that others ``mutated``, depend on
    everything.
    """
    modules = user_modules()
    everything = frozenset(files).union(modules.values())
    edges: dict[str, set[str]] = defaultdict(set)
    bound: dict[str, set[str]] = {}
    for file, others in opened.items():
        edges[file].update(others)
    for name, file in modules.items():
        text = _text(file)
        named, packages = import_statements.imported_modules(text, sys.modules[name])
        edges[file].update(
            modules[other] for other in named.union(import_statements.prefixes(name)) if other in modules
        )
        bound.setdefault(file, set()).update(packages)
        if import_statements.imports_dynamically(text) or name in mutated:
            edges[file].update(everything)
    found = ImportGraph(modules, edges, everything)
    open_to_all = {package for package in set().union(*bound.values()) if _has_foreign_modules(found, package)}
    for file, packages in bound.items():
        edges[file].update(everything if packages & open_to_all else ())
    return found


def _has_foreign_modules(found: ImportGraph, package: str) -> bool:
    """Whether a package holds modules that its own code does not import."""
    inside = {found.modules[name] for name in import_statements.below(package, found.modules)}
    own = found.modules.get(package)
    return bool(inside) and not inside <= found.closure([own] if own else [])


def _text(file: str) -> str:
    if not file.endswith(".py"):
        return ""
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
