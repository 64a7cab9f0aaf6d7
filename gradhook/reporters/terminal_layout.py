"""Lay texts out in lines on the terminal: verdicts, wrapped text, advice, notices and weakened claims."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from gradhook.model.errors import shortened
from gradhook.model.report import Notice, Report
from gradhook.model.results import TargetReport, Verdict
from gradhook.reporters import shared_rows
from gradhook.reporters.display_options import MARGIN, DisplayOptions
from gradhook.reporters.formatting import advice, clean, location_text, one_line

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


def advice_lines(targets: Iterable[TargetReport], options: DisplayOptions) -> list[str]:
    """A line for each piece of advice, in the order of the files; its help with ``verbose``."""
    lines = []
    for target in sorted(targets, key=lambda report: (report.target.path, report.target.line)):
        for finding in advice(target):
            where = f"{location_text(finding, target.target)}: {finding.code} {clean(target.target.qualname)}"
            first, *rest = indented(f"{where}: {finding.message}", options)
            lines += ["  " + first.lstrip(), *rest]
            lines += indented(f"help: {finding.help}", options) if options.verbose and finding.help else []
    return [options.paint("advice, beyond what is claimed", "1"), *lines] if lines else []


def notice_lines(notices: Iterable[Notice], options: DisplayOptions) -> list[str]:
    """A line for each notice."""
    lines = [options.paint("notices", "1")]
    for notice in notices:
        first, *rest = indented(f"{notice.path}:{notice.line}: {notice.code} {notice.message}", options)
        lines += ["  " + first.lstrip(), *rest]
    return lines


def change_lines(report: Report, options: DisplayOptions) -> list[str]:
    """A table with aligned columns, and without a line of its own for the names of the columns."""
    table = [
        (
            kind,
            what,
            option,
            f"{before} removed" if (kind, option) == ("removed", "claim") else f"{before} -> {now}",
            place,
        )
        for kind, what, option, before, now, place in shared_rows.rows(report)
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in table
    ]
    return [options.paint(f"weaker than {shared_rows.revision(report)}", "1"), *(f"  {line}" for line in lines)]
