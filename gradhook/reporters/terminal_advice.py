"""What the terminal shows beside the answers: advice, notices, and what asks less than before."""

from __future__ import annotations

from collections.abc import Iterable

from gradhook.model.report import Notice, Report
from gradhook.model.results import TargetReport
from gradhook.reporters import baseline_changes
from gradhook.reporters.formatting import advice, clean, place
from gradhook.reporters.terminal_layout import View, below


def advised(targets: Iterable[TargetReport], view: View) -> list[str]:
    """A line for each piece of advice, in the order of the files; what would mend it with ``verbose``."""
    lines = []
    for target in sorted(targets, key=lambda report: (report.target.path, report.target.line)):
        for finding in advice(target):
            said = f"{place(finding, target.target)}: {finding.code} {clean(target.target.qualname)}: {finding.message}"
            first, *rest = below(said, view)
            lines += ["  " + first.lstrip(), *rest]
            lines += below(f"help: {finding.help}", view) if view.verbose and finding.help else []
    return [view.paint("advice, beyond what is claimed", "1"), *lines] if lines else []


def noticed(notices: Iterable[Notice], view: View) -> list[str]:
    """A line for each notice."""
    lines = [view.paint("notices", "1")]
    for notice in notices:
        first, *rest = below(f"{notice.path}:{notice.line}: {notice.code} {notice.message}", view)
        lines += ["  " + first.lstrip(), *rest]
    return lines


def changed(report: Report, view: View) -> list[str]:
    """A table with aligned columns, and without a line of its own for the names of the columns."""
    table = [
        (kind, what, option, f"{before} -> {now}", place)
        for kind, what, option, before, now, place in baseline_changes.rows(report)
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in table
    ]
    return [view.paint(f"asks less than {baseline_changes.revision(report)}", "1"), *(f"  {line}" for line in lines)]
