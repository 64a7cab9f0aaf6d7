"""Answers from the cache: failures are shown at once, marked in every form, and still count."""

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
from gradhook.reporters import concise

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"
MODULE = """
from gradhook import gradcheck

@gradcheck(args=())
def right():
    return 1

@gradcheck(args=())
def wrong():
    return False
"""


@pytest.fixture
def check(gradhook: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``gradhook check`` in a project whose only failure was kept."""
    monkeypatch.setattr(runner, "launch", functools.partial(launch, boot=FAKE_BOOT))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    call = functools.partial(gradhook, "check", "--python", sys.executable)
    first = call()
    assert (first.code, "1 failed, 1 passed in" in first.out, "cached" in first.out) == (1, True, False)
    monkeypatch.setattr(runner, "launch", None)
    return call


def test_on_the_screen(check: Callable[..., Any]) -> None:
    said = check()
    assert said.code == 1
    assert "1 failed (1 cached), 1 passed (1 cached) in" in said.out
    assert "m.py:9 · cached\n" in said.out
    assert said.out.count("cached") == 4


FORMS = {
    "json": '"cached": true',
    "junit": "<system-out>cached</system-out>",
    "sarif": '"cached": true',
    "markdown": "(cached)",
    "github": "(cached)",
    "gitlab": "(cached)",
}


@pytest.mark.parametrize("form", FORMS)
def test_in_every_form(check: Callable[..., Any], tmp_path: Path, form: str) -> None:
    assert check("--report", f"{form}=r.txt").code == 1
    assert FORMS[form] in (tmp_path / "r.txt").read_text(encoding="utf-8")


def test_for_editors(check: Callable[..., Any]) -> None:
    said = check("--output-format", "concise")
    assert said.code == 1
    assert said.out.startswith("m.py:9: - fail m:wrong ")
    assert said.out.endswith(" [cached]\n")
    assert "[cached]" in (concise.__doc__ or "")


def test_a_filter_of_findings_is_no_other_question(check: Callable[..., Any]) -> None:
    said = check("--select", "GRD2")
    assert "2 undecided (2 cached)" in said.out


def test_asked_anew(check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "launch", functools.partial(launch, boot=FAKE_BOOT))
    said = check("--no-cache")
    assert said.code == 1 and "cached" not in said.out


def test_the_page_has_them_from_the_second_time_on(
    check: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a picture needs is another question, whose answer is kept like any other."""
    monkeypatch.setattr(runner, "launch", functools.partial(launch, boot=FAKE_BOOT))
    check("--report", "html=r.html")
    monkeypatch.setattr(runner, "launch", None)
    assert check("--report", "html=r.html", "--report", "json=r.json").code == 1
    assert "cached" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert all(t["cached"] for t in json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["targets"])
