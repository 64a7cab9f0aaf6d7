"""The cache on the command line: what is said about it, and what is not even loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradhook

SOURCE = Path(gradhook.__file__).parents[1]
TARGET = """
from gradhook import gradcheck
import jax.numpy as jnp

@gradcheck(args=(1.5,))
def f{n}(x):
    return jnp.sin(x)
"""
LOADED = """
import sys
from gradhook.cli.main import run
code = run({words})
print("LOADED", *sorted(sys.modules))
sys.exit(code)
"""


@pytest.fixture
def command(tmp_path: Path, git: Callable[..., Any]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """``gradhook …`` in a repository with ten targets, as a user starts it."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    for n in range(10):
        (root / f"m{n % 2}.py").open("a", encoding="utf-8").write(TARGET.format(n=n))
    environ = {name: value for name, value in os.environ.items() if name not in ("CI", "GRADHOOK_CACHE")}
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    environ |= {"XDG_CACHE_HOME": str(tmp_path / "user"), "PYTHONPATH": path, "GRADHOOK_PYTHON": sys.executable}

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        code = LOADED.format(words=list(words))
        return subprocess.run(
            [sys.executable, "-c", code], cwd=root, env={**environ, **more}, capture_output=True, text=True
        )

    return run


def test_a_warm_run(command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    pytest.importorskip("jax")
    cold = command("check")
    assert cold.returncode == 0, cold.stdout + cold.stderr
    assert "10 passed in" in cold.stdout
    warm = command("check", "--report", "json=report.json")
    assert warm.returncode == 0 and warm.stderr == ""
    assert "10 passed (10 cached) in" in warm.stdout
    shown, _, loaded = warm.stdout.partition("LOADED")
    assert not {"jax", "numpy", "importlib.metadata"} & set(loaded.split())
    assert "jax " in shown and "float64" in shown, "what the answers were found on is said again"
    report = json.loads((tmp_path / "project/report.json").read_text(encoding="utf-8"))
    assert all(target["cached"] for target in report["targets"])
    assert report["counts"]["pass"] == 10


def test_one_changed_file(command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    pytest.importorskip("jax")
    command("check")
    file = tmp_path / "project/m1.py"
    file.write_text(file.read_text(encoding="utf-8") + "\nvalue = 1\n", encoding="utf-8")
    assert "10 passed (5 cached) in" in command("check").stdout
    assert "5 passed (5 cached) in" in command("check", "--affected", "m1.py").stdout
    assert "nothing annotated depends on these files" in command("check", "--affected", "README.md").stdout


def test_a_cache_that_cannot_be_used_is_said_once(
    command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    pytest.importorskip("jax")
    (tmp_path / "project/.gradhook_cache").write_text("", encoding="utf-8")
    done = command("check", "m1.py")
    assert done.returncode == 0
    assert done.stderr.count("gradhook: the cache is off: ") == 1
    assert command("check", "-q", "m1.py").stderr == ""
    assert command("check", "m1.py", "--no-cache").stderr == ""
    assert command("check", "m1.py", GRADHOOK_CACHE="0").stderr == ""


def test_watching_looks_for_changes_itself(command: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = command("check", "--watch", "--affected", "m1.py")
    assert done.returncode == 2
    assert "exclude each other" in done.stderr
