"""Find the user's frame in a traceback: it comes first in everything that names a place."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import jax

OURS = str(Path(__file__).parents[2])
JAX = str(Path(jax.__file__).parent)
_STANDARD = sysconfig.get_path("stdlib")
_INSTALLED = frozenset({"site-packages", "dist-packages"})

Place = tuple[str, int]


def of_jax(path: str) -> bool:
    """Whether a file is part of JAX."""
    return path.startswith(JAX)


@lru_cache(maxsize=4096)
def is_installed(path: str) -> bool:
    """Whether a file came with an installed library or with Python itself."""
    return not _INSTALLED.isdisjoint(Path(path).parts) or path.startswith(_STANDARD)


def users(places: Iterable[Place]) -> Place:
    """The first place that is the user's, else the first of a library but JAX, else nowhere: ("", 0)."""
    others = [place for place in places if not place[0].startswith((OURS, JAX, "<")) and place[0]]
    return next((place for place in others if not is_installed(place[0])), others[0] if others else ("", 0))
