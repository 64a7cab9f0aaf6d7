"""Sign the lines of the protocol, so that a line which user code writes is detected.

User code runs in the worker's process and can find the protocol's descriptor. So both ends share a key, which the
worker reads before any user code runs, and each line carries a keyed hash of its number and text: a line that is
written, repeated, left out or moved is detected. Code that looks for the key in the memory of its own process finds it.
"""

from __future__ import annotations

import hmac
import itertools
import secrets
from collections.abc import Callable
from hashlib import blake2b

_SIZE = 16


class ForgedError(Exception):
    """A line that the worker's own loop did not send, or not in this place."""


def new_key() -> str:
    """A key for one worker."""
    return secrets.token_hex(_SIZE)


def signer(key: str) -> Callable[[str], str]:
    """A function that signs one line after the other."""
    numbers = itertools.count()
    return lambda text: f"{_hash(key, next(numbers), text)} {text}"


def verifier(key: str) -> Callable[[str], str | None]:
    """A function that verifies one line after the other and removes the signatures.

    It returns ``None`` for lines before the first signed one, which an interpreter may print at its start, and raises
    ``ForgedError`` for all others that are not in their place.
    """
    read = 0

    def verify(line: str) -> str | None:
        nonlocal read
        signature, _, text = line.partition(" ")
        if hmac.compare_digest(signature.encode(), _hash(key, read, text).encode()):
            read += 1
            return text
        if read:
            raise ForgedError
        return None

    return verify


def _hash(key: str, number: int, text: str) -> str:
    return blake2b(f"{number} {text}".encode(), key=bytes.fromhex(key), digest_size=_SIZE).hexdigest()
