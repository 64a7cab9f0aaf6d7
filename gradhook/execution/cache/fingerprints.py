"""Fingerprint files, by content or by their state on disk, and the distributions in a folder.

Folder names and two small files of each relevant distribution are read; ``importlib.metadata`` would search everything
that is installed.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from gradhook.model.errors import INSTALLED

LARGE = 16 * 2**20
"""From so many bytes on a file is known by its state on the disk; reading it would cost more than it is worth."""
UNKNOWN = "?"
"""The content of what could not be read, which is like nothing else, not even itself."""
_DEVICES = ("/proc/", "/sys/", "/dev/")
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120


def digest(*parts: str | bytes) -> str:
    """The SHA-256 of the parts with their lengths."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        found.update(b"%d:" % len(data) + data)
    return found.hexdigest()


def stamp(path: str) -> str:
    """A file's size, times and inode; empty if there is none. It changes whenever the content does.

    The inode's change time is included because it cannot be set back.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 -- fast: called for every file of every run
    except (OSError, ValueError):
        return ""
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"


def build(path: str) -> str:
    """The state of an installed file without its inode, which changes when others link to it."""
    return ":".join(stamp(path).split(":")[:2])


def content(path: str) -> str:
    """A digest of a file's content, or of a large file's state; empty if there is no file.

    ``"folder"`` for a folder, or the digest of its names where the path ends with a slash; ``"?"`` for what cannot be
    read.
    """
    if path.endswith("/"):
        return _names(path)
    try:
        with open(path, "rb") as file:  # noqa: PTH123 -- fast: called for every file of every run
            if os.fstat(file.fileno()).st_size > LARGE:
                return f"state {stamp(path)}"
            return content_of(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return "folder" if os.path.isdir(path) else UNKNOWN  # noqa: PTH112


def content_of(data: bytes) -> str:
    """The content of a file with these bytes."""
    return hashlib.sha256(data).hexdigest()


def _names(folder: str) -> str:
    """A digest of the names in a folder, without hidden ones and ``__pycache__``."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return ""
    return "names " + digest(*(name for name in names if not name.startswith((".", "__pycache__"))))


def seen(path: str) -> tuple[str, str]:
    """Stamp and content; the stamp is taken first, so that a change in between shows."""
    return stamp(path), content(path)


@cache
def is_foreign(path: str) -> bool:
    """Whether a file belongs to a distribution, Python, gradhook or the system, not to the user."""
    return is_standard(path) or is_installed(path) or is_own(path) or path.startswith(_DEVICES)


def is_own(path: str) -> bool:
    """Whether a file is part of gradhook."""
    return path.startswith(_OWN + os.sep)


def is_installed(path: str) -> bool:
    """Whether a file lies where installers put distributions."""
    return not INSTALLED.isdisjoint(path.replace("\\", "/").split("/"))


@cache
def is_standard(path: str) -> bool:
    """Whether a file is part of Python."""
    return path.startswith(("<", _standard_library() + os.sep)) and not is_installed(path)


@cache
def _standard_library() -> str:
    """Where Python's own modules lie; ``os`` is one of them."""
    return os.path.dirname(os.path.abspath(str(os.__file__)))  # noqa: PTH100, PTH120


def matches(base: str, pattern: str) -> list[str]:
    """The files that a path or glob matches from a folder, sorted; a folder means all files below it."""
    whole = os.path.join(base, os.path.expanduser(pattern))  # noqa: PTH111, PTH118
    found = [whole] if os.path.exists(whole) else glob.glob(whole, recursive=True)  # noqa: PTH110, PTH207
    files = [file for path in found for file in (_below(path) if os.path.isdir(path) else [path])]  # noqa: PTH112
    return sorted({os.path.normpath(file) for file in files})


def _below(folder: str) -> list[str]:
    return [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names]  # noqa: PTH118


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
