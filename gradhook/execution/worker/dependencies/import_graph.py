"""The graph of the user's files and the files that each of them uses, from their import statements.

The import statements of the whole text count, those in functions too: a superset of what was executed, except where
modules are looked up by computed names. Such a file may reach everything that is loaded.

A new ``__init__.py``, a module of the same name further in front on the path, a module that was looked for in vain.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from gradhook.execution.cache.fingerprints import is_foreign

_GAP = r"(?:[ \t\f]|\\\r?\n)"
_LIST = r"(\((?:[^)#]|#[^\n]*)*\)|(?:[^\n;#\\]|\\\r?\n)*)"
_IMPORT = re.compile(rf"(?:\bfrom{_GAP}*((?:\.|{_GAP})*[\w.]*){_GAP}*)?\bimport\b{_GAP}*{_LIST}")
_NAME = re.compile(r"(\*|[\w.]+)(?:\s+as\s+(\w+))?")
_COMMENT = re.compile(r"#[^\n]*")
_BY_NAME = re.compile(
    r"\bimportlib\b(?!\.(?:metadata|resources)\b)|\b__import__\b|\b(?:runpy|pkgutil|lazy_loader|zipimport|builtins)\b"
    r"|\bsys\s*\.\s*modules\b|\bsys\s+import\b[^\n]*\bmodules\b|(?<![\w.])(?:exec|eval)\s*\("
)
"""Signs that a module may be found by a name that does not stand in an import statement."""


def imports_dynamically(text: str) -> bool:
    """Whether a file may reach modules that its import statements do not name."""
    return _BY_NAME.search(text) is not None


def imported_modules(text: str, module: ModuleType) -> tuple[set[str], set[str]]:
    """The loaded modules that the module's imports name, and the packages that they bind.

    From a package that is bound, every module in it can be reached by attributes.
    """
    named: set[str] = set()
    bound: set[str] = set()
    for start, names in _statements(text):
        base = _absolute(start, module) if start is not None else ""
        named.update(prefixes(base))
        for name, other in names:
            whole = f"{base}.{name}" if base else name
            named.update(prefixes(whole))
            if name == "*":
                bound.add(base)
            elif start is None and not other:
                bound.add(name.partition(".")[0])
            else:
                bound.add(whole)
    return named & sys.modules.keys(), {name for name in bound if _is_package(name)}


def _statements(text: str) -> Iterator[tuple[str | None, list[tuple[str, str]]]]:
    """The text after ``from`` (``None`` without it), and the imported names with their aliases."""
    for start, names in ((match[1], match[2]) for match in _IMPORT.finditer(text)):
        listed = _NAME.findall(_COMMENT.sub("", names.replace("\\", " ")))
        yield (None if start is None else re.sub(r"[\s\\]", "", start)), listed


def _absolute(name: str, module: ModuleType) -> str:
    """A name with leading dots as seen from ``module``."""
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    package = getattr(module, "__package__", None) or module.__name__.rpartition(".")[0]
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - dots + 1], *filter(None, [name[dots:]])])


def prefixes(name: str) -> Iterator[str]:
    """``a``, ``a.b`` and ``a.b.c`` for ``a.b.c``."""
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _is_package(name: str) -> bool:
    return hasattr(sys.modules.get(name), "__path__")


def below(package: str, files: Mapping[str, str]) -> set[str]:
    """The loaded modules of a package, itself included; ``files`` maps the user's modules to their files."""
    return {name for name in files if name == package or name.startswith(f"{package}.")}


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
        named, packages = imported_modules(text, sys.modules[name])
        edges[file].update(modules[other] for other in named.union(prefixes(name)) if other in modules)
        bound.setdefault(file, set()).update(packages)
        if imports_dynamically(text) or name in mutated:
            edges[file].update(everything)
    found = ImportGraph(modules, edges, everything)
    open_to_all = {package for package in set().union(*bound.values()) if _has_foreign_modules(found, package)}
    for file, packages in bound.items():
        edges[file].update(everything if packages & open_to_all else ())
    return found


def _has_foreign_modules(found: ImportGraph, package: str) -> bool:
    """Whether a package holds modules that its own code does not import."""
    inside = {found.modules[name] for name in below(package, found.modules)}
    own = found.modules.get(package)
    return bool(inside) and not inside <= found.closure([own] if own else [])


def _text(file: str) -> str:
    if not file.endswith(".py"):
        return ""
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


PRIVATE = "_gradhook_"
"""Prefix of the private module names of ``load``, which are not found on the path."""
_ENDS = tuple(importlib.machinery.EXTENSION_SUFFIXES)


def files_before(name: str) -> Iterator[str]:
    """The files that an import of ``name`` and its packages would find first, if they existed."""
    parent, _, last = name.rpartition(".")
    if not parent and name.startswith(PRIVATE):
        return
    if parent:
        yield from files_before(parent)
    found = getattr(sys.modules.get(name), "__file__", None)
    for folder in _searched(parent):
        base = os.path.join(folder, last)  # noqa: PTH118
        for candidate in (os.path.join(base, "__init__.py"), *(base + end for end in (*_ENDS, ".py"))):  # noqa: PTH118
            if found is not None and _same(candidate, found):
                return
            yield candidate


def files_for_missing(name: str) -> Iterator[str]:
    """The user's files that would define ``name``, which is installed or was not found.

    For the latter, folders of installed distributions count as well.
    """
    parent, _, last = name.rpartition(".")
    if name in sys.modules and (parent or _is_users(name)):
        return
    for folder in _searched(parent) if parent in sys.modules or not parent else ():
        if name in sys.modules and is_foreign(os.path.join(folder, "")):  # noqa: PTH118
            continue
        base = os.path.join(folder, last)  # noqa: PTH118
        yield from (base, *(base + end for end in (*_ENDS, ".py")))


def _is_users(name: str) -> bool:
    """Whether a loaded module or namespace is the user's."""
    module = sys.modules[name]
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(isinstance(place, str) and not is_foreign(os.path.abspath(place)) for place in places)  # noqa: PTH100


def _searched(package: str) -> Sequence[str]:
    """The folders in which a package's modules, or top-level ones, are looked for."""
    places = getattr(sys.modules.get(package), "__path__", ()) if package else sys.path
    return [os.path.abspath(place) for place in places if isinstance(place, str) and place]  # noqa: PTH100


def _same(one: str, other: str) -> bool:
    return one == other or os.path.abspath(other) == one  # noqa: PTH100
