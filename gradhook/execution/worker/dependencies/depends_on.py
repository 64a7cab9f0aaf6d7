"""Read ``depends_on=``: the data files that a function depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradhook.execution.cache.patterns import matches
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
