"""Detect and undo user code that replaces functions of JAX, NumPy or gradhook.

Adding missing names (for an older or newer JAX) does no harm, and what an installed library replaces belongs to the
environment. Any other replacement is undone, and its target gets no verdict. In gradhook everything counts: constants,
members of classes, the code of functions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from gradhook.execution.worker.user_errors import is_library

Originals = Mapping[tuple[int, str], tuple[Any, str, Any, Any]]
"""By the owner's identity and the name: the module or class, the name in it, the value, and the code of ours."""

_TOPS = frozenset({"jax", "numpy"})
_CLASSES = ("custom_jvp", "custom_vjp")


def originals() -> Originals:
    """The functions and classes in the loaded public modules of JAX and NumPy, and in gradhook."""
    public = {(id(owner), name): (owner, name, value, None) for owner, name, value in _all()}
    return public | {(id(owner), name): (owner, name, value, _code(value)) for owner, name, value in _own()}


def restore_originals(known: Originals) -> list[str]:
    """Put back replaced functions; their names, sorted."""
    replaced = []
    for owner, name, value, code in known.values():
        now = vars(owner).get(name)
        is_ours = owner.__name__.startswith("gradhook") or getattr(owner, "__module__", "").startswith("gradhook")
        if now is not value and (is_ours or not is_library(_file(now))):
            setattr(owner, name, value)
            replaced.append(f"{owner.__name__}.{name}")
        if code is not None and value.__code__ is not code:
            value.__code__ = code
            replaced.append(f"{owner.__name__}.{name}")
    return sorted(replaced)


def _all() -> Iterator[tuple[Any, str, Any]]:
    for module_name, module in list(sys.modules.items()):
        top, _, inner = module_name.partition(".")
        if top in _TOPS and not inner.startswith("_") and module is not None:
            yield from ((module, name, value) for name, value in list(vars(module).items()) if callable(value))
    jax = sys.modules.get("jax")
    for owner in (getattr(jax, name, None) for name in _CLASSES):
        if isinstance(owner, type):
            yield from ((owner, name, value) for name, value in list(vars(owner).items()) if callable(value))


def _own() -> Iterator[tuple[Any, str, Any]]:
    """The members of gradhook's loaded modules and of the classes in them."""
    for module in [m for n, m in list(sys.modules.items()) if n.partition(".")[0] == "gradhook" and m is not None]:
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                yield module, name, value
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield from ((value, inner, item) for inner, item in list(vars(value).items()) if callable(item))


def _code(value: Any) -> Any:
    return getattr(value, "__code__", None)


def _file(value: Any) -> str:
    """The file in which a function was defined; empty if it has no code."""
    while not hasattr(value, "__code__") and hasattr(value, "__wrapped__"):
        value = value.__wrapped__  # jit and its like hold the function that was given to them
    code = getattr(value, "__code__", None)
    return str(code.co_filename) if code else ""
