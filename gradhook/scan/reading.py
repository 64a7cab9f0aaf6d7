"""What does one Python file say: its syntax tree, and which lines silence which codes?"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from gradhook.errors import GradhookError

_IGNORE = re.compile(r"#\s*gradhook:\s*ignore\b\s*(?:\[([^\]]*)\])?")


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
            warnings.simplefilter("ignore")  # of the user's code, which is not what was asked about
            return ast.parse(text)
    except SyntaxError as error:
        place, reason = f"{shown}:{error.lineno or 1}", error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        place, reason = f"{shown}:{_nul_line(text)}", str(error) or "nested too deeply"
    remedy = (
        f"mend the file or exclude it (read with the grammar of Python {sys.version_info[0]}.{sys.version_info[1]})"
    )
    raise GradhookError(f"{place}: no valid Python: {reason}", remedy)


def ignored_codes(text: bytes) -> dict[int, tuple[str, ...]]:
    """Line number to the codes that ``# gradhook: ignore[…]`` silences there; ``("",)``, a prefix of all, when bare."""
    if b"gradhook:" not in text:
        return {}
    try:
        comments = [(t.start[0], t.string) for t in _tokens(text) if t.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return {}
    found = ((line, _IGNORE.search(comment)) for line, comment in comments)
    return {line: tuple(c.strip() for c in (match[1] or "").split(",")) for line, match in found if match}


def silenced(code: str, lines: Iterable[int], ignored: Mapping[int, tuple[str, ...]]) -> bool:
    """Whether a comment on one of the lines silences the code, or the group of codes that it belongs to."""
    return any(code.startswith(prefix) for line in lines for prefix in ignored.get(line, ()))


def _tokens(text: bytes) -> Iterable[tokenize.TokenInfo]:
    lines = io.TextIOWrapper(io.BytesIO(text), _encoding(text))  # counts line ends as the parser does
    return tokenize.generate_tokens(lines.readline)


def _encoding(text: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(text).readline)[0]
    except SyntaxError:  # it wants UTF-8 in the very line that declares something else; the parser does not
        return "latin-1"


def _nul_line(text: bytes) -> int:
    return text.count(b"\n", 0, max(text.find(b"\0"), 0)) + 1
