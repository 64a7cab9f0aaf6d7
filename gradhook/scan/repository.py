"""Resolve names between the modules of a project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.scan.files import Listing, relative_to
from gradhook.scan.modules import Module, module_file, module_name_of
from gradhook.scan.names import WORDS, NameResolver
from gradhook.scan.parse import parse, possible_aliases, possible_users, read, readable
from gradhook.scan.records import Decorator, ModuleScan, NameMeaning
from gradhook.scan.statements import module_scope, walk

_LONGEST_CHAIN = 20  # of names that stand for names in other modules


@dataclass(frozen=True)
class ModuleIndex:
    """The modules scanned so far; ``follow`` are the names to follow into other modules."""

    root: Path
    follow: frozenset[str] = frozenset()
    users: frozenset[Path] = frozenset()
    """The files that may use such a name though they contain none of our words."""
    scans: dict[Path, ModuleScan] = field(default_factory=dict)


def scan_module(path: Path, index: ModuleIndex) -> ModuleScan:
    """The scan of one file.

    Raises:
        GradhookError: the file cannot be read or is no Python.
    """
    if path not in index.scans:
        name, base = module_name_of(path, index.root)
        module = Module(path, _shown(path, index.root), name, base)
        tree = parse(read(path, module.shown), module.shown)
        # Known before it is walked: modules import each other in circles, and then see what there is so far.
        found = index.scans[path] = ModuleScan(module_scope(module, tree))
        try:
            walk(found, tree, _names(index))
        except RecursionError as error:
            raise GradhookError(f"{module.shown}:1: nested too deeply to be read", "exclude the file") from error
    return index.scans[path]


def open_index(root: Path, universe: Listing, hits: Iterable[str]) -> ModuleIndex:
    """An index with the aliases that modules give to decorators; ``hits`` are the files to read."""
    texts = {root / file: readable(root / file) for file in hits}
    aliases = {path: names for path, text in texts.items() if (names := possible_aliases([text]))}
    offers = _offers(ModuleIndex(root, frozenset().union(*aliases.values())), aliases)
    users: set[Path] = set()
    while offers:
        users = possible_users(universe, offers, {path for paths in offers.values() for path in paths})
        more = _offers(ModuleIndex(root, frozenset(offers)), {*aliases, *users})
        merged = {name: offers.get(name, set()) | more.get(name, set()) for name in offers.keys() | more.keys()}
        if merged == offers:
            break
        offers = merged
    return ModuleIndex(root, frozenset(offers), frozenset(users))


def _offers(index: ModuleIndex, paths: Iterable[Path]) -> dict[str, set[Path]]:
    """Names that stand for a decorator under another name, with the modules that offer them."""
    names = _names(index)
    offers: dict[str, set[Path]] = {}
    for path in paths:
        found = scan_module_or_none(path, index)
        if found is None:
            continue
        for name in {*found.scope.values, *(index.follow if found.scope.stars else ())}:
            if isinstance(names.lookup(name, found.scope), Decorator) and not any(word in name for word in WORDS):
                offers.setdefault(name, set()).add(path)
    return offers


def _names(index: ModuleIndex, depth: int = _LONGEST_CHAIN) -> NameResolver:
    return NameResolver(partial(_export, index, depth), index.follow)


def scan_module_or_none(path: Path, index: ModuleIndex) -> ModuleScan | None:
    """The scan of one file; ``None`` if it cannot be read, which is reported when it is scanned itself."""
    try:
        return scan_module(path, index)
    except GradhookError:
        return None  # reported when the file itself is scanned


def _export(index: ModuleIndex, depth: int, dotted: str, near: Module) -> NameMeaning:
    """The meaning of a dotted name, if a module of the project binds it."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        path = module_file(".".join(parts[:cut]), near, index.root)
        found = path and scan_module_or_none(path, index)
        if found:
            names = _names(index, depth - 1)
            value = names.lookup(parts[cut], found.scope)
            if isinstance(value, str) and depth:
                return names.resolve(".".join([value, *parts[cut + 1 :]]), found.scope.module)
            return value if cut == len(parts) - 1 else None
    return None


def _shown(path: Path, root: Path) -> str:
    try:
        return relative_to(root, path)
    except GradhookError:
        return path.as_posix()
