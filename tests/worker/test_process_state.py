"""A process becomes again what it was, and says when it cannot: each time in a process that is then thrown away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gradhook

HEAD = """
import faulthandler, os, signal, sys, threading, time, warnings
from gradhook.execution.worker.isolation import process_state, restore
before = process_state()
"""
TAIL = """
print(restore(before), process_state().folder == before.folder, sys.path == list(before.path),
      dict(os.environ) == before.environ, process_state().handlers == before.handlers, flush=True)
os._exit(0)
"""


def said(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HEAD + code + TAIL], cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(Path(gradhook.__file__).parents[1])}, timeout=60,
    )  # fmt: skip
    return (done.stdout + done.stderr).splitlines()[-1]


posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, and an empty environment")


@posix
@pytest.mark.parametrize(
    "change",
    [
        "",
        "os.chdir('/')",
        "sys.path.clear()",
        "sys.path = ['elsewhere']",
        "os.environ.clear(); os.environ['NEW'] = '1'",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "signal.signal(signal.SIGUSR1, lambda *a: None)",
        "sys.stdout.close(); os.close(1); os.close(2)",
        "sys.stdout = sys.stderr = None",
        "signal.setitimer(signal.ITIMER_REAL, 0.01)",
        "faulthandler.dump_traceback_later(0.01, exit=True)",
        "sys.settrace(lambda frame, *a: sys.exit(3) if frame.f_code.co_name == '_configure' else None)",
    ],
)
def test_what_is_put_back(change: str, tmp_path: Path) -> None:
    assert said(change, tmp_path).startswith("True True")


@posix
@pytest.mark.parametrize(
    "change",
    [
        "os.mkdir('gone'); os.chdir('gone'); before = process_state(); os.chdir('..'); os.rmdir('gone')",
        "def spin():\n    while True: time.sleep(1)\nthreading.Thread(target=spin, daemon=True).start()",
        "threading.Timer(60, print).start()",
        "os.closerange(3, 400)",
    ],
)
def test_what_cannot_be_put_back_is_said(change: str, tmp_path: Path) -> None:
    assert not said(change, tmp_path).startswith("True")


def test_a_library_s_pool_that_waits_is_no_harm(tmp_path: Path) -> None:
    pool = "from concurrent.futures import ThreadPoolExecutor as Pool\npool = Pool(2)\npool.submit(len, '').result()"
    assert said(pool, tmp_path).startswith("True")


def test_what_imports_add_stays_for_those_after_them() -> None:
    from dataclasses import replace

    from gradhook.execution.worker.isolation import process_state

    before = process_state()
    later = replace(before, environ={"NEW": "1"}, path=("new", *before.path[1:]), config={"jax_x": 1}, folder="/else")
    both = before.with_additions(later)
    assert both.environ == {"NEW": "1", **before.environ}
    assert both.path == (*before.path, "new")
    assert (both.config, both.folder) == ({"jax_x": 1}, before.folder)
