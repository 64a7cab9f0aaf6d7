"""Import the file of a target, wherever in a repository it lies.

As pytest's ``importlib`` mode does it: under its own name where a plain import would deliver this very file, otherwise
under a private one, so that no module of the user's, of an installed package or of the standard library is displaced.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

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
