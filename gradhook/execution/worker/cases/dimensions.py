"""Compute the shape for the dimensions of a jaxtyping annotation, ``"batch n+1 3"``."""

from __future__ import annotations

import re

_FIRST = (3, 2)
"""The sizes of the first names; a small axis is enough, but one of size 1 would broadcast in silence."""
_FUNCTIONS = {"min": min, "max": max}


class Sizes(dict[str, int]):
    """The size of each name, chosen when it is first read; no two names have the same."""

    def __missing__(self, name: str) -> int:
        if name in _FUNCTIONS:
            raise KeyError(name)  # eval then looks the name up in its globals
        count = len(self)
        self[name] = _FIRST[count] if count < len(_FIRST) else count + 2
        return self[name]


def shape_of(dimensions: str, sizes: Sizes) -> tuple[int, ...] | None:
    """The sizes of all dimensions but ``...`` and ``*name``; ``None`` if one cannot be computed.

    https://docs.kidger.site/jaxtyping/api/array/#shape
    """
    shape = []
    for word in dimensions.split():
        marks, name = re.match(r"([#*?]*)(.*)", word).groups()  # type: ignore[union-attr]
        if name == "..." or "*" in marks:
            continue
        size = sizes[f"_{len(sizes)}"] if name.startswith("_") else _size(name.rpartition("=")[2], sizes)
        if size is None or size < 0:
            return None
        shape.append(size)
    return tuple(shape)


def _size(text: str, sizes: Sizes) -> int | None:
    try:
        found = eval(text, {"__builtins__": _FUNCTIONS}, sizes)
    except Exception:  # "{self.width}" is only known at the call
        return None
    return found if isinstance(found, int) else None
