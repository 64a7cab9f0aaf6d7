"""Does a report survive being written and read?"""

from __future__ import annotations

import json
from dataclasses import replace

from gradhook.model.report import Report
from gradhook.reporters.json_reading import read_report
from gradhook.reporters.json_report import render


def test_what_is_read_is_written_again(rich: Report) -> None:
    text = render(rich, 2)
    report, code = read_report(text)
    assert render(report, code) == text


def test_without_an_exit_code_the_verdict_decides(rich: Report) -> None:
    assert read_report(render(rich))[1] == 2
    assert read_report(render(replace(rich, targets=rich.targets[1:2])))[1] == 1
    assert read_report(render(replace(rich, targets=rich.targets[:1])))[1] == 0


def test_pictures_survive_as_well(pictured: Report) -> None:
    text = render(pictured, 2)
    report, code = read_report(text)
    assert render(report, code) == text
    assert report.targets[1].findings[0].curve == pictured.targets[1].findings[0].curve


def test_a_report_from_before_pictures_is_read(rich: Report) -> None:
    document = json.loads(render(rich))
    for target in document["targets"]:
        for item in (*target["findings"], *target["outcomes"]):
            for name in ("curve", "jacobian", "staircases"):
                item.pop(name, None)
    assert render(read_report(json.dumps(document))[0]) == render(rich)
