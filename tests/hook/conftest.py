"""A repository of a user, and real pre-commit with this repository as the one that the hook comes from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CONFIG = """\
repos:
  - repo: file://{hooks}
    rev: v0.0.1
    hooks:
      - id: {id}
        verbose: true
{more}"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds; leave out with -m 'not slow'")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.slow)


@dataclass(frozen=True)
class Ran:
    code: int
    text: str
    seconds: float


@dataclass
class User:
    """The user's repository; ``environ`` is what their shell has."""

    root: Path
    hooks: Path
    command: str
    environ: dict[str, str]
    git_: Callable[..., Any]
    names: list[str] = field(default_factory=list)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def configure(self, id: str = "gradhook", **more: str) -> None:
        lines = "".join(f"        {name}: {value}\n" for name, value in more.items())
        self.write(".pre-commit-config.yaml", CONFIG.format(hooks=self.hooks, id=id, more=lines))

    def git(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        done: subprocess.CompletedProcess[str] = self.git_(self.root, *arguments, **more)
        return done

    def commit(self) -> None:
        """As it stands, past the hook."""
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "-m", "state")

    def run(self, *arguments: str) -> Ran:
        start = time.perf_counter()
        done = subprocess.run(
            [self.command, *arguments],
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            errors="replace",
        )
        return Ran(done.returncode, done.stdout + done.stderr, time.perf_counter() - start)

    def all_files(self) -> Ran:
        return self.run("run", "--all-files", "--color", "never")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Path:
    """What all processes of the test run have in common: the hooks' repository and pre-commit's cache."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "pre-commit"
    mine = checkout.parent / "ready"
    shutil.copytree(checkout, mine / "gradhook")
    try:
        mine.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(mine)
    return folder


@pytest.fixture
def user(tmp_path: Path, shared: Path, git: Callable[..., Any]) -> User:
    beside = str(Path(sys.executable).parent)
    command = shutil.which("pre-commit", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if command is None:
        pytest.skip("no pre-commit here: pip install pre-commit")
    root = tmp_path / "project"
    root.mkdir()
    path = [Path(tool).parent for name in ("git", "bash") if (tool := shutil.which(name))]
    clean = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_", "LANG"))}
    environ = {
        **clean,
        "PATH": os.pathsep.join(map(str, [*dict.fromkeys(path), "/usr/local/bin", "/usr/bin", "/bin"])),
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(shared / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{role}_{what}": "t@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    git(root, "init", "-q", "-b", "main")
    (root / ".gitignore").write_text(".venv/\nvenv/\n__pycache__/\n.gradhook_cache/\n", encoding="utf-8")
    made = User(root, shared / "gradhook", command, environ, git)
    made.configure()
    return made


@pytest.fixture(scope="session")
def other_python() -> str:
    """A Python of another version than the one of the tests, from PATH or from pyenv."""
    shelf = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for minor in (13, 12, 14, 11):
        if minor == sys.version_info.minor:
            continue
        for name in (f"python3.{minor}", *map(str, sorted(shelf.glob(f"3.{minor}.*/bin/python")))):
            try:
                asked = [name, "-c", "import sys, ensurepip; print(sys.version_info[1], sys.executable)"]
                answer = subprocess.run(asked, capture_output=True, text=True)
            except OSError:
                continue
            if answer.returncode == 0 and answer.stdout.split()[0] == str(minor):
                return answer.stdout.split()[1]
    pytest.skip("no second Python from 3.11 on, neither on PATH nor in pyenv's folder")
