"""Did a line of the protocol come from the worker's own loop, whole and in its place?

User code runs in the worker's process and can find the protocol's descriptor. So both ends share a key, which the
worker reads before any user code runs, and each line carries a keyed hash of its number and text: what others write,
repeat, leave out or move is no line of ours. Code that looks for the key in the memory of its own process finds it.
"""

from __future__ import annotations

import hmac
import itertools
import secrets
from collections.abc import Callable
from hashlib import blake2b

_SIZE = 16


class ForgedError(Exception):
    """A line that is not what the worker's loop had to say next."""


def new_key() -> str:
    """A key for one worker."""
    return secrets.token_hex(_SIZE)


def sealer(key: str) -> Callable[[str], str]:
    """A function that seals one line after the other."""
    numbers = itertools.count()
    return lambda text: f"{_hash(key, next(numbers), text)} {text}"


def opener(key: str) -> Callable[[str], str | None]:
    """A function that takes the seals off again, one line after the other.

    It gives ``None`` for lines before the first sealed one, which an interpreter prints that is set up to, and raises
    ``ForgedError`` for all others that are not in their place.
    """
    read = 0

    def opened(line: str) -> str | None:
        nonlocal read
        seal, _, text = line.partition(" ")
        if hmac.compare_digest(seal.encode(), _hash(key, read, text).encode()):
            read += 1
            return text
        if read:
            raise ForgedError
        return None

    return opened


def _hash(key: str, number: int, text: str) -> str:
    return blake2b(f"{number} {text}".encode(), key=bytes.fromhex(key), digest_size=_SIZE).hexdigest()
