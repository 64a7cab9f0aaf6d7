"""Are the slowest targets shown, and what of their time is compiling?"""

from __future__ import annotations

from typing import Any

from gradhook.model.report import Report
from gradhook.model.results import Seconds, Verdict
from gradhook.reporters import terminal
from gradhook.reporters.display_options import DisplayOptions
from gradhook.reporters.terminal import slowest


def test_the_slowest_first(target: Any) -> None:
    report = Report(
        (
            target("quick", Verdict.PASS, seconds=Seconds(0.1, 0.01, 0.2, 3)),
            target("slow\n", Verdict.FAIL, seconds=Seconds(10.5, 0.25, 12.0, 41)),
            target("old", Verdict.PASS, seconds=Seconds(1.0, 0.5)),
            target("recalled", Verdict.PASS, cached=True, seconds=Seconds(99.0, 99.0, 99.0, 9)),
            target("refused", Verdict.ERROR),
        )
    )
    head = "slowest 2 of 3 by seconds: wall, compile, run, and programs compiled"
    rows = ["    12.00    10.50     0.25    41  losses:slow\\n", "     1.50     1.00     0.50     0  losses:old"]
    assert list(slowest(report, 2)) == [head, *rows]
    assert "\n".join([head, *rows]) in terminal.render(report, DisplayOptions(durations=2))
    assert "slowest" not in terminal.render(report)
    assert list(slowest(Report(()), 5)) == []
