"""Does ``gradhook check --watch`` see a saved file, check again what it affects and nothing else, and end?"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gradhook.cli import watch
from gradhook.execution import session
from gradhook.model.report import Ignored, Report

FILES = {
    "pyproject.toml": "",
    "tables.py": "from pathlib import Path\nSLOPE = float(Path(__file__).with_name('slope.txt').read_text())\n",
    "slope.txt": "2.0\n",
    "losses.py": """
import jax
import tables
from gradhook import gradcheck

@gradcheck(args=(1.5,))
@jax.custom_jvp
def square(x):
    return x * x

square.defjvp(lambda primals, tangents: (square(*primals), tables.SLOPE * primals[0] * tangents[0]))
""",
    "alone.py": """
from gradhook import gradcheck

@gradcheck(args=(1.5,))
def cube(x):
    return x**3
""",
}
SECONDS = 120


def write(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


class Watching:
    """The real command, its lines read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line)

    def until(self, start: str) -> str:
        """What was said up to the line that begins like this."""
        said = ""
        while not said.rpartition("\n")[2].startswith(start):
            said += "\n" + self._lines.get(timeout=SECONDS).rstrip("\n")
        return said


@contextmanager
def watching(folder: Path) -> Iterator[Watching]:
    command = [sys.executable, "-m", "gradhook", "check", "--watch", "--python", sys.executable]
    environ = {
        **os.environ,
        "PYTHONPATH": str(Path(session.__file__).parents[2]),
        "PYTHONUNBUFFERED": "1",
        "GRADHOOK_CACHE": "1",
    }
    process = subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    try:
        yield Watching(process)
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C of another process")
def test_a_saved_file_is_checked_again(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    write(tmp_path)
    with watching(tmp_path) as said:
        assert "2 passed" in said.until("checked 2 of 2 targets")
        (tmp_path / "slope.txt").write_text("2.1\n", encoding="utf-8")  # known from the run before
        second = said.until("checked 1 of 2 targets")
        assert "FAIL      square" in second
        assert "1 failed, 1 passed" in second
        (tmp_path / "tables.py").write_text("SLOPE = (\n", encoding="utf-8")
        assert "could not be run" in said.until("checked 1 of 2 targets")
        (tmp_path / "tables.py").write_text("SLOPE = 2.0\n", encoding="utf-8")
        assert "2 passed" in said.until("checked 1 of 2 targets")
        (tmp_path / "alone.py").write_text("def gradcheck(\n", encoding="utf-8")
        assert "no valid Python" in said.until("not checked")
        (tmp_path / "alone.py").write_text(FILES["alone.py"], encoding="utf-8")
        assert "2 passed" in said.until("checked 1 of 2 targets")
        said.process.send_signal(signal.SIGINT)
        assert said.process.wait(SECONDS) == 130


@pytest.fixture
def projects(tmp_path: Path) -> tuple[session.Project, ...]:
    write(tmp_path)
    return session.find([tmp_path], {}, {})


@pytest.mark.parametrize(
    ("name", "names"),
    [("tables.py", ["square"]), ("losses.py", ["square"]), ("alone.py", ["cube"]), ("other.py", [])],
)
def test_what_a_file_affects(
    projects: tuple[session.Project, ...], tmp_path: Path, name: str, names: list[str]
) -> None:
    assert [t.qualname for t in watch.affected(projects[0], {tmp_path / name}).targets] == names


def test_what_the_configuration_names(tmp_path: Path) -> None:
    write(tmp_path)
    names = '[tool.gradhook.targets."alone:cube"]\nargs = ["0.5"]\n[tool.gradhook.targets."math:sin"]\nargs = ["0.5"]\n'
    (tmp_path / "pyproject.toml").write_text(names, encoding="utf-8")
    (project,) = session.find([tmp_path], {}, {})
    affected = watch.affected(project, {tmp_path / "tables.py"})
    assert [t.name for t in affected.targets] == ["losses:square", "math:sin"]  # what cannot be told is affected


def test_other_answers_stay(projects: tuple[session.Project, ...], tmp_path: Path, verdicts: list[str]) -> None:
    first, line = watch.check_changes(projects, None, (), quiet=True)
    assert (line, verdicts) == ("checked 2 of 2 targets", ["cube", "square"])
    ignored = tuple(Ignored("GRD406", "--ignore", "m.py", 1, "", name) for name in ("alone:cube", "losses:square", ""))
    old = replace(first, environment={"old": True}, ignored=ignored)
    second, line = watch.check_changes(projects, old, {tmp_path / "alone.py"}, quiet=True)
    assert (line, verdicts[2:]) == ("checked 1 of 2 targets", ["cube"])
    assert [t.target.qualname for t in second.targets] == ["cube", "square"]
    assert [item.target for item in second.ignored] == ["losses:square"]
    third, line = watch.check_changes(projects, old, {tmp_path / "other.py"}, quiet=True)
    assert (line, third.environment) == ("checked 0 of 2 targets", {"old": True})


@pytest.mark.usefixtures("verdicts")
def test_what_is_gone_is_gone(projects: tuple[session.Project, ...], tmp_path: Path) -> None:
    first, _ = watch.check_changes(projects, None, (), quiet=True)
    (tmp_path / "alone.py").write_text("x = 1\n", encoding="utf-8")
    second, _ = watch.check_changes(session.find([tmp_path], {}, {}), first, {tmp_path / "alone.py"}, quiet=True)
    assert [t.target.qualname for t in second.targets] == ["square"]


def test_settings_affect_all(projects: tuple[session.Project, ...], tmp_path: Path, verdicts: list[str]) -> None:
    watch.check_changes(projects, Report(()), {tmp_path / "pyproject.toml"}, quiet=True)
    assert verdicts == ["cube", "square"]


def test_every_change_is_seen(projects: tuple[session.Project, ...], tmp_path: Path) -> None:
    before = watch.stamps(projects)
    (tmp_path / "new.py").write_text("", encoding="utf-8")
    (tmp_path / "alone.py").unlink()
    (tmp_path / "pyproject.toml").write_text("#\n", encoding="utf-8")
    changed = {Path(path).name for path, _ in before.items() ^ watch.stamps(projects).items()}
    assert changed == {"new.py", "alone.py", "pyproject.toml"}


def test_a_shard_is_not_watched(gradhook, project) -> None:
    project("good")
    said = gradhook("check", "--watch", "--shard", "1/2")
    assert said.code == 2
    assert "--watch and --shard exclude each other" in said.err
