"""Read and parse one Python file."""

from __future__ import annotations

import ast
import sys
import warnings
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
