"""Lay texts out in lines: a verdict, a name, and wrapped text beside or below them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from gradhook.model.errors import shortened
from gradhook.model.results import Verdict
from gradhook.reporters.display_options import MARGIN, DisplayOptions
from gradhook.reporters.formatting import clean, one_line

_WORD = {
    Verdict.ERROR: "ERROR",
    Verdict.FAIL: "FAIL",
    Verdict.UNDECIDED: "UNDECIDED",
    Verdict.PASS: "pass",
    Verdict.SKIP: "skip",
}
STYLE = {
    Verdict.ERROR: "1;31",
    Verdict.FAIL: "1;31",
    Verdict.UNDECIDED: "1;33",
    Verdict.PASS: "32",
    Verdict.SKIP: "2",
}
_UNBROKEN = "\x00"
_COMMANDS = ("::", "##[", 'File "')
"""What a CI service obeys at the beginning of a line, after white space too."""
_LONGEST_MESSAGE = 2000


def row(verdict: Verdict, name: str, text: str, options: DisplayOptions) -> Iterator[str]:
    """Verdict, name and the beginning of the text on one line where they fit."""
    lead = f"  {_WORD[verdict]:<9} {name}"
    painted = lead.replace(_WORD[verdict], options.paint(_WORD[verdict], STYLE[verdict]), 1)
    lines = list(indented(text, options))
    if lines and len(lead) < options.indent:
        lines[0] = painted + lines[0][len(lead) :]
        yield from lines
    else:
        yield from [painted.rstrip(), *lines]


def indented(text: str, options: DisplayOptions) -> Iterator[str]:
    """The text, wrapped, in the column of texts."""
    text = text if options.verbose else shortened(text, _LONGEST_MESSAGE)
    yield from (" " * options.indent + line for line in wrap(text, max(options.width - options.indent, 20)))


def wrap(text: str, room: int) -> list[str]:
    """The text in lines of so many characters, none of which begins like a command of a workflow or a traceback."""
    safe = _UNBROKEN.join(one_line(part) for part in text.split(_UNBROKEN))
    for command in _COMMANDS:
        safe = safe.replace(f" {command}", f"{_UNBROKEN}{command}")
    lines = textwrap.wrap(safe, room, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_UNBROKEN, " ") for line in lines]


def join_facts(parts: Iterable[str]) -> str:
    """Short facts on one line, which is wrapped between them and not within."""
    return " · ".join(one_line(part).replace(" ", _UNBROKEN) for part in parts)


def unwrapped(text: str, options: DisplayOptions) -> Iterator[str]:
    """A command in one piece, that can be copied: rather beyond the edge than broken."""
    text = clean(text)
    yield " " * (options.indent if options.indent + len(text) <= options.width else MARGIN) + text
