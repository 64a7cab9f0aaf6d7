"""What a function depends on besides code: data files of `depends_on=` and environment variables."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from gradhook.execution.cache.fingerprints import is_foreign, is_standard, matches
from gradhook.model.errors import GradhookError


def patterns(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The patterns of ``depends_on=``.

    Raises:
        GradhookError: they are no texts.
    """
    given = options.get("depends_on", ())
    given = (given,) if isinstance(given, str) else given
    if not isinstance(given, (list, tuple)) or not all(isinstance(item, str) and item for item in given):
        help = 'depends_on names files, relative to the file that it stands in: depends_on=("table.csv", "data/*.npz")'
        raise GradhookError(f"depends_on={given!r}", help)
    return tuple(given)


def files(options: Mapping[str, Any], base: str) -> tuple[str, ...]:
    """The files that the patterns match from the folder ``base``.

    Raises:
        GradhookError: a pattern means none, or is no text.
    """
    found: list[str] = []
    for pattern in patterns(options):
        here = matches(base, pattern)
        if not here:
            help = f"paths are relative to the file that the annotation stands in, here to {base}"
            raise GradhookError(f"depends_on={pattern!r} names no file", help)
        found += here
    return tuple(dict.fromkeys(found))


def names_read() -> set[str]:
    """A set that fills with the names of the variables that the user's code reads from now on.

    The dictionary inside ``os.environ`` is replaced by one that records its keys. Where Python keeps the values
    elsewhere, nothing is recorded.
    """
    names: set[str] = set()
    inner = getattr(os.environ, "_data", None)
    if type(inner) is dict:
        os.environ._data = _RecordingDict(inner, names)  # type: ignore[attr-defined]
    return names


class _RecordingDict(dict[Any, Any]):
    def __init__(self, values: dict[Any, Any], names: set[str]) -> None:
        super().__init__(values)
        self._names = names

    def __getitem__(self, name: Any) -> Any:
        if _asked_by_user():
            self._names.add(os.fsdecode(name))
        return super().__getitem__(name)


def _asked_by_user() -> bool:
    """Whether the nearest code that is not of the standard library is the user's."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and is_standard(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and not is_foreign(frame.f_code.co_filename)
