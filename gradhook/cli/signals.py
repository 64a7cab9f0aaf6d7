"""Somebody wants the run to end: who, and which exit code does that come to?

The first signal arrives as ``KeyboardInterrupt``: workers are ended, and what is known is shown. A second one ends the
command at once; one that comes right after the first is the same, sent by the terminal and passed on by a wrapper.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

_SAME = 0.5
"""Seconds within which signals count as one."""
_heard: list[tuple[int, float]] = []


def take_signals() -> None:
    """Let SIGTERM be an interrupt, too; a Ctrl-C that whoever started us wants ignored stays ignored."""
    signal.signal(signal.SIGTERM, _hear)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _hear)


def code() -> int:
    """130 after Ctrl-C, 143 after SIGTERM, as shells have it."""
    return 128 + (_heard[0][0] if _heard else signal.SIGINT)


def _hear(number: int, frame: FrameType | None) -> None:
    del frame
    now = time.monotonic()
    if not _heard:
        _heard.append((number, now))
        raise KeyboardInterrupt
    if now - _heard[0][1] > _SAME:
        _quit()


def _quit() -> None:
    """End without asking anybody: no lock is taken, no output is flushed."""
    if process := sys.modules.get("gradhook.execution.supervisor.process"):
        process.kill_all()
    os._exit(code())
