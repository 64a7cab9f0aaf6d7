"""Find and read the configuration file of a project, and the lines of its keys.

``tomllib`` keeps no lines, so they are found by reading the text again, line by line.

As with ruff: ``gradhook.toml`` goes before ``[tool.gradhook]`` of the ``pyproject.toml`` beside it, and a folder
without either has that of the nearest folder around it, up to the edge of the repository.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gradhook.config.values import short_repr
from gradhook.model.errors import GradhookError

_DEPTH = 5  # tool.gradhook.targets.NAME.OPTION
KeyPath = tuple[str, ...]


class KeyLines:
    """The lines of tables and keys of one file, read when first needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    def line(self, path: KeyPath) -> int:
        """The line of a key or table; failing that, of the table around it; failing that, 1."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        lines: dict[KeyPath, int] = {}
        table: KeyPath = ()
        for number, line in enumerate(self._text.split("\n"), 1):
            if header := _header(line):
                table = header
                lines.setdefault(table, number)
            elif key := _key(line):
                lines.setdefault((*table, *key), number)
        for path, number in sorted(lines.items(), key=lambda item: item[1]):
            for length in range(
                1, min(len(path), _DEPTH)
            ):  # tables that no line opens stand where their first child does
                lines.setdefault(path[:length], number)
        return lines


def _header(line: str) -> KeyPath:
    """``[tool."a.b"] # comment`` as a path; empty for every other line."""
    return _path(line) if line.lstrip().startswith("[") else ()


def _key(line: str) -> KeyPath:
    """``key = value`` as a path; empty for every other line."""
    name, equals, _ = line.partition("=")
    return _path(f"{name} = 0") if equals else ()


def _path(toml: str) -> KeyPath:
    """The one path of keys in a line of TOML; empty when it is no such line."""
    try:
        node: Any = tomllib.loads(toml)
    except (ValueError, RecursionError):
        return ()
    path: list[str] = []
    while node and isinstance(node, (dict, list)):
        if isinstance(node, list):
            node = node[0]
            continue
        key, node = next(iter(node.items()))
        path.append(key)
    return tuple(path)


PYPROJECT, GRADHOOK_TOML = "pyproject.toml", "gradhook.toml"
FILES = (PYPROJECT, GRADHOOK_TOML)
_TABLE = ("tool", "gradhook")


@dataclass(frozen=True)
class Source:
    """The configuration file to read: the nearest, the one at ``path``, or none."""

    path: Path | None = None
    isolated: bool = False


@dataclass(frozen=True)
class File:
    """A file that was read: its text, the table of settings and the path of that table in the file.

    ``shadowed`` is a file with settings beside it that is not read.
    """

    path: Path
    text: str
    table: dict[str, Any]
    prefix: KeyPath
    shadowed: Path | None = None


def project_root(start: Path) -> Path:
    """The nearest folder upwards with a configuration file or ``.git``; else the folder of ``start``.

    The search ends at the repository's edge: settings never come from a folder around it.
    """
    start = Path(os.path.abspath(start))  # noqa: PTH100  # Path.absolute keeps "..", Path.resolve follows links
    folder = start if start.is_dir() else start.parent
    for parent in (folder, *folder.parents):
        if any((parent / name).is_file() for name in FILES) or (parent / ".git").exists():
            return parent
    return folder


def read_config_file(root: Path, source: Source) -> File | None:
    """The configuration of the project at ``root``; None without one.

    Raises:
        GradhookError: a file cannot be read, or is no TOML.
    """
    if source.isolated:
        return None
    if source.path is not None:
        path = Path(os.path.abspath(source.path))  # noqa: PTH100  # as above
        return _read_named(path)
    found = (_read_folder(folder) for folder in _enclosing_folders(root))
    return next((file for file in found if file), None)


def display_path(path: Path) -> str:
    """Relative to the working directory where that is shorter."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _read_named(path: Path) -> File:
    """The file of ``--config``: a ``pyproject.toml``, or one with the keys at its top."""
    file = _read_pyproject(path) if path.name == PYPROJECT else _read_gradhook_toml(path)
    if path.name == PYPROJECT and not file.prefix:
        raise GradhookError(f"{display_path(path)} has no [tool.gradhook]", "name another file, or write the table")
    return file


def _enclosing_folders(root: Path) -> Iterator[Path]:
    """The folder and, inside a repository, those around it."""
    folders = (root, *root.parents)
    edge = next((n for n, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    yield from folders[: edge + 1]


def _read_folder(folder: Path) -> File | None:
    pyproject = _read_pyproject(folder / PYPROJECT) if (folder / PYPROJECT).is_file() else None
    pyproject_settings = pyproject if pyproject and pyproject.prefix else None
    if not (folder / GRADHOOK_TOML).is_file():
        return pyproject_settings
    own = _read_gradhook_toml(folder / GRADHOOK_TOML)
    return File(own.path, own.text, own.table, own.prefix, pyproject_settings.path if pyproject_settings else None)


def _read_gradhook_toml(path: Path) -> File:
    text = _read_text(path)
    return File(path, text, _parse_toml(text, path), ())


def _read_pyproject(path: Path) -> File:
    """``[tool.gradhook]``; an empty table with an empty prefix where there is none."""
    text = _read_text(path)
    table: Any = _parse_toml(text, path)
    for key in _TABLE:
        if key not in table:
            return File(path, text, {}, ())
        table = table[key]
        if not isinstance(table, dict):
            raise GradhookError(
                f"{display_path(path)}: {key} must be a table, not {short_repr(table)}", "write [tool.gradhook]"
            )
    return File(path, text, dict(table), _TABLE)


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode().replace("\r\n", "\n")
    except OSError as error:
        raise GradhookError(
            f"{display_path(path)} cannot be read: {error.strerror}", "check its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise GradhookError(f"{display_path(path)} is not UTF-8 (byte {error.start})", "save it as UTF-8") from error


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{display_path(path)}:{line[1]}" if line else display_path(path)
        raise GradhookError(f"{place}: not valid TOML: {error}", "mend the file and try again") from error
