"""Is everything on which the answers of an earlier run rested still as it was?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gradhook.execution.cache import installed
from gradhook.execution.cache.fingerprints import UNKNOWN, build, content, digest, stamp
from gradhook.execution.cache.patterns import matches
from gradhook.model.protocol import MISFITS, Depended
from gradhook.model.protocol import build as build_typed

_COMMON = {
    "rows": tuple[int, ...], "variables": tuple[tuple[str, str], ...], "sites": Mapping[str, Any],
    "names": tuple[str, ...], "modules": tuple[tuple[str, str], ...],
}  # fmt: skip


@dataclass
class Now:
    """The state of files, each looked at once."""

    environ: Mapping[str, str]
    contents: dict[str, str] = field(default_factory=dict)

    def has(self, path: str, inside: str) -> bool:
        """Whether a file holds just this."""
        if path not in self.contents:
            self.contents[path] = content(path)
        return self.contents[path] == inside != UNKNOWN


@dataclass(frozen=True)
class World:
    """What one worker saw: rows of path and content, what all answers have in common, and on what it ran."""

    rows: Sequence[Sequence[str]]
    common: Mapping[str, Any]
    environment: Mapping[str, Any]
    now: Now

    @cached_property
    def stands(self) -> bool:
        """Whether what all answers have in common is as it was."""
        common = self.common
        return (
            self.holds(common["rows"])
            and all(_variable(self.now.environ, name) == value for name, value in common["variables"])
            and all(installed.site(place, common["names"]) == found for place, found in common["sites"].items())
            and all(build(file) == found != UNKNOWN for file, found in common["modules"])
        )

    def holds(self, numbers: Sequence[int]) -> bool:
        """Whether the files with these numbers are as they were."""
        return all(self.now.has(*self.rows[number]) for number in numbers)


def record(depended: Depended, environment: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """What is to be kept of what a worker saw; files that changed since they were opened are marked as unknown."""
    common = dict(depended.common)
    common["variables"] = [[name, _variable(environ, name)] for name in common.get("variables", ())]
    rows = [[path, inside if _is_unchanged(path, state, inside) else UNKNOWN] for path, state, inside in depended.files]
    return {"rows": rows, "common": common, "environment": dict(environment)}


def restored(kept: Any, now: Now) -> World | None:
    """The world of a record, if it is one."""
    try:
        rows = build_typed(tuple[tuple[str, str], ...], kept["rows"])
        common = {name: build_typed(kind, kept["common"][name]) for name, kind in _COMMON.items()}
        return World(rows, common, build_typed(Mapping[str, Any], kept["environment"]), now)
    except MISFITS:
        return None


def name_of(kept: Mapping[str, Any]) -> str:
    """A name that belongs to this very record."""
    return digest(json.dumps(kept, sort_keys=True))


def mean_the_same(kept: Sequence[Any]) -> bool:
    """Whether the patterns of a ``depends_on`` still mean the files that they meant."""
    base, patterns, files = kept
    return sorted({file for pattern in patterns for file in matches(base, pattern)}) == sorted(files)


def _is_unchanged(path: str, state: str, inside: str) -> bool:
    """Whether a file is what it was when it was opened: what was read is then what is there.

    The state of a folder says nothing: it changes with what is hidden in it.
    """
    same = not state or path.endswith("/") or stamp(path) == state
    return same and content(path) == inside != UNKNOWN


def _variable(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name)
    return "" if value is None else digest(value)
