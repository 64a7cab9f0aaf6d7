"""Find missing files that would have been imported in place of others.

A new ``__init__.py``, a module of the same name further in front on the path, a module that was looked for in vain.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections.abc import Iterator, Sequence

from gradhook.execution.cache.fingerprints import is_foreign

PRIVATE = "_gradhook_"
"""Prefix of the private module names of ``load``, which are not found on the path."""
_ENDS = tuple(importlib.machinery.EXTENSION_SUFFIXES)


def files_before(name: str) -> Iterator[str]:
    """The files that an import of ``name`` and its packages would find first, if they existed."""
    parent, _, last = name.rpartition(".")
    if not parent and name.startswith(PRIVATE):
        return
    if parent:
        yield from files_before(parent)
    found = getattr(sys.modules.get(name), "__file__", None)
    for folder in _searched(parent):
        base = os.path.join(folder, last)  # noqa: PTH118
        for candidate in (os.path.join(base, "__init__.py"), *(base + end for end in (*_ENDS, ".py"))):  # noqa: PTH118
            if found is not None and _same(candidate, found):
                return
            yield candidate


def files_for_missing(name: str) -> Iterator[str]:
    """The user's files that would define ``name``, which is installed or was not found.

    For the latter, folders of installed distributions count as well.
    """
    parent, _, last = name.rpartition(".")
    if name in sys.modules and (parent or _is_users(name)):
        return
    for folder in _searched(parent) if parent in sys.modules or not parent else ():
        if name in sys.modules and is_foreign(os.path.join(folder, "")):  # noqa: PTH118
            continue
        base = os.path.join(folder, last)  # noqa: PTH118
        yield from (base, *(base + end for end in (*_ENDS, ".py")))


def _is_users(name: str) -> bool:
    """Whether a loaded module or namespace is the user's."""
    module = sys.modules[name]
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(isinstance(place, str) and not is_foreign(os.path.abspath(place)) for place in places)  # noqa: PTH100


def _searched(package: str) -> Sequence[str]:
    """The folders in which a package's modules, or top-level ones, are looked for."""
    places = getattr(sys.modules.get(package), "__path__", ()) if package else sys.path
    return [os.path.abspath(place) for place in places if isinstance(place, str) and place]  # noqa: PTH100


def _same(one: str, other: str) -> bool:
    return one == other or os.path.abspath(other) == one  # noqa: PTH100
