"""Is what was left out for want of time said, and never counted as green?"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradhook.execution import runner
from gradhook.execution.supervisor.pool import launch

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"
MODULE = """
from gradhook import gradcheck, surrogate

@gradcheck(args=())
def quick():
    return 1

@gradcheck(args=(), slow=True)
def long():
    return 1

@surrogate(forward=len, rule=len, args=(), slow=True)
def surrogate_too():
    return False
"""
TOML = '[tool.gradhook.targets."os:getcwd"]\nargs = []\nslow = true\n'


@pytest.fixture
def check(gradhook: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(runner, "launch", functools.partial(launch, boot=FAKE_BOOT))
    (tmp_path / "pyproject.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    return functools.partial(gradhook, "check", "--python", sys.executable, "--report", "json=r.json")


def verdicts(folder: Path) -> dict[str, str]:
    report = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    return {target["target"]: target["verdict"] for target in report["targets"]}


SLOW = ("m:long", "m:surrogate_too", "os:getcwd")


def test_slow_targets(check: Callable[..., Any], tmp_path: Path) -> None:
    said = check("--no-slow")
    assert verdicts(tmp_path) == {"m:quick": "pass", **dict.fromkeys(SLOW, "skip")}
    assert said.code == 0
    assert "3 targets left out as slow: nothing is known about them; -v names them\n" in said.out
    assert "1 passed, 3 skipped (3 left out: nothing is known about them) in" in said.out
    assert "m:long" not in said.out and "GRD912" not in said.out


def test_their_names(check: Callable[..., Any]) -> None:
    out = check("--no-slow", "-v").out
    assert "long" in out and "GRD912 left out as slow" in out and "help: --slow checks it" in out


def test_by_default_all_is_checked(check: Callable[..., Any], tmp_path: Path) -> None:
    assert check().code == 1
    assert verdicts(tmp_path) == {"m:quick": "pass", "m:long": "pass", "m:surrogate_too": "fail", "os:getcwd": "pass"}


def test_no_time_at_all(check: Callable[..., Any], tmp_path: Path) -> None:
    said = check("--max-seconds", "0")
    assert (said.code, set(verdicts(tmp_path).values())) == (0, {"skip"})
    assert "4 targets left out by the time budget: nothing is known about them" in said.out


def test_enough_time(check: Callable[..., Any], tmp_path: Path) -> None:
    check("--max-seconds", "500")
    assert "skip" not in verdicts(tmp_path).values()


@pytest.mark.parametrize("form", ["concise", "junit", "markdown", "sarif", "github"])
def test_no_form_shows_it_as_passed(check: Callable[..., Any], tmp_path: Path, form: str) -> None:
    if form == "concise":
        assert "pass" not in check("--no-slow", "--output-format", "concise").out
        return
    check("--max-seconds", "0", "--report", f"{form}=r.txt")
    text = (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert "passed" not in text
    assert form not in ("junit", "markdown") or text.count("left out by the time budget") >= 4
