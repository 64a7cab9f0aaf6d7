"""Is the workflow with which the action tests itself green, and does it show what it should?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORKFLOW = ".github/workflows/selftest.yml"


@pytest.fixture
def stand_ins(act: Any, stub: Callable[[str, str], Path], checkout: Path, tmp_path: Path) -> None:
    """What the workflow uses of others, on this machine: nothing to set up, and a folder for what is kept."""
    kept = tmp_path / "kept"
    scripts = {
        "actions/setup-python": "true",
        "actions/upload-artifact": f'mkdir -p "{kept}" && cp "$IN_PATH" "{kept}/"',
        "actions/download-artifact": f'mkdir -p "$IN_PATH" && cp "{kept}"/$IN_PATTERN.json "$IN_PATH/"',
    }
    text = (checkout / WORKFLOW).read_text(encoding="utf-8")
    for name, script in scripts.items():
        (used,) = set(re.findall(rf"uses: ({name}@\S+)", text))
        act.stands_for[used] = stub(name.replace("/", "-"), script)


@pytest.mark.usefixtures("stand_ins")
def test_the_selftest_is_green(act: Any, checkout: Path) -> None:
    pytest.importorskip("jax")
    run = act.run(
        checkout, "-W", WORKFLOW, "--matrix", "os:ubuntu-latest", "--matrix", "shard:1", "--matrix", "shard:2"
    )
    assert run.code == 0, run.text
    for job in ("good", "bad", "shard", "merge", "selftest"):
        assert run.result(job) == "success", job
    good, bad = run.summary("good", "gradhook"), run.summary("bad", "gradhook")
    assert good.startswith("## gradhook: pass\n")
    assert good.count("## gradhook") == bad.count("## gradhook") == 1
    assert bad.startswith("## gradhook: fail\n")
    assert "examples/wrong/solvers.py:" in bad
    assert run.annotations("good") == []
    assert run.outcome("bad", "gradhook") == "failure"
    assert run.outputs("bad", "gradhook")["exit-code"] == "1"
    first = run.annotations("bad")[0]
    assert (first["level"], first["file"]) == ("error", "examples/wrong/solvers.py")
    assert first["title"].startswith("GRD10")
    assert run.summary("merge", "merge").startswith("## gradhook: pass\n")
