"""Entries are whole or not there, and this user's or not there; without a cache all goes on."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.execution.cache.store import Store, is_signed, key, open_store, sign

A = "from gradhook import gradcheck\n@gradcheck(args=(1.0,))\ndef f(x):\n    return x\n"
PASSED, CACHED = {"a:f": "pass"}, {"a:f": "cached"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "user")})


@pytest.fixture
def warm(project: Any) -> Any:
    project.write({"a.py": A})
    assert project.check() == PASSED
    assert project.check() == CACHED
    return project


def entries(project: Any, kind: str = "answered") -> list[Path]:
    return [path for path in (project.root / ".gradhook_cache").rglob(f"{kind}/*") if path.is_file()]


def test_git_and_backups_leave_it_alone(warm: Any, git: Callable[..., Any]) -> None:
    assert git(warm.root, "status", "--porcelain").stdout == "?? a.py\n"
    assert (
        (warm.root / ".gradhook_cache/CACHEDIR.TAG")
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )


def test_the_key_is_private_and_outside_of_the_project(warm: Any, tmp_path: Path) -> None:
    path = tmp_path / "user/gradhook/key"
    assert len(path.read_bytes()) == 32
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() not in b"".join(p.read_bytes() for p in entries(warm))


def test_a_key_that_others_can_read_is_none(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    first = key(environ)
    assert key(environ) == first
    (tmp_path / "gradhook/key").chmod(0o644)
    assert key(environ) != first
    (tmp_path / "gradhook/key").write_bytes(b"short")
    assert len(key(environ)) == 32


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data + b" ",
        lambda data: b"\xff\xfe" + data,
        lambda data: data.replace(b":", b" :", 1),
        lambda data: b"{}",
        lambda data: b"0" * 64 + b"\n" + data.partition(b"\n")[2],
        lambda data: data.partition(b"\n")[0] + b"\n{}",
    ],
)
@pytest.mark.parametrize("kind", ["answered", "worlds", "pythons"])
def test_garbage_is_a_miss(warm: Any, spoil: Callable[[bytes], bytes], kind: str) -> None:
    for path in entries(warm, kind):
        path.write_bytes(spoil(path.read_bytes()))
    assert warm.check() == (CACHED if kind == "pythons" else PASSED)
    assert warm.check() == CACHED


def test_an_entry_under_another_name_is_a_miss(warm: Any) -> None:
    warm.write({"b.py": A.replace("def f", "def h")})
    assert warm.check() == {"a:f": "cached", "b:h": "pass"}
    one, other = entries(warm)
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)
    assert warm.check() == {"a:f": "pass", "b:h": "pass"}


def test_a_folder_in_place_of_an_entry(warm: Any) -> None:
    for path in entries(warm):
        path.unlink()
        path.mkdir()
    assert warm.check() == PASSED
    report = warm.report()
    assert "cannot be written" in report.environment["cache"]


def test_a_cache_of_somebody_else_is_a_miss(warm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "somebody"))
    assert warm.check() == PASSED


def test_a_copied_project_is_checked_anew(warm: Any, tmp_path: Path) -> None:
    shutil.copytree(warm.root, tmp_path / "copy")
    warm.root = tmp_path / "copy"
    assert warm.check() == PASSED


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_off_in_ci_unless_asked(warm: Any, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    assert warm.check() == PASSED
    assert warm.check(cache=True) == CACHED
    monkeypatch.setenv("CI", "false")
    assert warm.check() == CACHED


def test_off_when_told(warm: Any) -> None:
    assert warm.check(cache=False) == PASSED
    assert "cache" not in warm.report(cache=False).environment
    warm.write({"pyproject.toml": "[tool.gradhook]\ncache = false\n"})
    assert warm.check() == PASSED
    shutil.rmtree(warm.root / ".gradhook_cache")
    assert warm.check() == PASSED
    assert not (warm.root / ".gradhook_cache").exists()


def test_a_cache_that_git_tracks_is_refused(warm: Any, git: Callable[..., Any]) -> None:
    git(warm.root, "add", "-f", ".gradhook_cache")
    report = warm.report()
    assert not report.targets[0].cached
    assert "git rm -r --cached .gradhook_cache" in report.environment["cache"]
    git(warm.root, "rm", "-r", "-q", "--cached", ".gradhook_cache")
    assert warm.check() == CACHED


def test_no_git_at_all(project: Any) -> None:
    shutil.rmtree(project.root / ".git")
    project.write({"a.py": A})
    assert project.check() == PASSED
    assert project.check() == CACHED


def test_a_place_that_cannot_be_written(project: Any) -> None:
    """A file where the folder should be stands for a read-only checkout: root may write anywhere."""
    project.write({"a.py": A, ".gradhook_cache": "a file"})
    report = project.report()
    assert report.targets[0].verdict.value == "pass"
    assert ".gradhook_cache cannot be written" in report.environment["cache"]


def test_no_place_for_the_key(project: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "user").write_text("a file", encoding="utf-8")
    project.write({"a.py": A})
    report = project.report()
    assert report.targets[0].verdict.value == "pass"
    assert "key" in report.environment["cache"]


def test_old_entries_go(store: Store) -> None:
    store.prepare()
    for n in range(20):
        store.write("passed", f"{n:02}", n)
        os.utime(store.folder / "passed" / f"{n:02}", (n, n))
    (store.folder / "passed/left.draft").write_text("")
    os.utime(store.folder / "passed/left.draft", (1, 1))
    store.prune(most=10)
    assert sorted(store.all("passed")) == list(range(12, 20))
    assert not (store.folder / "passed/left.draft").exists()


def test_use_keeps_an_entry_young(store: Store) -> None:
    store.write("passed", "a", 1)
    os.utime(store.folder / "passed/a", (1, 1))
    store.used("passed", "a")
    assert (store.folder / "passed/a").stat().st_mtime > time.time() - 60
    store.used("passed", "gone")


@given(st.binary(), st.text(), st.binary(min_size=1))
def test_signatures(body: bytes, name: str, secret: bytes) -> None:
    name = name.encode("utf-8", "ignore").decode()
    signature = sign(secret, name, body)
    assert is_signed(secret, name, body, signature)
    assert not is_signed(secret, name, body + b"x", signature)
    assert not is_signed(secret, name + "x", body, signature)
    assert not is_signed(secret + b"x", name, body, signature)


def _write(folder: str, number: int) -> None:
    store = Store(Path(folder), b"k" * 32)
    for n in range(200):
        store.prepare()
        store.write("passed", "same", {"by": number, "text": "x" * 10_000, "n": n})


def test_many_writers_and_a_reader(tmp_path: Path) -> None:
    """What is read is always one whole entry."""
    store = Store(tmp_path / "cache/1", b"k" * 32)
    store.write("passed", "same", {"text": "x" * 10_000})
    writers = [multiprocessing.get_context("spawn").Process(target=_write, args=(str(store.folder), n)) for n in (1, 2)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert len(store.read("passed", "same")["text"]) == 10_000
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [path.name for path in (store.folder / "passed").iterdir()] == ["same"]


KILLED = """
import os, pathlib, signal, sys
from gradhook.execution.cache import store
real = pathlib.Path.write_bytes
def half(self, data):
    real(self, data[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.write_bytes = half
store.Store(pathlib.Path(sys.argv[1]), b"k" * 32).write("passed", "a", {"new": True})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_writer_that_is_killed(store: Store) -> None:
    store = Store(store.folder, b"k" * 32)
    store.write("passed", "a", {"old": True})
    source = str(Path(__file__).parents[2])
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", KILLED, str(store.folder)], env=environ)
    assert done.returncode == -signal.SIGKILL
    assert store.read("passed", "a") == {"old": True}
    assert list(store.all("passed")) == [{"old": True}]


def test_numbers_survive(project: Any) -> None:
    """A replayed report says what the first one said."""
    project.write({"a.py": A})
    first, again = project.report().targets[0], project.report().targets[0]
    assert json.dumps(repr(first)).replace("cached=False", "cached=True") == json.dumps(repr(again))
