"""Write and read cache entries safely, signed with a key that only this user on this machine has.

It lies in the user's own cache folder, outside of every repository. It guards against entries that others made, not
against code that runs as this user: such code can read the key.

An entry is a file of its own: a signature, a line break, JSON. It is written beside its place and moved there, so that
it is whole or not there. What cannot be read, is no entry of this user's, or is spoilt, counts as not there.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SIZE = 32


def key(environ: Mapping[str, str]) -> bytes:
    """The user's key, created on first use.

    Raises:
        OSError: it can be neither read nor written.
    """
    path = _folder(environ) / "gradhook" / "key"
    found = _private(path)
    return found or _made(path)


def sign(secret: bytes, name: str, body: bytes) -> str:
    """The signature of the entry ``name`` with this body, which only the key can make."""
    return hmac.new(secret, name.encode() + b"\0" + body, "sha256").hexdigest()


def is_signed(secret: bytes, name: str, body: bytes, signature: str) -> bool:
    """Whether ``signature`` belongs to the entry."""
    return hmac.compare_digest(sign(secret, name, body).encode(), signature.encode("utf-8", "replace"))


def _folder(environ: Mapping[str, str]) -> Path:
    """The folder of the user's caches.

    Raises:
        OSError: there is no such place.
    """
    named = environ.get("XDG_CACHE_HOME") or (environ.get("LOCALAPPDATA") if sys.platform == "win32" else "")
    if named and Path(named).is_absolute():
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError as error:
        raise OSError("there is no home folder for the cache's key") from error


def _private(path: Path) -> bytes:
    """The key, if it is complete and no other user can read it; else empty."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            found = file.read(_SIZE + 1)
    except FileNotFoundError:
        return b""
    shared = sys.platform != "win32" and bool(stat.S_IMODE(mode) & 0o077)
    return b"" if shared or len(found) != _SIZE else found


def _made(path: Path) -> bytes:
    """A new key; of several processes that create one at once the last wins, the others miss once."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = secrets.token_bytes(_SIZE)
    draft = path.with_name(f"{path.name}-{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(made)
        draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return _private(path) or made


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
        _replace(folder / name, sign(self.key, f"{kind}/{name}", body).encode() + b"\n" + body)

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
        if not is_signed(self.key, f"{kind}/{name}", body, signature.decode("ascii", "replace")):
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
    return Store(root / FOLDER / FORMAT, key(environ))


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
