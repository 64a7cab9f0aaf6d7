"""Options that decide how much of a report a reader is shown, and in which style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SourceLines = Mapping[tuple[str, int], str]
"""Lines of the user's code, ``13 | def huber(x):``, by path and line."""
MARGIN = 12  # two spaces, the longest verdict, one space


@dataclass(frozen=True)
class DisplayOptions:
    """How a report is displayed; formats for programs use none of it."""

    width: int = 100
    """Characters a line; only words longer than the room that is left go beyond it."""
    color: bool = False
    """Paint verdicts with ANSI escapes."""
    verbose: bool = False
    """Also show every case, skipped checks, notes of passes, times, every finding, charts and all printed output."""
    quiet: bool = False
    """Leave out what passed, and the environment."""
    only_failures: bool = False
    """Leave out everything that neither failed nor could not be run; the last line still counts it."""
    durations: int = 0
    """Also show so many of the slowest targets."""
    blocks: bool = True
    """Draw with characters that ASCII does not have."""
    sources: SourceLines = field(default_factory=dict)
    """The lines of code that are quoted below findings; empty where the report may be of another checkout."""
    indent: int = MARGIN
    """The column in which texts begin; the terminal reporter sets it for each file."""

    def paint(self, text: str, style: str) -> str:
        """The text in an ANSI style, or as it is without ``color``."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.color else text


DEFAULT_DISPLAY = DisplayOptions()
