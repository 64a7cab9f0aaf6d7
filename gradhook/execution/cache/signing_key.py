"""Sign cache entries with a key that only this user on this machine has.

It lies in the user's own cache folder, outside of every repository. It guards against entries that others made, not
against code that runs as this user: such code can read the key.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

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
