"""What is done for Windows and macOS, as far as it can be asked here: their rules, with the system's part played.

The workflow runs the whole suite on both; here stands what the code does there, so that a change on Linux sees it.
"""

from __future__ import annotations

import ast
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gradhook
from gradhook.cli import output
from gradhook.cli.main import run
from gradhook.execution.supervisor import limits
from gradhook.execution.supervisor.process import worker_environment
from gradhook.execution.worker import boot
from gradhook.execution.worker.isolation import _cancel_timers

PACKAGE = Path(gradhook.__file__).parent


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(sys, "platform", "win32")
    return monkeypatch


class Programs:
    """Notes what was started, and answers like the system's program."""

    def __init__(self, answer: str = "") -> None:
        self.answer = answer
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        return subprocess.CompletedProcess(command, 0, self.answer, "")


class Process:
    """A worker that notes how it was ended."""

    def __init__(self, pid: int = 4242) -> None:
        self.pid = pid
        self.killed = 0

    def kill(self) -> None:
        self.killed += 1


def test_a_worker_of_windows_has_a_group_so_that_ctrl_c_is_ours(windows: pytest.MonkeyPatch) -> None:
    windows.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    assert limits.own_group() == {"creationflags": 0x200}


def test_a_worker_elsewhere_has_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert limits.own_group() == {"start_new_session": True}


def test_a_worker_of_windows_ends_with_its_tree(windows: pytest.MonkeyPatch) -> None:
    programs, process = Programs(), Process()
    windows.setattr(subprocess, "run", programs)
    limits.end_group(process)  # type: ignore[arg-type]
    assert programs.commands == [["taskkill", "/F", "/T", "/PID", "4242"]]
    assert process.killed == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no such group there")
def test_a_group_that_is_gone_is_no_trouble() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    child.wait()
    limits.end_group(child)  # type: ignore[arg-type]


def test_the_memory_of_a_process_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs("  123456\n")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", programs)
    assert limits.resident(7) == 123456 * 1024
    assert programs.commands == [["ps", "-o", "rss=", "-p", "7"]]
    programs.answer = ""
    assert limits.resident(7) == 0, "it has ended"


@pytest.mark.skipif(sys.platform == "win32", reason="no ps")
def test_ps_and_proc_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program that macOS is asked by, asked here."""
    own = limits.resident(os.getpid())
    try:
        subprocess.run(["ps"], capture_output=True, check=False)
    except OSError:
        pytest.skip("no ps")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert own > 5 * limits.MEGABYTE and limits.resident(os.getpid()) == pytest.approx(own, rel=0.3)


def test_no_marks_are_looked_for_where_there_is_no_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "environ").write_bytes(f"{limits.MARK_VARIABLE}=m".encode())
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "kill", lambda pid, number: pytest.fail("nobody is to be killed"))
    limits.end_marked("m", tmp_path)


class Kernel:
    """The two functions of kernel32 by which a worker of Windows waits for its parent's end."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.waited: list[tuple[int, int]] = []

    def OpenProcess(self, access: int, inherit: bool, pid: int) -> int:
        assert (access, inherit, pid) == (0x00100000, False, 4242)
        return self.handle

    def WaitForSingleObject(self, handle: int, milliseconds: int) -> int:
        self.waited.append((handle, milliseconds))
        return 0


@pytest.mark.parametrize("handle, waited", [(77, [(77, 0xFFFFFFFF)]), (0, [])])
def test_a_worker_of_windows_waits_for_the_end_of_its_parent(handle: int, waited: list[tuple[int, int]]) -> None:
    kernel = Kernel(handle)
    boot.await_end(4242, kernel)
    assert kernel.waited == waited


def test_timers_and_signals_that_a_system_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF", "setitimer", "SIGUSR1"):
        monkeypatch.delattr(signal, name, raising=False)
    tracer = sys.gettrace()
    try:
        _cancel_timers()
    finally:
        sys.settrace(tracer)


def test_a_console_of_an_old_code_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As ``main`` sets them up, streams never fail for a character."""
    (tmp_path / "größe_λ.py").write_text("from gradhook import gradcheck\n@gradcheck(args=())\ndef λ(): 1\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    written = io.BytesIO()
    console = io.TextIOWrapper(written, encoding="cp1252", errors="backslashreplace", newline="\r\n")
    monkeypatch.setattr(sys, "stdout", console)
    assert run(["list"]) == 0
    console.flush()
    assert b"gr\xf6\xdfe_\\u03bb:\\u03bb" in written.getvalue()


def test_reports_are_utf8_with_unix_line_ends_everywhere(tmp_path: Path) -> None:
    output.deliver("λ\nµ\n", tmp_path / "r")
    assert (tmp_path / "r").read_bytes() == "λ\nµ\n".encode()


def test_files_are_opened_as_utf8_and_never_as_the_system_likes() -> None:
    """On Windows the default is the code page: every text file of ours names its encoding."""
    careless = [
        f"{path.relative_to(PACKAGE).as_posix()}:{call.lineno}"
        for path in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and _opens_text(call) and not _names_encoding(call)
    ]
    assert careless == []


def _opens_text(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else f"{getattr(call.func, 'id', '')}()"
    modes = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return name in ("read_text", "write_text") or (name in ("open", "open()", "fdopen") and "b" not in "".join(modes))


def _names_encoding(call: ast.Call) -> bool:
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_descriptor = isinstance(of, ast.Name) and of.id == "os" and ast.unparse(call.func) == "os.open"
    named = any(keyword.arg == "encoding" for keyword in call.keywords)
    return is_descriptor or named or any(word in ast.unparse(call) for word in ("'utf-8'", "'ascii'"))


def test_variables_that_windows_needs_reach_the_worker() -> None:
    needed = {"SYSTEMROOT": "C:\\Windows", "TEMP": "C:\\t", "USERPROFILE": "C:\\u", "PATHEXT": ".EXE", "COMSPEC": "c"}
    assert needed.items() <= worker_environment(Path("C:/p/python.exe"), None, needed).items()


def test_nothing_of_ours_forks() -> None:
    """Spawned, never forked: JAX has threads, Windows has no fork."""
    words = ("os.fork", "multiprocessing", "preexec_fn")
    found = [p.name for p in PACKAGE.rglob("*.py") if any(w in p.read_text(encoding="utf-8") for w in words)]
    assert found == []
