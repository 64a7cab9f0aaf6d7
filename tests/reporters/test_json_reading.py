"""Does a report survive being written and read?"""

from __future__ import annotations

from dataclasses import replace

from gradhook.model import Report
from gradhook.reporters.json_reading import read
from gradhook.reporters.json_report import render


def test_what_is_read_is_written_again(rich: Report) -> None:
    text = render(rich, 1)
    report, code = read(text)
    assert render(report, code) == text


def test_without_an_exit_code_the_verdict_decides(rich: Report) -> None:
    assert read(render(rich))[1] == 2
    assert read(render(replace(rich, targets=rich.targets[1:2])))[1] == 1
    assert read(render(replace(rich, targets=rich.targets[:1])))[1] == 0
