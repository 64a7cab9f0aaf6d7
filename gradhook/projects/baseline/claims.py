"""Read the claims on both sides of a comparison, and match them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.model.results import Target
from gradhook.projects.baseline.claim_options import OptionValue, option_in_config, option_in_source
from gradhook.projects.baseline.revision import Revision
from gradhook.projects.discovery import Project
from gradhook.scan.parse import parse, read


@dataclass(frozen=True)
class SourceClaim:
    """A claim of one side of the comparison.

    ``path`` starts at the top of the repository, ``home`` is the file of the function.

    ``defaults`` are the configuration's values for options that the annotation leaves out.
    """

    name: str
    path: str
    line: int
    kind: str
    options: Mapping[str, OptionValue]
    defaults: Mapping[str, object]
    home: str = ""
    is_call: bool = False

    @property
    def qualname(self) -> str:
        """The name within the module."""
        return self.name.partition(":")[2]


def claims(projects: Sequence[Project], top: Path) -> list[SourceClaim]:
    """The claims of projects below ``top``."""
    trees = cache(_tree)
    return [claim for project in projects for claim in _of(project, top, trees)]


def _of(project: Project, top: Path, trees: Callable[[Path], ast.Module]) -> Iterator[SourceClaim]:
    settings = project.config.settings
    defaults = {name: getattr(settings, name) for name in ("rtol", "atol", "order", "modes")}
    for job in project.jobs:
        target, root = job.target, project.config.root
        if target.source == "config":
            options = {name.replace("-", "_"): option_in_config(value) for name, value in (job.options or {}).items()}
            home = _home(target, root)
        else:
            options = _options(trees(root / (target.mark_path or target.path)), target)
            home = root / target.path
        yield SourceClaim(
            target.name, _below(top, root / target.path), target.line, target.claim.value, options, defaults,
            _below(top, home) if home else "", target.source == "call",
        )  # fmt: skip


def _home(target: Target, root: Path) -> Path | None:
    """The file of the project that a configured target is in."""
    stem = target.module.replace(".", "/")
    files = (base / f"{stem}{end}" for base in (root, root / "src") for end in (".py", "/__init__.py"))
    return next((file for file in files if file.is_file()), None)


def _below(top: Path, path: Path) -> str:
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else path.as_posix()


def _tree(path: Path) -> ast.Module:
    try:
        return parse(read(path, str(path)), str(path))
    except GradhookError:
        return ast.Module([], [])


def _options(tree: ast.Module, target: Target) -> dict[str, OptionValue]:
    """The keyword arguments of the call at the target's mark; ``**more`` under its own text."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_at(node, target)]
    said = [keyword for call in calls for keyword in call.keywords]
    return {keyword.arg or f"**{ast.unparse(keyword.value)}": option_in_source(keyword.value) for keyword in said}


def _is_at(call: ast.Call, target: Target) -> bool:
    return call.col_offset == target.column and target.mark in (call.lineno, call.func.end_lineno)


def defined(tree: ast.Module) -> dict[str, int]:
    """The qualified names of a module's own functions, classes and values, with their lines."""
    return dict(_defined(tree.body, ""))


def _defined(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, int]]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name, node.lineno
                yield from _defined(node.body, f"{prefix}{name}.<locals>.")
            case ast.ClassDef(name=name, body=inner):
                yield prefix + name, node.lineno
                yield from _defined(inner, f"{prefix}{name}.")
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
                yield from ((prefix + name, node.lineno) for name in names)
            case _:
                blocks = (getattr(node, name, ()) for name in ("body", "orelse", "finalbody", "handlers", "cases"))
                yield from _defined([inner for block in blocks for inner in _statements(block)], prefix)


def _statements(block: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    for node in block:
        if isinstance(node, ast.stmt):
            yield node
        else:
            yield from getattr(node, "body", ())


def names_in(path: Path) -> dict[str, int]:
    """``defined`` of a file; none if it is missing or not valid Python."""
    return defined(_tree(path)) if path.is_file() else {}


MatchKey = Callable[[SourceClaim], object]


def matched_claims(
    before: Sequence[SourceClaim], now: Sequence[SourceClaim], past: Revision
) -> Iterator[tuple[SourceClaim, SourceClaim | None]]:
    """Each claim of the old revision with its claim in the new one.

    First the same function in the same file (or where git saw the file move), then the same name in the configuration
    or another file, then a function of that name that no claim of then was about.
    """
    left, open_ = list(now), list(before)
    pairs: list[tuple[SourceClaim, SourceClaim]] = []
    for old_key, new_key in _keys(past):
        for old in list(open_):
            new = next((new for new in left if new_key(new) == old_key(old)), None)
            if new:
                pairs.append((old, new))
                open_.remove(old)
                left.remove(new)
    yield from pairs
    yield from ((old, None) for old in open_)


def _keys(past: Revision) -> list[tuple[MatchKey, MatchKey]]:
    """The keys by which claims are matched, for an old and a new claim."""
    moved = past.renames

    def place(claim: SourceClaim) -> object:
        return moved.get(claim.path, claim.path), claim.qualname

    def place_and_kind(claim: SourceClaim) -> object:
        return place(claim), claim.kind

    def place_kind_and_options(claim: SourceClaim) -> object:
        return place(claim), claim.kind, _texts(claim)

    def touched_qualname(new: SourceClaim) -> object:
        return new.qualname if new.path in past.touched else None

    same = (place_kind_and_options, place_and_kind, place, attrgetter("name"))
    return [*((key, key) for key in same), (attrgetter("qualname"), touched_qualname)]


def _texts(claim: SourceClaim) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value.text) for name, value in claim.options.items()))


def remaining_file(old: SourceClaim, past: Revision) -> str | None:
    """The file that still has the function of a removed claim; ``None`` when both are gone.

    A function that the old file imported still exists elsewhere, so its file is the one with the claim.
    """
    names = cache(names_in)
    home = old.home or old.path
    here = past.renames.get(home, home)
    if old.qualname not in names(past.tree / home):
        is_local = "<" in old.qualname and not (past.top / here).is_file()
        return None if is_local else past.renames.get(old.path, old.path)
    if old.qualname in names(past.top / here):
        return here
    return next((file for file in _new_homes(old, past) if old.qualname in names(past.top / file)), None)


def _new_homes(old: SourceClaim, past: Revision) -> Iterator[str]:
    """The touched Python files that did not define a function of this name before."""
    for file in sorted(past.touched):
        then = past.tree / Path(file)
        if file.endswith(".py") and old.qualname not in names_in(then):
            yield file
