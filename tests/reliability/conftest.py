"""A project of innocent and guilty targets, the command in a process of its own, and what was left of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LIGHT = Path(__file__).with_name("light.py")
SOURCE = LIGHT.parents[2]
TAG = "RELIABILITY_TAG"
"""A variable that every process of a run inherits, by which those that are left are found."""

FULL = os.environ.get("RELIABILITY") == "full"
"""Whether the long runs are asked for, whose figures stand in ``docs/reliability.md``."""

INNOCENT = """
from gradhook import gradcheck

@gradcheck(args=(1.0,))
def right(x):
    return True

@gradcheck(args=(1.0,))
def wrong(x):
    return False
"""


@pytest.fixture
def how_many() -> Callable[[int, int], int]:
    """``how_many(short, full)``: as many as this run has time for."""
    return lambda short, full: full if FULL else short


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Callable[[str, int, int], None]:
    """``tally(promise, tried, lost)``: for the table, if somebody collects it."""
    return lambda promise, tried, lost: _note(request.node, promise=promise, tried=tried, lost=lost)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.when == "call" or report.failed:
        _note(item, outcome=report.outcome)
    return report


def _note(item: pytest.Item, **fields: Any) -> None:
    if file := os.environ.get("RELIABILITY_TALLY"):
        row = {"test": item.originalname, "file": item.path.relative_to(SOURCE).as_posix(), **fields}
        with Path(file).open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")


@dataclass(frozen=True)
class Ended:
    """How a run ended, what it reported, how long it took, and which of its processes live on."""

    code: int
    out: str
    err: str
    report: dict[str, Any]
    seconds: float
    left: tuple[int, ...]

    @property
    def verdicts(self) -> dict[str, str]:
        return {target["target"]: target["verdict"] for target in self.report["targets"]}

    def finding(self, name: str) -> str:
        """Code and message of the gravest finding about a target."""
        found = next(t for t in self.report["targets"] if t["target"] == name)["findings"]
        return f"{found[0]['code']} {found[0]['message']}" if found else ""


@dataclass(frozen=True)
class Checkout:
    """A folder with a project in it."""

    root: Path

    def write(self, **files: str) -> None:
        for stem, text in files.items():
            (self.root / f"{stem}.py").write_text(text, encoding="utf-8")

    def command(self, *arguments: str, jax: bool = False) -> list[str]:
        start = ["-m", "gradhook"] if jax else [str(LIGHT)]
        return [sys.executable, *start, "check", "--python", sys.executable, *arguments]

    def start(self, *arguments: str, jax: bool = False, **environ: str) -> subprocess.Popen[str]:
        """A run that is going on, in a session of its own."""
        seen = {name: value for name, value in os.environ.items() if not name.startswith("GRADHOOK_")}
        return subprocess.Popen(
            self.command(*arguments, jax=jax), cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", errors="replace", start_new_session=True,
            env={**seen, "PYTHONPATH": str(SOURCE), TAG: str(self.root), **self.own(), **environ},
        )  # fmt: skip

    def own(self) -> dict[str, str]:
        """Where this checkout keeps what belongs to its user, so that nobody else's is touched."""
        return {"XDG_CACHE_HOME": str(self.root.parent / "user"), "CI": ""}

    def check(self, *arguments: str, jax: bool = False, **environ: str) -> Ended:
        begun = time.monotonic()
        process = self.start("--report", "json=report.json", *arguments, jax=jax, **environ)
        try:
            out, err = process.communicate(timeout=280)
        finally:
            process.kill()
        return self.ended(process.returncode, out=out, err=err, seconds=time.monotonic() - begun)

    def ended(self, code: int, name: str = "report.json", **more: Any) -> Ended:
        """What became of a run that is over and has written a report of that name."""
        file = self.root / name
        report = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"targets": []}
        return Ended(code, more.get("out", ""), more.get("err", ""), report, more.get("seconds", 0.0), self.left())

    def workers(self) -> tuple[int, ...]:
        """The running workers of this checkout."""
        return tuple(pid for pid in _tagged(self.root) if _command(pid).endswith(_BOOT))

    def left(self, patience: float = 5.0) -> tuple[int, ...]:
        """The processes of this checkout's runs that still live after a moment, or are zombies."""
        return tuple(_until(lambda: not _tagged(self.root), patience) or _tagged(self.root))


_BOOT = b"-u\0" + os.fsencode(LIGHT) + b"\0"


def _until(holds: Callable[[], bool], patience: float) -> list[int]:
    deadline = time.monotonic() + patience
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _tagged(root: Path) -> list[int]:
    entry, found = f"{TAG}={root}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("", encoding="utf-8")
    made = Checkout(root)
    made.write(a_innocent=INNOCENT, z_innocent=INNOCENT)
    return made
