"""How do texts get onto the lines of a screen: a verdict, a name, and beside or below them what there is to say?"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gradhook.model.errors import shortened
from gradhook.model.results import Verdict
from gradhook.reporters.formatting import clean, flat

_WORD = {
    Verdict.ERROR: "ERROR",
    Verdict.FAIL: "FAIL",
    Verdict.UNDECIDED: "????",
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
MARGIN = 8  # two spaces, the longest verdict, one space
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class View:
    """What the user asked of the screen, and the column in which texts begin."""

    width: int
    color: bool
    verbose: bool
    quiet: bool
    only_failures: bool
    blocks: bool
    sources: Mapping[tuple[str, int], str]
    indent: int = MARGIN

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color else text


def row(verdict: Verdict, name: str, text: str, view: View) -> Iterator[str]:
    """Verdict, name and the beginning of the text on one line where they fit."""
    lead = f"  {_WORD[verdict]:<5} {name}"
    painted = lead.replace(_WORD[verdict], view.paint(_WORD[verdict], STYLE[verdict]), 1)
    lines = list(below(text, view))
    if lines and len(lead) < view.indent:
        lines[0] = painted + lines[0][len(lead) :]
        yield from lines
    else:
        yield from [painted.rstrip(), *lines]


def below(text: str, view: View) -> Iterator[str]:
    """The text, wrapped, in the column of texts."""
    text = text if view.verbose else shortened(text, _LONGEST_MESSAGE)
    yield from (" " * view.indent + line for line in wrapped(text, max(view.width - view.indent, 20)))


def wrapped(text: str, room: int) -> list[str]:
    safe = _UNBROKEN.join(flat(part) for part in text.split(_UNBROKEN))
    lines = textwrap.wrap(safe, room, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_UNBROKEN, " ") for line in lines]


def dotted(parts: Iterable[str]) -> str:
    """Short facts on one line, which is wrapped between them and not within."""
    return " · ".join(flat(part).replace(" ", _UNBROKEN) for part in parts)


def unbroken(text: str, view: View) -> Iterator[str]:
    """A command in one piece, that can be copied: rather beyond the edge than broken."""
    text = clean(text)
    yield " " * (view.indent if view.indent + len(text) <= view.width else MARGIN) + text
