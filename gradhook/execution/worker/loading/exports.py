"""Look up a module's exports and compare them with annotated objects."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any

MISSING = object()
_DEEPEST = 50
_INNER = ("__wrapped__", "fun", "func", "__func__", "fget")


def exported(module: ModuleType, qualname: str) -> tuple[Any, Any]:
    """The object under a dotted name, without running descriptors, and its owner."""
    owner: Any = module
    found: Any = module
    for part in qualname.split("."):
        owner = found
        found = inspect.getattr_static(owner, part, MISSING)
        if found is MISSING:
            break
    return found, owner


def plain(found: Any, owner: Any) -> Any:
    """The callable behind a static method, class method or property."""
    if isinstance(found, classmethod) and inspect.isclass(owner):
        return found.__get__(None, owner)
    if isinstance(found, (staticmethod, classmethod)):
        return found.__func__
    return found.fget if isinstance(found, property) else found


def wraps(outer: Any, claimed: Any) -> bool:
    """Whether ``outer`` is the claimed object or leads to it through wrappers."""
    wanted = {id(plain(claimed, None)), id(claimed)}
    return any(id(layer) in wanted for layer in _layers(outer))


def name_of_value(module: ModuleType, wanted: Any) -> str | None:
    """The name of an object in a module: a global, or an entry of a global list or dictionary."""
    held = dict(vars(module))
    for name, value in held.items():
        if value is wanted:
            return name
    for name, value in held.items():
        pairs = value.items() if type(value) is dict else enumerate(value) if type(value) in (list, tuple) else ()
        for key, entry in list(pairs):
            if entry is wanted:
                return f'{name}["{key}"]' if isinstance(key, str) else f"{name}[{key!r}]"
    return None


def _layers(outer: Any) -> Iterator[Any]:
    """The object and everything it wraps, through ``__wrapped__`` and the like or a closure."""
    waiting = deque([outer])
    seen: list[Any] = []  # keeps them alive, so that no id is reused
    while waiting and len(seen) < _DEEPEST:
        layer = waiting.popleft()
        if layer is None or any(layer is other for other in seen):
            continue
        seen.append(layer)
        yield layer
        waiting.extend(_attribute(layer, name) for name in _INNER)
        waiting.extend(_enclosed(layer))


def _attribute(layer: Any, name: str) -> Any:
    try:
        return getattr(layer, name, None)
    except Exception:
        return None  # wrappers may raise what they like from __getattr__


def _enclosed(layer: Any) -> list[Any]:
    cells = getattr(layer, "__closure__", None) if inspect.isfunction(layer) else None
    found = []
    for cell in cells or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue  # an empty cell
    return [content for content in found if callable(content)]
