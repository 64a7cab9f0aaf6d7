"""Does it work from the comment to the report, with real checks?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import gradhook

REPOSITORY = Path(gradhook.__file__).parents[1]
SCHEMA = json.loads((REPOSITORY / "docs" / "report.schema.json").read_text(encoding="utf-8"))
SOURCE = """
import jax.numpy as jnp
from gradhook import gradcheck, uniform

def narrow(x):
    return jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype)

@gradcheck(args=(uniform(3),))  # gradhook: ignore[GRD40, GRD101]
def commented(x):
    return narrow(x)

@gradcheck(args=(uniform(3),), ignore=("GRD40",))
def annotated(x):
    return narrow(x)

@gradcheck(args=(uniform(3),))
def plain(x):
    return narrow(x)
"""


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GRADHOOK_")}
    return subprocess.run(
        [sys.executable, "-m", "gradhook", "check", "--python", sys.executable, *arguments],
        cwd=folder, env={**environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_whole_way(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "losses.py").write_text(SOURCE, encoding="utf-8")
    done = check(tmp_path, "--output-format", "json")
    report = json.loads(done.stdout)
    jsonschema.validate(report, SCHEMA)
    assert {t["target"]: t["verdict"] for t in report["targets"]} == {
        "losses:commented": "skip", "losses:annotated": "skip", "losses:plain": "undecided",
    }  # fmt: skip
    assert (done.returncode, report["verdict"]) == (1, "undecided")
    by = {item["target"]: item["by"] for item in report["ignored"]}
    assert by == {"losses:commented": "comment losses.py:8", "losses:annotated": "ignore= of the annotation"}
    assert {item["verdict"] for item in report["ignored"]} == {"undecided"}
    assert [(n["code"], n["line"], n["message"]) for n in report["notices"]] == [
        ("GRD503", 8, "nothing to ignore here: GRD101 of `# gradhook: ignore[GRD40, GRD101]`")
    ]


def test_the_last_lines(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "losses.py").write_text(SOURCE, encoding="utf-8")
    done = check(tmp_path, "-k", "losses:commented", "--ignore", "GRD503")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())  # wherever the terminal breaks its lines
    assert "findings ignored: GRD40" in said
    assert "by comment losses.py:8" in said
    assert "GRD503 by ignore (--ignore)" in said
