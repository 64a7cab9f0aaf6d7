"""Does ``gradhook env`` say what runs, and what is known when nothing can run?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest


def test_what_is_known_is_shown_when_there_is_no_interpreter(gradhook, project) -> None:
    folder = project(toml="[tool.gradhook]\npython = 'nowhere/python'\n")
    said = gradhook("env", "--output-format", "json")
    assert said.code == 2
    known = json.loads(said.out)
    assert known["config"] == str(folder / "pyproject.toml")
    assert known["gradhook_interpreter"] == sys.executable
    assert known["settings"]["python"] == {
        "value": str(folder / "nowhere" / "python"), "origin": "pyproject.toml", "line": 2,
    }  # fmt: skip
    assert "nowhere/python, named by pyproject.toml: no such file" in said.err


def test_the_whole_environment(gradhook, project) -> None:
    pytest.importorskip("jax")
    project(toml="[tool.gradhook]\nseed = 3\n")
    said = gradhook("env", "--python", sys.executable)
    assert (said.code, said.err) == (0, "")
    rows = {name: value for name, _, value in (line.partition("  ") for line in said.out.splitlines())}
    facts = {name: value.strip() for name, value in rows.items()}
    assert facts["interpreter"] == sys.executable
    assert facts["interpreter from"] == "--python"
    assert facts["platform"] == "cpu"
    assert facts["settings seed"] == "3 (from pyproject.toml)"
    assert {"gradhook", "jax", "jaxlib", "numpy", "device", "root", "config"} <= set(facts)
    assert facts["root"] == str(Path.cwd())
