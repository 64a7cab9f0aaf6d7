"""Find user modules mutated after import, and modules that changed global state.

The values of a module's names are recorded when its code has run, and compared at the end: a difference means that
another module changed it (a registry, a patch), so its users depend on more than it imports.
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

ModuleValues = dict[str, Any]
_IMPORTLIB = "<frozen importlib._bootstrap_external>"
SETTING = "setting "
"""How names of JAX's settings begin in ``ModuleMonitor.common``."""
_MOST = 2000
"""Containers with more entries are compared by their length only."""


@dataclass
class ModuleMonitor:
    """The values of modules when their code had run, and the modules that changed global state."""

    common: Callable[[], Mapping[str, Any]]
    """Returns the global state by name: settings of JAX, environment variables, ``sys.path``."""
    states: dict[str, ModuleValues] = field(default_factory=dict)
    changers: set[str] = field(default_factory=set)
    installed: dict[str, ModuleValues] = field(default_factory=dict)
    """The values in installed modules when their code had run."""
    states_before: list[Any] = field(default_factory=list)
    """The global state when each module that is being imported began, or last imported another."""

    def watch(self) -> None:
        """Record every module whose code runs from now on."""
        original = importlib.machinery.SourceFileLoader.exec_module

        def exec_module(loader: Any, module: ModuleType) -> None:
            self.states_before.append(self.common())
            try:
                original(loader, module)
            finally:
                self.finished(module, self.states_before.pop())

        # Python leaves frames of its own import machinery out of tracebacks; this one belongs to it.
        exec_module.__code__ = exec_module.__code__.replace(co_filename=_IMPORTLIB)
        importlib.machinery.SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign, assignment]

    def finished(self, module: ModuleType, before: Any) -> None:
        """Record a module whose code has run; its own global changes are not its importer's."""
        file = getattr(module, "__file__", None)
        if not file or is_foreign(os.path.abspath(file)):  # noqa: PTH100
            self.installed[module.__name__] = dict(vars(module))
            return
        self.states[module.__name__] = state(module)
        if _changed(before, now := self.common()):
            self.changers.add(module.__name__)
            if self.states_before:
                self.states_before[-1] = now

    def mutated(self) -> set[str]:
        """The modules that were changed since their code had run."""
        known = ((name, sys.modules.get(name)) for name in self.states)
        return {name for name, module in known if module is not None and differs(self.states[name], state(module))}

    def patched(self) -> bool:
        """Whether user code replaced functions of installed modules."""
        modules = ((held, sys.modules.get(name)) for name, held in self.installed.items())
        return any(module is not None and _replaced(held, vars(module)) for held, module in modules)


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether global state changed; settings that JAX defines later do not count."""
    return any(now.get(name, value) != value for name, value in before.items()) or any(
        name not in before and not name.startswith(SETTING) for name in now
    )


def state(module: ModuleType) -> ModuleValues:
    """The values of a module's names and the objects inside them."""
    found: ModuleValues = {}
    for name, value in [*vars(module).items()]:
        if not name.startswith("__") and not isinstance(value, ModuleType):
            found[name] = (value, *_inside(value, 2))
    return found


def differs(one: ModuleValues, other: ModuleValues) -> bool:
    """Whether two states hold different objects."""
    return one.keys() != other.keys() or any(not _same(one[name], other[name]) for name in one)


def _inside(value: Any, depth: int) -> list[Any]:
    """The objects inside a value in a fixed order; kept alive, so that no id is reused."""
    parts: list[Any]
    if isinstance(value, logging.Logger) or hasattr(type(value), "dtype"):
        return []  # loggers cache their levels; arrays hold numbers
    try:
        if isinstance(value, dict):
            parts = [*value.keys(), *value.values()]
        elif isinstance(value, (list, set)):
            parts = [*value]
        elif isinstance(value, type):
            parts = [v for n, v in [*vars(value).items()] if not n.startswith("_abc_")]
        else:
            parts = [v for n, v in [*vars(value).items()] if n != ATTRIBUTE]
    except Exception:  # most objects have no attributes of their own, some raise
        return []
    if len(parts) > _MOST:
        return [len(parts)]
    return [*parts, *(inner for part in parts if depth > 1 for inner in _inside(part, depth - 1))]


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(a is b or (type(a) is type(b) is int and a == b) for a, b in pairs)


def _replaced(before: ModuleValues, now: Mapping[str, Any]) -> bool:
    changed = (now[name] for name, value in before.items() if name in now and now[name] is not value)
    return any(file and not is_foreign(file) for file in map(_file, changed))


def _file(value: Any) -> str:
    """The file in which a function was defined; empty if it has no code."""
    code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
    return str(code.co_filename) if code else ""
