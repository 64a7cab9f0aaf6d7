"""Read and parse one Python file, and its `# gradhook: ignore[...]` comments.

They are found among its tokens: the same text in a string is no comment.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gradhook.model.errors import GradhookError


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
