"""Do shards, workers and their reports come to what one process alone comes to, with workers that really run?"""

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
CLAIM = "@gradcheck(args=())\ndef {0}():\n    return {1}\n\n"
LOOP = "def {0}():\n    return 1\nfor function in ({0},):\n    gradcheck(args=())(function)\n"


@pytest.fixture
def check(gradhook: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A run that writes ``NAME.json``."""
    monkeypatch.setattr(runner, "launch", functools.partial(launch, boot=FAKE_BOOT))
    (tmp_path / "pyproject.toml").touch()
    head = "import os\nfrom gradhook import gradcheck\n"
    for module in "abc":
        claims = "".join(CLAIM.format(f"f{n}", f"len({module * n!r}) != 3") for n in range(4))
        (tmp_path / f"{module}.py").write_text(head + claims, encoding="utf-8")
    (tmp_path / "d.py").write_text(head + CLAIM.format("dies", "os._exit(3)") + CLAIM.format("after", "1"))
    (tmp_path / "e.py").write_text(head + CLAIM.format("seen", "1") + LOOP.format("unseen"))

    def call(name: str, *arguments: str) -> dict[str, Any]:
        words = ("--python", sys.executable, "--no-cache", "--report", f"json={name}.json")
        gradhook("check", *words, *arguments)
        return read(tmp_path / f"{name}.json")

    return call


def read(file: Path) -> dict[str, Any]:
    """A report without what may differ: times, and how the work was divided."""
    report = json.loads(file.read_text(encoding="utf-8"))
    for item in (report, *report["targets"]):
        item.pop("seconds")
        item.pop("compilations", None)
    report["settings"] = {k: v for k, v in report["settings"].items() if k not in ("jobs", "shard")}
    return report


@pytest.mark.parametrize("workers", ["2", "5"])
def test_any_number_of_workers(check: Callable[..., Any], workers: str) -> None:
    assert check("many", "-j", workers) == check("one", "-j", "1")


@pytest.mark.parametrize("times", [(), ("--durations-from", "one.json")])
@pytest.mark.parametrize("count", [2, 3])
def test_shards_merged(
    check: Callable[..., Any], gradhook: Callable[..., Any], tmp_path: Path, count: int, times: tuple[str, ...]
) -> None:
    one = check("one", "-j", "1")
    parts = [check(str(k), "-j", "1", "--shard", f"{k}/{count}", *times) for k in range(1, count + 1)]
    names = [item["target"] for part in parts for item in part["targets"] if "unseen" not in item["target"]]
    assert sorted(names) == sorted({item["target"] for item in one["targets"]} - {"e:unseen"})
    code = gradhook("merge", *(f"{k}.json" for k in range(1, count + 1)), "--report", "json=merged.json").code
    merged = read(tmp_path / "merged.json")
    key = lambda item: (item["path"], item["line"])  # noqa: E731
    assert sorted(merged.pop("targets"), key=key) == sorted(one.pop("targets"), key=key)
    assert (merged, code) == (one, one["exit_code"])
