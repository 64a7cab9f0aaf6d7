"""Which modules of the user's are no longer what their own code made them, and who changed what belongs to everybody?

What a module's names hold is noted when its code has run, and looked at again at the end: a difference means that
another module had a hand in it (a registry, a patch), so whoever uses it depends on more than it imports.
"""

from __future__ import annotations

import importlib.machinery
import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from gradhook.annotations import ATTRIBUTE
from gradhook.execution.cache.fingerprints import is_foreign

Held = dict[str, Any]
_IMPORTLIB = "<frozen importlib._bootstrap_external>"
SETTING = "setting "
"""How names of JAX's settings begin in ``Guard.common``."""
_MOST = 2000
"""Entries of a container that are looked at one by one."""


@dataclass
class Guard:
    """Modules as they were when their code had run (by name), and those that changed something common meanwhile."""

    common: Callable[[], Mapping[str, Any]]
    """What belongs to everybody: settings of JAX, environment variables, the path, each under a name."""
    states: dict[str, Held] = field(default_factory=dict)
    changers: set[str] = field(default_factory=set)
    installed: dict[str, Held] = field(default_factory=dict)
    """What the names of installed modules held when their code had run."""
    befores: list[Any] = field(default_factory=list)
    """What belonged to everybody when the code of each module that runs now began, or last imported another."""

    def watch(self) -> None:
        """Look at every module whose code has run, from now on."""
        original = importlib.machinery.SourceFileLoader.exec_module

        def exec_module(loader: Any, module: ModuleType) -> None:
            self.befores.append(self.common())
            try:
                original(loader, module)
            finally:
                self.finished(module, self.befores.pop())

        # Python leaves frames of its own import machinery out of tracebacks; this one belongs to it.
        exec_module.__code__ = exec_module.__code__.replace(co_filename=_IMPORTLIB)
        importlib.machinery.SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign, assignment]

    def finished(self, module: ModuleType, before: Any) -> None:
        """The code of a module has run; what it changed that belongs to everybody is no doing of its importer."""
        file = getattr(module, "__file__", None)
        if not file or is_foreign(os.path.abspath(file)):  # noqa: PTH100
            self.installed[module.__name__] = dict(vars(module))
            return
        self.states[module.__name__] = state(module)
        if _changed(before, now := self.common()):
            self.changers.add(module.__name__)
            self.befores[-1:] = [now] * bool(self.befores)

    def meddled(self) -> set[str]:
        """The modules that are no longer what they were when their code had run."""
        known = ((name, sys.modules.get(name)) for name in self.states)
        return {name for name, module in known if module is not None and differs(self.states[name], state(module))}

    def patched(self) -> bool:
        """Whether the user's code put functions of its own in the place of installed ones."""
        modules = ((held, sys.modules.get(name)) for name, held in self.installed.items())
        return any(module is not None and _replaced(held, vars(module)) for held, module in modules)


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether something common is not what it was; a setting that JAX has only now is nobody's doing."""
    return any(now.get(name, value) != value for name, value in before.items()) or any(
        name not in before and not name.startswith(SETTING) for name in now
    )


def state(module: ModuleType) -> Held:
    """What the names of a module hold, and what is in that: containers entry by entry, objects by their attributes."""
    found: Held = {}
    for name, value in [*vars(module).items()]:
        if not name.startswith("__") and not isinstance(value, ModuleType):
            found[name] = (value, *_inside(value, 2))
    return found


def differs(one: Held, other: Held) -> bool:
    """Whether two states hold different objects."""
    return one.keys() != other.keys() or any(not _same(one[name], other[name]) for name in one)


def _inside(value: Any, depth: int) -> list[Any]:
    """The objects inside a value, in a fixed order; the objects themselves, lest an id be given twice."""
    parts: list[Any]
    if isinstance(value, logging.Logger) or hasattr(type(value), "dtype"):
        return []  # one keeps notes of its own about its levels, the other holds numbers
    try:
        if isinstance(value, dict):
            parts = [*value.keys(), *value.values()]
        elif isinstance(value, (list, set)):
            parts = [*value]
        elif isinstance(value, type):
            parts = [v for n, v in [*vars(value).items()] if not n.startswith("_abc_")]
        else:
            parts = [v for n, v in [*vars(value).items()] if n != ATTRIBUTE]
    except Exception:  # most objects have no attributes of their own, some make trouble about it
        return []
    if len(parts) > _MOST:
        return [len(parts)]
    return [*parts, *(inner for part in parts if depth > 1 for inner in _inside(part, depth - 1))]


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(a is b or (type(a) is type(b) is int and a == b) for a, b in pairs)


def _replaced(before: Held, now: Mapping[str, Any]) -> bool:
    changed = (now[name] for name, value in before.items() if name in now and now[name] is not value)
    return any(file and not is_foreign(file) for file in map(_file, changed))


def _file(value: Any) -> str:
    """Where a function was written; empty for what has no code."""
    code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
    return str(code.co_filename) if code else ""
