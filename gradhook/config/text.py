"""The lines of tables and keys in a TOML file.

``tomllib`` keeps no lines, so they are found by reading the text again, line by line.
"""

from __future__ import annotations

import tomllib
from functools import cached_property
from typing import Any

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
