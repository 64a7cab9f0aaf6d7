"""Write and read cache entries safely.

An entry is a file of its own: a signature, a line break, JSON. It is written beside its place and moved there, so that
it is whole or not there. What cannot be read, is no entry of this user's, or is spoilt, counts as not there.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradhook.execution.cache import signing_key

FOLDER = ".gradhook_cache"
FORMAT = "1"
MOST = 20_000
"""Entries of a kind that are kept; the oldest go first, a fifth at a time."""
_DAY = 24 * 3600
_MARKS = {
    ".gitignore": "# Made by gradhook.\n*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Made by gradhook; see https://bford.info/cachedir/\n",
}


@dataclass(frozen=True)
class Store:
    """The cache of one project, and the key that signs its entries."""

    folder: Path
    key: bytes

    def read(self, kind: str, name: str) -> Any:
        """The entry, or ``None`` if there is no valid one."""
        path = self.folder / kind / name
        try:
            data = path.read_bytes()
        except OSError:
            return None
        return self._opened(kind, name, data)

    def write(self, kind: str, name: str, value: Any) -> None:
        """Keep an entry in place of an older one of the same name.

        Raises:
            OSError: it cannot be written.
        """
        folder = self.folder / kind
        folder.mkdir(parents=True, exist_ok=True)
        body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
        _replace(folder / name, signing_key.sign(self.key, f"{kind}/{name}", body).encode() + b"\n" + body)

    def all(self, kind: str) -> Iterator[Any]:
        """Every entry of a kind."""
        try:
            names = sorted(os.listdir(self.folder / kind))  # noqa: PTH208
        except OSError:
            return
        yield from (entry for name in names if (entry := self.read(kind, name)) is not None)

    def used(self, kind: str, name: str) -> None:
        """Update the time of an entry that was used, once a day."""
        path = self.folder / kind / name
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - _DAY:
                os.utime(path)

    def prepare(self) -> None:
        """Create the folder, with files that make git and backups skip it.

        Raises:
            OSError: it cannot be made.
        """
        self.folder.mkdir(exist_ok=True, parents=True)
        for name, text in _MARKS.items():
            if not (self.folder.parent / name).is_file():
                _replace(self.folder.parent / name, text.encode())

    def prune(self, most: int = MOST) -> None:
        """Delete the oldest entries beyond ``most`` of a kind, and drafts left by killed processes."""
        with contextlib.suppress(OSError):
            for kind in (entry for entry in os.scandir(self.folder) if entry.is_dir()):
                _prune(kind.path, most)

    def _opened(self, kind: str, name: str, data: bytes) -> Any:
        signature, _, body = data.partition(b"\n")
        if not signing_key.is_signed(self.key, f"{kind}/{name}", body, signature.decode("ascii", "replace")):
            return None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return None


def open_store(root: Path, environ: Mapping[str, str]) -> Store:
    """The cache of the project at ``root``; only the user's key is created now.

    Raises:
        OSError: there is no key and none can be made.
    """
    return Store(root / FOLDER / FORMAT, signing_key.key(environ))


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f"{path.name}-{secrets.token_hex(4)}.draft")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _prune(folder: str, most: int) -> None:
    entries = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(folder)]
    old = time.time() - _DAY
    gone = [path for when, path in entries if path.endswith(".draft") and when < old]
    if len(entries) > most:
        gone += [path for _, path in sorted(entries)[: len(entries) - most * 4 // 5]]
    for path in gone:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108
