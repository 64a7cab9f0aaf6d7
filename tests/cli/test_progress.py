"""Is the line of progress there for who sees it, true, short enough, and gone at the end?"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.cli.progress import progress, truncate_columns
from gradhook.model.results import ClaimKind, Target


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Not yet standard error: pytest puts its own there before the test begins."""
    stream = Terminal()
    monkeypatch.setenv("COLUMNS", "40")
    for name in ("CI", "PRE_COMMIT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def target(name: str) -> Target:
    return Target("m", name, "m.py", 1, 1, ClaimKind.EXACT, "/r")


def test_count_time_and_target_in_one_line_that_is_written_over(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress(False, 2) as show:
        assert show is not None
        for stage in ("import", "start", "batch", "pass"):
            show(target("first"), stage)
        show(target("second_with_a_name_that_is_far_too_long"), "start")
    lines = [line.removesuffix("\x1b[K") for line in terminal.getvalue().split("\r")]
    assert lines[1:] == [
        "0/2 · 0:00 · m:first · importing",
        "0/2 · 0:00 · m:first",
        "0/2 · 0:00 · m:first · batch",
        "1/2 · 0:00 · m:first · batch",
        "1/2 · 0:00 · m:second_with_a_name_that_",
        "",
    ]
    assert max(map(len, lines)) <= 39 and "\n" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("quiet", "shows", "variable", "is_there"),
    [
        (False, None, "", True),
        (True, None, "", False),
        (False, False, "", False),
        (False, None, "CI", False),
        (False, None, "PRE_COMMIT", False),
        (False, True, "CI", True),
        (True, True, "", True),
    ],
)
def test_who_sees_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, quiet: bool, shows: bool | None, variable: str, is_there: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)
    if variable:
        monkeypatch.setenv(variable, "1")
    with progress(quiet, 1, shows) as show:
        assert (show is not None) is is_there
    assert bool(terminal.getvalue()) is is_there


@pytest.mark.usefixtures("verdicts")
def test_nothing_in_a_pipe(gradhook: Callable[..., object], project: Callable[..., Path]) -> None:
    project("good")
    said = gradhook("check")
    assert said.err == ""  # type: ignore[attr-defined]


@given(text=st.text(), columns=st.integers(0, 50))
def test_no_line_is_wider_than_it_may(text: str, columns: int) -> None:
    assert text.startswith(truncate_columns(text, columns))
    assert len(re.sub(r"[\u0300-\u036f]", "", truncate_columns("größe日本" * 9, columns))) <= columns
    assert truncate_columns("日本語", 5) == "日本" and truncate_columns("e\u0301e", 1) == "e\u0301"
