"""Read the ``# gradhook: ignore[...]`` comments of a file.

They are found among its tokens: the same text in a string is no comment.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

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
