"""Which line of the source stands beside a finding?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradhook.cli.display import source_lines
from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, Target, TargetReport, Verdict


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def ask(content: bytes | None, line: int, path: str = "m.py") -> str | None:
        if content is not None:
            Path(path).write_bytes(content)
        target = Target("m", "f", path, line, line, ClaimKind.EXACT, str(tmp_path))
        report = TargetReport(target, Verdict.FAIL, (), (Finding("GRD101", Verdict.FAIL, "wrong"),))
        return source_lines(Report((report,))).get((path, line))

    return ask


@pytest.mark.parametrize(
    ("content", "line", "shown"),
    [
        (b"import jax\n\ndef f(x):\n", 3, "3 | def f(x):"), (b"\tdef f(x):\r\n", 1, "1 | def f(x):"),
        (b"@jit\n@other(\n    1)\n\nasync def f(x):\n", 1, "5 | async def f(x):"), (b"@jit\nf = 3\n", 1, "1 | @jit"),
        (b"a\x0cb\n\xe2\x80\xa8c\nd", 3, "3 | d"), (b"\xff\xfe\n", 1, "1 | \ufffd\ufffd"),
        (b"\n", 1, None), (b"x", 9, None), (b"", 1, None), (None, 1, None),
    ],
)  # fmt: skip
def test_the_line(said, content: bytes | None, line: int, shown: str | None) -> None:
    assert said(content, line) == shown


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_keeps_nobody_waiting(said) -> None:
    os.mkfifo("m.py")
    assert said(None, 1) is None


@pytest.mark.parametrize("path", ["no/such", ".", "a\x00b"])
def test_what_cannot_be_read(said, path: str) -> None:
    assert said(None, 1, path) is None
