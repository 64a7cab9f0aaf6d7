"""Find the loaded modules that a user's file can reach, from its text.

The import statements of the whole text count, those in functions too: a superset of what was executed, except where
modules are looked up by computed names. Such a file may reach everything that is loaded.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType

_GAP = r"(?:[ \t\f]|\\\r?\n)"
_LIST = r"(\((?:[^)#]|#[^\n]*)*\)|(?:[^\n;#\\]|\\\r?\n)*)"
_IMPORT = re.compile(rf"(?:\bfrom{_GAP}*((?:\.|{_GAP})*[\w.]*){_GAP}*)?\bimport\b{_GAP}*{_LIST}")
_NAME = re.compile(r"(\*|[\w.]+)(?:\s+as\s+(\w+))?")
_COMMENT = re.compile(r"#[^\n]*")
_BY_NAME = re.compile(
    r"\bimportlib\b(?!\.(?:metadata|resources)\b)|\b__import__\b|\b(?:runpy|pkgutil|lazy_loader|zipimport|builtins)\b"
    r"|\bsys\s*\.\s*modules\b|\bsys\s+import\b[^\n]*\bmodules\b|(?<![\w.])(?:exec|eval)\s*\("
)
"""Signs that a module may be found by a name that does not stand in an import statement."""


def imports_dynamically(text: str) -> bool:
    """Whether a file may reach modules that its import statements do not name."""
    return _BY_NAME.search(text) is not None


def imported_modules(text: str, module: ModuleType) -> tuple[set[str], set[str]]:
    """The loaded modules that the module's imports name, and the packages that they bind.

    From a package that is bound, every module in it can be reached by attributes.
    """
    named: set[str] = set()
    bound: set[str] = set()
    for start, names in _statements(text):
        base = _absolute(start, module) if start is not None else ""
        named.update(prefixes(base))
        for name, other in names:
            whole = f"{base}.{name}" if base else name
            named.update(prefixes(whole))
            if name == "*":
                bound.add(base)
            elif start is None and not other:
                bound.add(name.partition(".")[0])
            else:
                bound.add(whole)
    return named & sys.modules.keys(), {name for name in bound if _is_package(name)}


def _statements(text: str) -> Iterator[tuple[str | None, list[tuple[str, str]]]]:
    """The text after ``from`` (``None`` without it), and the imported names with their aliases."""
    for start, names in ((match[1], match[2]) for match in _IMPORT.finditer(text)):
        listed = _NAME.findall(_COMMENT.sub("", names.replace("\\", " ")))
        yield (None if start is None else re.sub(r"[\s\\]", "", start)), listed


def _absolute(name: str, module: ModuleType) -> str:
    """A name with leading dots as seen from ``module``."""
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    package = getattr(module, "__package__", None) or module.__name__.rpartition(".")[0]
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - dots + 1], *filter(None, [name[dots:]])])


def prefixes(name: str) -> Iterator[str]:
    """``a``, ``a.b`` and ``a.b.c`` for ``a.b.c``."""
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _is_package(name: str) -> bool:
    return hasattr(sys.modules.get(name), "__path__")


def below(package: str, files: Mapping[str, str]) -> set[str]:
    """The loaded modules of a package, itself included; ``files`` maps the user's modules to their files."""
    return {name for name in files if name == package or name.startswith(f"{package}.")}
