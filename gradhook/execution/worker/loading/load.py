"""Import the file of a target, wherever in a repository it lies, and look up what it exports.

As pytest's ``importlib`` mode does it: under its own name where a plain import would deliver this very file, otherwise
under a private one, so that no module of the user's, of an installed package or of the standard library is displaced.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from gradhook.model.results import Target


def prepend_paths(paths: Sequence[str]) -> None:
    """Put ``paths`` in front of ``sys.path``; from now on no bytecode is written."""
    sys.dont_write_bytecode = True
    sys.path[:0] = [path for path in paths if path not in sys.path]


def load(target: Target) -> ModuleType:
    """The module of the target, imported unless it was before.

    Raises:
        BaseException: whatever the user's code raises at import, and ``ImportError``.
    """
    if target.source == "config":
        return importlib.import_module(target.module)
    path = Path(target.root, target.path)
    base = _base(target.module, path)
    if base is None or ("." not in target.module and path.name != "__init__.py"):
        return importlib.import_module(target.module) if _delivers(target.module, path) else _load_single_file(path)
    return _load_in_package(target.module, path, base)


def file_of(module: ModuleType) -> str:
    """The real path of a module's file; empty for those without."""
    return os.path.realpath(getattr(module, "__file__", None) or "") if getattr(module, "__file__", None) else ""


def _base(name: str, path: Path) -> Path | None:
    """The folder from which ``name`` leads to ``path``; ``None`` if it does not."""
    parts = name.split(".")
    stem = path.parent if path.name == "__init__.py" else path.with_suffix("")
    return Path(*stem.parts[: -len(parts)]) if list(stem.parts[-len(parts) :]) == parts else None


def _delivers(name: str, path: Path) -> bool:
    """Whether ``import name`` gives the file ``path`` and shadows no standard module."""
    if name in sys.stdlib_module_names:
        return False
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and _same(spec.origin, path)


def _load_single_file(path: Path) -> ModuleType:
    """Import a single file under a private name made of its path."""
    name = f"_gradhook_{_digest(path)}_{path.stem.replace('.', '_')}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _load_in_package(name: str, path: Path, base: Path) -> ModuleType:
    """Import a module of a package below ``base``, whose other modules it may import."""
    top = name.partition(".")[0]
    locations = _locations(top)
    if locations is None:
        sys.path.append(str(base))
        locations = _locations(top)
    if locations and any(_same(location, base / top) for location in locations):
        module = importlib.import_module(name)
        if _same(getattr(module, "__file__", None), path):
            return module
    return importlib.import_module(f"{_private_package(base)}.{name}")


def _locations(top: str) -> list[str] | None:
    """The folders of the package ``top``; ``None`` if there is no such module."""
    importlib.invalidate_caches()
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return []
    return None if spec is None else list(spec.submodule_search_locations or ())


def _private_package(base: Path) -> str:
    """The name of a private package with the folder ``base``, for a package name that is taken."""
    name = f"_gradhook_{_digest(base)}"
    if name not in sys.modules:
        package = ModuleType(name, f"What gradhook imports from {base}.")
        package.__path__ = [str(base)]
        sys.modules[name] = package
    return name


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:12]


def _same(one: str | os.PathLike[str] | None, other: str | os.PathLike[str]) -> bool:
    return one is not None and os.path.realpath(one) == os.path.realpath(other)


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
