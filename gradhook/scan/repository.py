"""What do the modules of a project offer one another?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.scan import prefilter
from gradhook.scan.files import Listing, relative_to
from gradhook.scan.modules import Module, module_file, module_of
from gradhook.scan.names import WORDS, Names
from gradhook.scan.parse import parse, read
from gradhook.scan.records import Found, Mark, Value
from gradhook.scan.statements import module_scope, walk

_LONGEST_CHAIN = 20  # of names that stand for names in other modules


@dataclass(frozen=True)
class Project:
    """The modules walked so far; ``follow`` are the names that are worth following into other modules."""

    root: Path
    follow: frozenset[str] = frozenset()
    users: frozenset[Path] = frozenset()
    """The files that may use such a name though they contain none of our words."""
    founds: dict[Path, Found] = field(default_factory=dict)


def found_in(path: Path, project: Project) -> Found:
    """What the walk finds in a file.

    Raises:
        GradhookError: the file cannot be read or is no Python.
    """
    if path not in project.founds:
        name, base = module_of(path, project.root)
        module = Module(path, _shown(path, project.root), name, base)
        tree = parse(read(path, module.shown), module.shown)
        # Known before it is walked: modules import each other in circles, and then see what there is so far.
        found = project.founds[path] = Found(module_scope(module, tree))
        try:
            walk(found, tree, _names(project))
        except RecursionError as error:
            raise GradhookError(f"{module.shown}:1: nested too deeply to be read", "exclude the file") from error
    return project.founds[path]


def open_project(root: Path, universe: Listing, hits: Iterable[str]) -> Project:
    """The project with the names that its modules give to ours; ``hits`` are the files of it that contain our words."""
    texts = {path: text for file in hits if prefilter.renamed([text := prefilter.readable(path := root / file)])}
    offers = _offers(Project(root, prefilter.renamed(texts.values())), texts)
    users: set[Path] = set()
    while offers:
        users = prefilter.users(universe, offers, {path for paths in offers.values() for path in paths})
        more = _offers(Project(root, frozenset(offers)), {*texts, *users})
        merged = {name: offers.get(name, set()) | more.get(name, set()) for name in offers.keys() | more.keys()}
        if merged == offers:
            break
        offers = merged
    return Project(root, frozenset(offers), frozenset(users))


def _offers(project: Project, paths: Iterable[Path]) -> dict[str, set[Path]]:
    """Names that stand for a mark and do not show it, with the modules that offer them."""
    names = _names(project)
    offers: dict[str, set[Path]] = {}
    for path in paths:
        found = found_or_none(path, project)
        if found is None:
            continue
        for name in {*found.scope.values, *(project.follow if found.scope.stars else ())}:
            if isinstance(names.lookup(name, found.scope), Mark) and not any(word in name for word in WORDS):
                offers.setdefault(name, set()).add(path)
    return offers


def _names(project: Project, depth: int = _LONGEST_CHAIN) -> Names:
    return Names(partial(_export, project, depth), project.follow)


def found_or_none(path: Path, project: Project) -> Found | None:
    try:
        return found_in(path, project)
    except GradhookError:
        return None  # said when the file itself is scanned


def _export(project: Project, depth: int, dotted: str, near: Module) -> Value:
    """What a dotted name means, if a module of the project binds it."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        path = module_file(".".join(parts[:cut]), near, project.root)
        found = path and found_or_none(path, project)
        if found:
            names = _names(project, depth - 1)
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
