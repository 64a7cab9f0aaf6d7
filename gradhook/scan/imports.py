"""Follow the import statements of a project's files, directly and through other files.

Imports at any depth of a file count, and the packages around an imported module, which are imported with it. What is
imported by a name that is computed is not seen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.scan.modules import Module, module_file, module_name_of
from gradhook.scan.parse import parse, read

ImportClosure = Callable[[Path], frozenset[Path]]


def import_closure(root: Path) -> ImportClosure:
    """A function from a file to the files below ``root`` that its import reads, itself included."""
    direct = cache(lambda path: frozenset(_direct(path, root)))

    def reached(path: Path) -> frozenset[Path]:
        seen: set[Path] = set()
        waiting = {path}
        while waiting:
            seen |= waiting
            waiting = {found for file in waiting for found in direct(file)} - seen
        return frozenset(seen)

    return reached


def file_of(module: str, root: Path) -> Path | None:
    """The file of the project that a dotted module name means, seen from the root."""
    return module_file(module, Module(root / "x.py", "", "x", root), root)


def _direct(path: Path, root: Path) -> Iterator[Path]:
    """The files that a file's own statements import; none if it cannot be read."""
    name, base = module_name_of(path, root)
    module = Module(path, path.name, name, base)
    try:
        tree = parse(read(path, path.name), path.name)
    except GradhookError:
        return
    for dotted in _dotted(tree, module):
        parts = dotted.split(".")
        for end in range(1, len(parts) + 1):
            if found := module_file(".".join(parts[:end]), module, root):
                yield found


def _dotted(tree: ast.Module, module: Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = _home(node, module)
            yield from (f"{home}.{alias.name}".strip(".") for alias in node.names)


def _home(node: ast.ImportFrom, module: Module) -> str:
    """The absolute name of the module that a ``from`` statement imports from."""
    if not node.level:
        return node.module or ""
    around = module.package.split(".")
    around = around[: len(around) - node.level + 1]
    return ".".join([*filter(None, around), *filter(None, [node.module])])
