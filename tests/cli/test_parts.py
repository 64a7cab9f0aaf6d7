"""Does a part of the targets cost only that part, with the worker that really runs them?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TARGETS = """
from pathlib import Path
from gradhook import gradcheck

@gradcheck(args=(1.0,))
def first(x):
    Path("first").touch()
    return x * x

@gradcheck(args=(1.0,))
def second(x):
    Path("second").touch()
    return x * x
"""


@pytest.mark.parametrize(
    ("words", "called"),
    [(["-k", "first"], {"first"}), (["--shard", "2/2"], {"second"}), (["-k", "second", "--shard", "1/1"], {"second"})],
)
def test_the_others_are_not_called(
    gradhook: Callable[..., object], tmp_path: Path, words: list[str], called: set[str]
) -> None:
    pytest.importorskip("jax")
    (tmp_path / "m.py").write_text(TARGETS, encoding="utf-8")
    gradhook("check", "--python", sys.executable, "--report", "json=r.json", *words)
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert {target["target"] for target in report["targets"]} == {f"m:{name}" for name in called}
    assert report["verdict"] == "pass"
    assert {path.name for path in tmp_path.iterdir() if path.name in ("first", "second")} == called
