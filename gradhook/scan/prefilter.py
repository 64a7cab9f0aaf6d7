"""Select the files that may contain decorators, from their bytes alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.scan import git
from gradhook.scan.files import Listing
from gradhook.scan.names import WORDS
from gradhook.scan.parse import read

_WORD = "(?:" + "|".join(WORDS) + ")"
_CALLS = r"(?:[\w.]+\s*\(\s*|\(\s*)*(?:\w+\s*\.\s*)*"
_RENAMED = re.compile(
    rf"\b{_WORD}\s+as\s+(\w+)|^[ \t]*(\w+)[ \t]*(?::[^=\n]+)?=\s*{_CALLS}{_WORD}\b".encode(), re.MULTILINE
)


def files_containing(listing: Listing, words: Sequence[str] = ("gradhook", *WORDS), *, whole: bool = False) -> set[str]:
    """The files of a listing that contain one of the words; git searches where it can.

    Raises:
        GradhookError: a file cannot be read.
    """
    hits: set[str] = set()
    loose = set(listing.loose)
    for folder in listing.searchable:
        names = git.mentioning(listing.root / folder, words, whole=whole)
        start = f"{folder}/" if folder else ""
        if names is None:
            loose.update(file for file in listing.files if file.startswith(start))
        else:
            hits.update(start + name for name in names)
    pattern = _pattern(words, whole)
    unsearched = loose.intersection(listing.files) - hits
    hits.update(file for file in unsearched if pattern.search(read(listing.root / file, file)))
    return hits.intersection(listing.files)


def possible_aliases(texts: Iterable[bytes]) -> frozenset[str]:
    """Names that may stand for a decorator, judged by the text alone."""
    return frozenset(name.decode() for text in texts for groups in _RENAMED.findall(text) for name in groups if name)


def possible_users(universe: Listing, names: Iterable[str], modules: Iterable[Path]) -> set[Path]:
    """The files that mention a name and the module that offers it, or import all of the module."""
    hits = {universe.root / file for file in files_containing(universe, (*sorted(names), "import *"), whole=True)}
    homes = {path.stem for path in modules}
    if "__init__" in homes:  # a package's own modules import from "."
        return hits
    home = _pattern(sorted(homes), whole=True)
    return {path for path in hits if home.search(readable(path))}


def readable(path: Path) -> bytes:
    """The bytes of a file; none when it cannot be read."""
    try:
        return read(path, str(path))
    except GradhookError:
        return b""


def _pattern(words: Iterable[str], whole: bool) -> re.Pattern[bytes]:
    either = "|".join(map(re.escape, words))
    return re.compile((rf"(?<!\w)(?:{either})(?!\w)" if whole else either).encode())
