"""Somebody wants the run to end: who, and which exit code does that come to?

Both signals arrive as ``KeyboardInterrupt``. The first one ends the workers, and what is known is shown; a second one
during that ends the command at once.
"""

from __future__ import annotations

import signal
from types import FrameType

_heard: list[int] = []


def take_termination() -> None:
    """Let SIGTERM be an interrupt, too: workers end with us."""
    signal.signal(signal.SIGTERM, _hear)


def code() -> int:
    """130 after Ctrl-C, 143 after SIGTERM, as shells have it."""
    return 128 + (_heard[0] if _heard else signal.SIGINT)


def _hear(number: int, frame: FrameType | None) -> None:
    del frame
    _heard.append(number)
    raise KeyboardInterrupt
