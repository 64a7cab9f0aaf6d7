"""Handlers of SIGINT and SIGTERM, and the exit codes of an interrupted run.

The first signal arrives as ``KeyboardInterrupt``: workers are ended, and the results so far are shown. A second one
ends the command at once; one right after the first is the same, sent by the terminal and passed on by a wrapper.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

_SAME_SIGNAL = 0.5
"""Seconds within which signals count as one."""
_received: list[tuple[int, float]] = []


def install_signal_handlers() -> None:
    """Let SIGTERM be an interrupt, too; a SIGINT that the parent process ignores stays ignored."""
    signal.signal(signal.SIGTERM, _on_signal)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_signal)


def code() -> int:
    """130 after Ctrl-C, 143 after SIGTERM, as shells have it."""
    return 128 + (_received[0][0] if _received else signal.SIGINT)


def _on_signal(number: int, frame: FrameType | None) -> None:
    del frame
    now = time.monotonic()
    if not _received:
        _received.append((number, now))
        raise KeyboardInterrupt
    if now - _received[0][1] > _SAME_SIGNAL:
        _quit()


def _quit() -> None:
    """End at once: no lock is taken, no output is flushed."""
    if process := sys.modules.get("gradhook.execution.supervisor.process"):
        process.kill_all()
    os._exit(code())
