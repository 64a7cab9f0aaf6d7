"""Did user code replace a function of JAX or NumPy, or one of ours? Then what is measured is not what was asked.

Adding names that are missing (for an older or newer JAX) is nobody's harm, and what an installed library replaces
belongs to the environment. Anything else is put back, and whoever did it has no verdict.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from gradhook.worker.faults import is_library

Originals = Mapping[tuple[int, str], tuple[Any, str, Any]]
"""By the owner's identity and the name: the module or class, the name in it, and the value."""

_TOPS = frozenset({"jax", "numpy", "gradhook"})
_CLASSES = ("custom_jvp", "custom_vjp")


def originals() -> Originals:
    """The functions and classes in the loaded public modules of JAX and NumPy, and in ours."""
    return {(id(owner), name): (owner, name, value) for owner, name, value in _all()}


def undo(known: Originals) -> list[str]:
    """Put back what was replaced; its names, in order."""
    replaced = []
    for owner, name, value in known.values():
        now = vars(owner).get(name)
        if now is not value and not is_library(_file(now)):
            setattr(owner, name, value)
            replaced.append(f"{owner.__name__}.{name}")
    return sorted(replaced)


def _all() -> Iterator[tuple[Any, str, Any]]:
    for module_name, module in list(sys.modules.items()):
        top, _, inner = module_name.partition(".")
        if top in _TOPS and not (inner.startswith("_") and top != "gradhook") and module is not None:
            yield from ((module, name, value) for name, value in list(vars(module).items()) if callable(value))
    jax = sys.modules.get("jax")
    for owner in (getattr(jax, name, None) for name in _CLASSES):
        if isinstance(owner, type):
            yield from ((owner, name, value) for name, value in list(vars(owner).items()) if callable(value))


def _file(value: Any) -> str:
    """Where a function was written; empty for what has no code."""
    while not hasattr(value, "__code__") and hasattr(value, "__wrapped__"):
        value = value.__wrapped__  # jit and its like hold the function that was given to them
    code = getattr(value, "__code__", None)
    return str(code.co_filename) if code else ""
