"""Read the claims and their options from the files of one side of a comparison."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.model.results import Target
from gradhook.projects.baseline.claim_options import OptionValue, option_in_config, option_in_source
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
