"""What others may have written is read as it is, or refused with a clear error; nothing passes for something better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fuzz import reading
from fuzz.samples import MESSAGES, REPORTS

from gradhook.cli.main import run
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import decode
from gradhook.reporters.json_reading import read_report

COUNT = 120


def test_garbage_of_every_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    counts, wrong = reading.run(COUNT, seed=20)
    assert not wrong, "\n".join(wrong[:5])
    assert sum(counts.values()) == COUNT * len(reading.KINDS)
    assert all(counts[f"{kind}: accepted"] for kind in reading.KINDS)


def test_what_is_believed_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradhook.reporters.json_reading._require_consistency", lambda *arguments: None)
    monkeypatch.setattr(reading, "KINDS", {"reports": reading.report})
    assert any("believed" in line for line in reading.run(400, seed=1)[1])


@pytest.mark.parametrize(
    "line",
    [
        "", "{}", "[]", "3", "null", '{"message": "Bye"', '{"message": "Nothing"}', '{"message": ["Bye"]}',
        '{"message": "Bye", "rest": 1}', '{"message": "Bye", "rest": true, "rest": false}',
        '{"message": "Began", "number": true, "stage": "x"}', '{"message": "Began", "number": 1e3, "stage": "x"}',
        '{"message": "Began", "number": 1}', '{"message": "Hello", "environment": NaN}', '{"message": ' + "[" * 100_000,
        '{"message": "Began", "number": ' + "9" * 5000 + ', "stage": "x"}',
    ],
)  # fmt: skip
def test_lines_that_are_no_message(line: str) -> None:
    with pytest.raises(GradhookError, match="do not understand each other"):
        decode(line)


def test_a_request_of_another_version() -> None:
    with pytest.raises(GradhookError, match="version 99"):
        decode(json.dumps({**MESSAGES[0], "version": 99}))


def changed(**keys: Any) -> str:
    return json.dumps({**REPORTS[0], **keys})


@pytest.mark.parametrize(
    "text, reason",
    [
        (changed(exit_code=0), "exit code 0 contradicts its verdict fail"),
        (changed(exit_code=7), "exit code 7"),
        (changed(exit_code=True), "bool where int"),
        (changed(verdict="pass"), "contradict each other"),
        (changed(counts={"pass": 3, "fail": 0, "undecided": 0, "error": 0, "skip": 0}), "contradict each other"),
        (changed(targets=[]), "contradict each other"),
        (changed(schema=3), "schema 3"),
        (changed(settings={"shard": 3}), "settings are no table"),
        (changed(seconds=10**400), "no report"),
        (changed(notices=None), "no report"),
        (json.dumps(REPORTS[0])[:-1] + ', "exit_code": 0}', "stands twice"),
        (json.dumps(REPORTS[0]).replace('"line": 3', '"line": 1e999', 1), "no report"),
        (json.dumps(REPORTS[0]).replace('"verdict": "fail", "cached"', '"verdict": "pass", "cached"'), "contradict"),
        ('{"schema": 1, "targets": ' + "[" * 100_000, "no report"),
    ],
)  # fmt: skip
def test_reports_that_nobody_should_believe(text: str, reason: str, tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(ValueError, match=reason):
        read_report(text)
    (tmp_path / "r.json").write_text(text)
    assert run(["merge", str(tmp_path / "r.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_an_exit_code_that_settings_explain() -> None:
    lenient = {**REPORTS[0]["settings"], "exit_zero": {"value": True, "origin": "--exit-zero"}}
    assert read_report(changed(exit_code=0, settings=lenient))[1] == 0
    forgiving = {**REPORTS[2]["settings"], "undecided": {"value": "warn", "origin": "default"}}
    assert read_report(json.dumps({**REPORTS[2], "exit_code": 0, "settings": forgiving}))[1] == 0
