"""Advice, notices and weakened claims on the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from gradhook.model.report import Notice, Report
from gradhook.model.results import TargetReport
from gradhook.reporters import baseline_changes
from gradhook.reporters.display_options import DisplayOptions
from gradhook.reporters.formatting import advice, clean, location_text
from gradhook.reporters.terminal_layout import indented


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
        for kind, what, option, before, now, place in baseline_changes.rows(report)
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in table
    ]
    return [options.paint(f"weaker than {baseline_changes.revision(report)}", "1"), *(f"  {line}" for line in lines)]
