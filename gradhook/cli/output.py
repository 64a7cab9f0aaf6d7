"""Write text to a file or to standard output, and query the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from gradhook.model.errors import GradhookError

_WIDEST = 120
_NO_TERMINAL = 100


def deliver(text: str, file: Path | None) -> None:
    """To the file, or to standard output; a reader that has gone away is no error of ours.

    Raises:
        GradhookError: the file cannot be written.
    """
    if file is not None:
        try:
            _write(text.encode("utf-8", errors="backslashreplace"), file)
        except OSError as error:
            raise GradhookError(f"{file} cannot be written: {error.strerror}", "name another file") from error
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain again at its exit
        if not isinstance(error, BrokenPipeError):  # as with `| head`
            raise GradhookError(f"standard output cannot be written: {error.strerror}", "use --output-file") from error


def _write(text: bytes, file: Path) -> None:
    """Replace the file at once: a reader meanwhile, or after a kill, finds the old or the new text.

    Where that is impossible (a device, a pipe, a folder that takes no other file), write in place.
    """
    whole = Path(os.path.realpath(file))  # what a link leads to is written, and not the link replaced
    new = whole.with_name(f".{os.urandom(8).hex()}.gradhook")
    try:
        opened = None if whole.exists() and not whole.is_file() else new.open("xb")
    except OSError:
        opened = None
    if opened is None:
        file.write_bytes(text)
        return
    try:
        with opened:
            opened.write(text)
        if whole.exists():
            new.chmod(whole.stat().st_mode)
        new.replace(whole)
    finally:
        new.unlink(missing_ok=True)


def width() -> int:
    """Columns of the terminal, within reason; a fixed number where there is none, so that logs are alike."""
    return max(40, min(shutil.get_terminal_size((_NO_TERMINAL, 24)).columns, _WIDEST))


def uses_color(choice: str, environ: Mapping[str, str], stream: TextIO) -> bool:
    """Whether to paint: ``--color``, then ``NO_COLOR``, then ``FORCE_COLOR``, then what the stream is."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (stream.isatty() and environ.get("TERM") != "dumb")


def supports_blocks(stream: TextIO) -> bool:
    """Whether a stream can show the characters that pictures are made of."""
    try:
        "▁█░┤└─".encode(getattr(stream, "encoding", None) or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def shows_progress(environ: Mapping[str, str], stream: TextIO) -> bool:
    """A line that changes is for a person at a terminal only."""
    return (
        stream.isatty()
        and not any(environ.get(name) for name in ("CI", "PRE_COMMIT"))
        and environ.get("TERM") != "dumb"
    )
