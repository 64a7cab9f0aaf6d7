"""Where does a text go, and what does the place that it goes to look like?"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from gradhook.errors import GradhookError

_WIDEST = 120
_NO_TERMINAL = 100


def deliver(text: str, file: Path | None) -> None:
    """To the file, or to standard output; a reader that has gone away is no error of ours.

    Raises:
        GradhookError: the file cannot be written.
    """
    if file is not None:
        try:
            file.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise GradhookError(f"{file} cannot be written: {error.strerror}", "name another file") from error
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # as with `| head`; Python would complain again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def width() -> int:
    """Columns of the terminal, within reason; a fixed number where there is none, so that logs are alike."""
    return max(40, min(shutil.get_terminal_size((_NO_TERMINAL, 24)).columns, _WIDEST))


def paints(choice: str, environ: Mapping[str, str], stream: TextIO) -> bool:
    """Whether to paint: ``--color``, then ``NO_COLOR``, then ``FORCE_COLOR``, then what the stream is."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (stream.isatty() and environ.get("TERM") != "dumb")


def shows_progress(environ: Mapping[str, str], stream: TextIO) -> bool:
    """Only a person at a terminal wants a line that changes."""
    return (
        stream.isatty()
        and not any(environ.get(name) for name in ("CI", "PRE_COMMIT"))
        and environ.get("TERM") != "dumb"
    )
