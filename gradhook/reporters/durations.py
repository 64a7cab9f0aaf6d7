"""The slowest targets, with their time of compilation."""

from __future__ import annotations

from collections.abc import Iterator

from gradhook.model.report import Report
from gradhook.reporters.formatting import clean


def slowest(report: Report, count: int) -> Iterator[str]:
    """A heading and a line for each of the slowest ``count`` targets that were examined in this run."""
    timed = [target for target in report.targets if not target.cached and target.seconds.total > 0]
    chosen = sorted(timed, key=lambda target: (-target.seconds.total, target.target.name))[:count]
    if not chosen:
        return
    yield f"slowest {len(chosen)} of {len(timed)} by seconds: wall, compile, run, and programs compiled"
    for target in chosen:
        spent = target.seconds
        numbers = f"{target.seconds.total:>9.2f} {spent.compile:>8.2f} {spent.run:>8.2f} {spent.compilations:>5}"
        yield f"{numbers}  {clean(target.target.name)}"
