"""Select the files that may contain decorators, read and parse them, and their ignore comments.

They are found among its tokens: the same text in a string is no comment.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.scan import files
from gradhook.scan.files import Listing
from gradhook.scan.names import WORDS


def read(path: Path, shown: str) -> bytes:
    """The bytes of a file.

    Raises:
        GradhookError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise GradhookError(f"{shown}: cannot be read: {error.strerror}", "make it readable, or exclude it") from error


def parse(text: bytes, shown: str) -> ast.Module:
    """The syntax tree of a file's bytes; a byte order mark and a coding comment are honoured.

    Raises:
        GradhookError: the bytes are no Python, with the line where that shows.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about the user's code are not reported
            return ast.parse(text)
    except SyntaxError as error:
        place, reason = f"{shown}:{error.lineno or 1}", error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        place, reason = f"{shown}:{_nul_line(text)}", str(error) or "nested too deeply"
    remedy = (
        f"mend the file or exclude it (read with the grammar of Python {sys.version_info[0]}.{sys.version_info[1]})"
    )
    raise GradhookError(f"{place}: no valid Python: {reason}", remedy)


def _nul_line(text: bytes) -> int:
    return text.count(b"\n", 0, max(text.find(b"\0"), 0)) + 1


_IGNORE = re.compile(r"#\s*gradhook:\s*ignore\b\s*(?:\[([^\]]*)\])?")


@dataclass(frozen=True)
class Comment:
    """One ``# gradhook: ignore[GRD406, GRD1]`` as it stands, codes in capitals; a bare one has none."""

    path: str
    line: int
    codes: tuple[str, ...]


def comments(text: bytes, path: str) -> tuple[Comment, ...]:
    """The ignore comments in a file's bytes; none if it is not valid Python."""
    if b"gradhook:" not in text:
        return ()
    try:
        found = [(t.start[0], _IGNORE.search(t.string)) for t in _tokens(text) if t.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return ()
    return tuple(Comment(path, line, _codes(match[1] or "")) for line, match in found if match)


def _codes(listed: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(code.strip().upper() for code in listed.split(",") if code.strip()))


def _tokens(text: bytes) -> Iterable[tokenize.TokenInfo]:
    lines = io.TextIOWrapper(io.BytesIO(text), _encoding(text))  # counts line ends as the parser does
    return tokenize.generate_tokens(lines.readline)


def _encoding(text: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(text).readline)[0]
    except SyntaxError:  # detect_encoding requires UTF-8 in the coding line itself; the parser does not
        return "latin-1"


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
        names = files.mentioning(listing.root / folder, words, whole=whole)
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
