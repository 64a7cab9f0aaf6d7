"""The line on standard error that shows how far a run is."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

import click

from gradhook.cli.options import CommandFunction
from gradhook.cli.output import shows_progress
from gradhook.model.results import Target, Verdict
from gradhook.reporters.formatting import clean

if TYPE_CHECKING:
    from gradhook.execution.runner import Progress

_ERASE = "\x1b[K"
_TICK = 1.0
_STAGES = {"start": "", "import": "importing"}
_VERDICTS = frozenset(verdict.value for verdict in Verdict)


@dataclass
class _Line:
    """The line as it stands; it is written over, and what is left of a longer one before is erased."""

    stream: TextIO
    total: int
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    now: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def update(self, target: Target, stage: str) -> None:
        """Show that a target is at a stage: its import, its start, a case, or its verdict."""
        with self.lock:
            if stage in _VERDICTS:
                self.done += 1
                self.total = max(self.total, self.done)
            else:
                self.now = " · ".join(filter(None, (target.name, _STAGES.get(stage, stage))))
            self._draw()

    def tick(self) -> None:
        """Let the seconds go on while a target takes its time."""
        while not self.over.wait(_TICK):
            with self.lock:
                self._draw()

    def erase(self) -> None:
        """Leave nothing behind."""
        self.over.set()
        with self.lock:
            self._write(f"\r{_ERASE}")

    def _draw(self) -> None:
        if not self.over.is_set():
            seconds = int(time.monotonic() - self.started)
            line = f"{self.done}/{self.total} · {seconds // 60}:{seconds % 60:02} · {self.now}"
            columns = shutil.get_terminal_size((80, 24)).columns
            self._write(f"\r{truncate_columns(clean(line), columns - 1)}{_ERASE}")

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            self.over.set()  # the terminal is gone, which is no reason to end


def option(command: CommandFunction) -> CommandFunction:
    """``--progress/--no-progress``."""
    words = "Whether a line on standard error shows how far the run is.  [default: on a terminal, not in CI]"
    return click.option(
        "--progress/--no-progress", "progressing", default=None, envvar="GRADHOOK_PROGRESS", help=words
    )(command)


@contextmanager
def progress(quiet: bool, total: int = 0, shows: bool | None = None) -> Iterator[Progress | None]:
    """A changing line on standard error, erased at the end; None where it is switched off."""
    if not (shows_progress(os.environ, sys.stderr) and not quiet if shows is None else shows):
        yield None
        return
    line = _Line(sys.stderr, total)
    threading.Thread(target=line.tick, daemon=True).start()
    try:
        yield line.update
    finally:
        line.erase()


def truncate_columns(text: str, columns: int) -> str:
    """As much of the text as fits: letters of Eastern scripts take two columns, combining marks none."""
    used = 0
    for place, letter in enumerate(text):
        wide = unicodedata.east_asian_width(letter) in "WF"
        used += 0 if unicodedata.combining(letter) else 2 if wide else 1
        if used > columns:
            return text[:place]
    return text
