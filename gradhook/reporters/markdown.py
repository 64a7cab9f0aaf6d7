"""Foreign text in Markdown that stays text, inside tables as well.

The rules are those of GitHub Flavored Markdown: https://github.github.com/gfm/#code-spans, #tables-extension-.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gradhook.reporters.formatting import clean

NAME, TEXT = 200, 2000
"""Characters that are kept of a name, and of a message or a command."""


def truncate(text: str, most: int) -> str:
    """The beginning of a long text, with a sign that something is missing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def code(text: str, most: int = NAME) -> str:
    """Foreign text on one line as code; an empty text stays empty.

    A pipe ends a table's cell even in a code span, and whether a backslash before it helps depends on what stands
    before the backslash: such text goes into an HTML element, character by character where it matters.
    """
    shown = truncate(clean(text), most)
    if not shown.strip():
        return ""
    if "|" in shown:
        return f"<code>{re.sub(r'[^A-Za-z0-9 ]', _entity, shown)}</code>"
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def block(lines: Iterable[str]) -> str:
    """Foreign lines as a block of code that none of them can end."""
    shown = [truncate(clean(line.expandtabs(4)), TEXT) for line in lines]
    fence = "`" * max(3, _longest_run("\n".join(shown)) + 1)
    return "\n".join([f"{fence}text", *shown, fence]) + "\n"


def row(cells: Iterable[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |\n"


def table_head(names: Iterable[str]) -> str:
    """The two lines that begin a table."""
    names = list(names)
    return row(names) + row("---" for _ in names)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"
