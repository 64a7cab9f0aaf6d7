"""Record the distributions in a folder of ``sys.path``, their builds, and its ``.pth`` files.

Folder names and two small files of each relevant distribution are read; ``importlib.metadata`` would search everything
that is installed.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from gradhook.execution.cache.fingerprints import content, digest

ALWAYS = frozenset({"jax", "jaxlib", "numpy"})
_METADATA = (".dist-info", ".egg-info", ".egg-link")
_FILES = ("METADATA", "RECORD", "PKG-INFO", "direct_url.json")
_PLAIN = re.compile(r"[-_.]+")

Site = dict[str, Any]
"""What is remembered of a folder: ``{"pth": {name: content}, "distributions": {name: {metadata folder: digest}}}``."""


def site(folder: str, names: Collection[str]) -> Site:
    """The builds of these distributions and of JAX's in a folder, and its ``.pth`` files."""
    entries = _entries(folder)
    wanted = ALWAYS.union(names)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for entry in entries:
        if entry.endswith(_METADATA) and (name := project(entry)) in wanted:
            found[name][entry] = _build(os.path.join(folder, entry))  # noqa: PTH118
    pth = {entry: content(os.path.join(folder, entry)) for entry in entries if entry.endswith(".pth")}  # noqa: PTH118
    return {"pth": pth, "distributions": dict(found)}


def owners(folder: str, modules: Collection[str]) -> set[str]:
    """The distributions in a folder that contain one of the modules, or do not list their modules."""
    return {
        project(entry)
        for entry in _entries(folder)
        if entry.endswith(_METADATA) and _brings(os.path.join(folder, entry), modules)  # noqa: PTH118
    }


def project(entry: str) -> str:
    """The normalised name of the distribution with this metadata folder (PEP 503)."""
    return _PLAIN.sub("-", entry.rpartition(".")[0].partition("-")[0]).lower()


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []


def _build(metadata: str) -> str:
    """A digest of a distribution's records, in which two builds of one version differ."""
    if os.path.isfile(metadata):  # noqa: PTH113
        return content(metadata)
    return digest(*(content(os.path.join(metadata, name)) for name in _FILES))  # noqa: PTH118


def _brings(metadata: str, modules: Collection[str]) -> bool:
    names = {re.split(r"[/.]", line)[0] for line in _recorded(metadata)}
    return not names or not names.isdisjoint(modules)


def _recorded(metadata: str) -> Iterable[str]:
    """The first words of the lines that list a distribution's files."""
    for name in ("top_level.txt", "RECORD", "SOURCES.txt"):
        try:
            with open(os.path.join(metadata, name), encoding="utf-8", errors="replace") as file:  # noqa: PTH118, PTH123
                if lines := [line.strip() for line in file if line.strip()]:
                    return lines
        except OSError:
            continue
    return []
