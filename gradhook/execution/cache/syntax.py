"""What a Python file says, apart from comments and layout: digests of its syntax tree."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from dataclasses import dataclass, field

from gradhook.execution.cache.fingerprints import digest
from gradhook.execution.cache.store import Store

SHAPES = "shapes"
NONE = ("", "")
"""The shape of what is no Python."""
Shape = tuple[str, str]
"""Digests of the syntax tree alone, and of the tree with the places in the text where its nodes begin."""
_PLACES = ("lineno", "end_lineno", "col_offset")
_VERSION = f"1 {sys.version}"
_ON_LINES = re.compile(rb"lineno|co_lines|co_positions|co_linetable|frameinfo|inspect\.stack|extract_stack|get_source")
"""Names by which code learns on which line it stands, or what its text is without opening the file."""


@dataclass(frozen=True)
class Shapes:
    """The shapes of texts, each worked out once for all runs; without a store, once a run."""

    store: Store | None = None
    known: dict[str, Shape] = field(default_factory=dict)

    def of(self, data: bytes) -> Shape:
        """The shape of a file with this content."""
        name = digest(_VERSION, data)
        if name not in self.known:
            self.known[name] = self._kept(name) or shape(data)
        return self.known[name]

    def _kept(self, name: str) -> Shape | None:
        match self.store.read(SHAPES, name) if self.store else None:
            case [str(tree), str(lines)]:
                return tree, lines
        return None

    def keep(self) -> None:
        """Keep what was worked out.

        Raises:
            OSError: it cannot be written.
        """
        for name, found in self.known.items() if self.store else ():
            if self.store and not (self.store.folder / SHAPES / name).exists():
                self.store.write(SHAPES, name, found)


def shape(data: bytes) -> Shape:
    """The digests, worked out from a text; ``NONE`` where this Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        said = ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return NONE
    places = [[getattr(node, name, 0) for name in _PLACES] for node in ast.walk(tree)]
    return digest(said), digest(said, repr(places))


def asks_for_lines(data: bytes) -> bool:
    """Whether code may behave otherwise when it, or its caller, stands on another line."""
    return bool(_ON_LINES.search(data))
