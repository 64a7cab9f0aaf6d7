"""Where there is nothing to do, is next to nothing done? Measured in starts of Python: a busy machine may be slow.

The limits are wide; ``benchmarks/speed_scan.py`` prints the numbers themselves.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradhook as package

SOURCE = str(Path(package.__file__).parents[1])
FILES = 3_000


def seconds(folder: Path, *command: str) -> float:
    """The quickest of three; byte code may be written, as everywhere else."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPATH"] = SOURCE
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=False)
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.fixture
def unit(tmp_path: Path) -> float:
    """One start of Python."""
    return seconds(tmp_path, sys.executable, "-c", "")


def test_a_repository_without_annotations(tmp_path: Path, git: Callable[..., Any], unit: float) -> None:
    for n in range(FILES):
        (tmp_path / f"package{n % 30}").mkdir(exist_ok=True)
        (tmp_path / f"package{n % 30}" / f"module{n}.py").write_text(f"value = {n}\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    search = seconds(tmp_path, "git", "grep", "-l", "gradhook")
    assert seconds(tmp_path, sys.executable, "-m", "gradhook", "check") < search + 60 * unit


def test_help_and_the_import_of_annotations(tmp_path: Path, unit: float) -> None:
    assert seconds(tmp_path, sys.executable, "-m", "gradhook", "--help") < 40 * unit
    assert seconds(tmp_path, sys.executable, "-c", "import gradhook") < 4 * unit
