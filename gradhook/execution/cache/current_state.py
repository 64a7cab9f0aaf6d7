"""Compare what an earlier run depended on with the current state."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gradhook.execution.cache import fingerprints
from gradhook.execution.cache.fingerprints import LARGE, UNKNOWN, build, content, content_of, digest, matches, stamp
from gradhook.execution.cache.syntax import NONE, Shape, Shapes, asks_for_lines
from gradhook.model.protocol import DECODING_ERRORS, DependencyReport
from gradhook.model.protocol import from_json as build_typed

_COMMON = {
    "rows": tuple[int, ...], "variables": tuple[tuple[str, str], ...], "sites": Mapping[str, Any],
    "names": tuple[str, ...], "modules": tuple[tuple[str, str], ...],
}  # fmt: skip


Row = tuple[str, str, str, str]
"""A path, its content, and for code the two digests of its ``Shape``; empty where only the content itself will do."""


@dataclass
class CurrentFiles:
    """The current contents of files, each read once."""

    environ: Mapping[str, str]
    shapes: Shapes = field(default_factory=Shapes)
    contents: dict[str, str] = field(default_factory=dict)

    def has(self, row: Row, on_lines: bool) -> bool:
        """Whether a file holds just this, or code that says the same (``on_lines``: on the same lines)."""
        path, inside, *shape = row
        if path not in self.contents:
            self.contents[path] = content(path)
        if self.contents[path] == inside != UNKNOWN:
            return True
        return bool(shape[on_lines]) and self._shape(path)[on_lines] == shape[on_lines]

    def _shape(self, path: str) -> Shape:
        data = _code(path)
        return NONE if data is None else self.shapes.of(data)


@dataclass(frozen=True)
class RunRecord:
    """The dependencies that one worker recorded: rows of path and content, common ones, environment."""

    rows: Sequence[Row]
    common: Mapping[str, Any]
    environment: Mapping[str, Any]
    now: CurrentFiles

    @cached_property
    def is_current(self) -> bool:
        """Whether everything that all results depend on is unchanged."""
        common = self.common
        return (
            self.holds(common["rows"], on_lines=False)
            and all(_variable(self.now.environ, name) == value for name, value in common["variables"])
            and all(fingerprints.site(place, common["names"]) == found for place, found in common["sites"].items())
            and all(build(file) == found != UNKNOWN for file, found in common["modules"])
        )

    def holds(self, numbers: Sequence[int], on_lines: bool) -> bool:
        """Whether the files with these numbers are as they were; ``on_lines``: down to the lines of code."""
        return all(self.now.has(self.rows[number], on_lines) for number in numbers)

    def files(self, numbers: Sequence[int]) -> frozenset[str]:
        """The paths of the files with these numbers."""
        return frozenset(self.rows[number][0] for number in numbers)


def record(
    depended: DependencyReport, environment: Mapping[str, Any], environ: Mapping[str, str], shapes: Shapes
) -> dict[str, Any]:
    """What is to be kept of what a worker saw; files that changed since they were opened are marked as unknown."""
    common = dict(depended.common)
    common["variables"] = [[name, _variable(environ, name)] for name in common.get("variables", ())]
    kept = [(path, inside if _is_unchanged(path, state, inside) else UNKNOWN) for path, state, inside in depended.files]
    known = _shapes([path for path, _ in kept], {kept[n][0]: kept[n][1] for n in depended.sources}, shapes)
    rows = [[path, inside, *known.get(path, NONE)] for path, inside in kept]
    return {"rows": rows, "common": common, "environment": dict(environment)}


def _shapes(paths: Sequence[str], sources: Mapping[str, str], shapes: Shapes) -> dict[str, Shape]:
    """The shapes of code that was imported and otherwise not read; of none where some of it asks for lines."""
    texts = {path: data for path in paths if path.endswith(".py") and (data := _code(path)) is not None}
    if any(map(asks_for_lines, texts.values())):
        return {}
    return {path: shapes.of(texts[path]) for path, inside in sources.items() if _is(texts.get(path), inside)}


def restored(kept: Any, now: CurrentFiles) -> RunRecord | None:
    """The record in a cache entry; ``None`` if the entry is not valid."""
    try:
        rows = build_typed(tuple[Row, ...], kept["rows"])
        common = {name: build_typed(kind, kept["common"][name]) for name, kind in _COMMON.items()}
        return RunRecord(rows, common, build_typed(Mapping[str, Any], kept["environment"]), now)
    except DECODING_ERRORS:
        return None


def name_of(kept: Mapping[str, Any]) -> str:
    """The name of a record: a digest of its content."""
    return digest(json.dumps(kept, sort_keys=True))


def match_same_files(kept: Sequence[Any]) -> bool:
    """Whether the patterns of a ``depends_on`` still match the same files."""
    base, patterns, files = kept
    return sorted({file for pattern in patterns for file in matches(base, pattern)}) == sorted(files)


def _is_unchanged(path: str, state: str, inside: str) -> bool:
    """Whether a file is unchanged since it was opened, so that its content is what was read.

    The state of a folder says nothing: it changes with what is hidden in it.
    """
    same = not state or path.endswith("/") or stamp(path) == state
    return same and content(path) == inside != UNKNOWN


def _is(data: bytes | None, inside: str) -> bool:
    return data is not None and content_of(data) == inside


def _code(path: str) -> bytes | None:
    """The bytes of a file of code; none of one that is not there or too large to be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 -- asked of every changed file of every run
            data = file.read(LARGE + 1)
    except (OSError, ValueError):
        return None
    return None if len(data) > LARGE else data


def _variable(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name)
    return "" if value is None else digest(value)
