"""Map files to module names and dotted names to files.

A file in a folder with ``__init__.py`` belongs to that package, and so on upwards. Otherwise, below a folder ``src``
the path from there gives the dotted name (packages without ``__init__.py`` included); elsewhere the file is a module of
its own, named by its stem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Module:
    """A Python file and its import name; ``base`` is the folder from which ``name`` is imported."""

    path: Path
    shown: str
    name: str
    base: Path

    @cached_property
    def package(self) -> str:
        """The package that a relative import of one dot starts from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]

    def absolute(self, name: str, level: int) -> str:
        """The absolute name of a ``from`` import; one dot is the own package, each further one its parent."""
        package = self.package.split(".")
        above = package[: len(package) - level + 1] if level else []
        return ".".join(filter(None, [*above, name]))


def module_name_of(path: Path, root: Path) -> tuple[str, Path]:
    """The dotted name of a file and the folder from which it is imported."""
    base = path.parent
    while (base / "__init__.py").is_file() and base != base.parent:
        base = base.parent
    source = _source_folder(base, root)
    if source and all(part.isidentifier() for part in base.relative_to(source).parts):
        base = source
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and parts[:-1] else parts), base


def _source_folder(folder: Path, root: Path) -> Path | None:
    """The nearest ``src`` at or above ``folder``, within the root, that is not itself a package."""
    for above in (folder, *folder.parents):
        if above.name == "src" and not (above / "__init__.py").is_file():
            return above
        if above == root:
            break
    return None


def module_file(dotted: str, near: Module, root: Path) -> Path | None:
    """The file of the project that ``dotted`` means in a module; ``None`` if there is none."""
    inner = dotted.replace(".", "/")
    for base in dict.fromkeys((near.base, near.path.parent, root, root / "src")):
        for file in (base / inner / "__init__.py", base / f"{inner}.py"):
            if file.is_file():
                return file
    return None
