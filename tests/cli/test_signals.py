"""Does a run that somebody ends tell what is known by then, and leave nothing running?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradhook.execution import session

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"
COMMAND = f"""
import sys
from functools import partial
from pathlib import Path
from gradhook.execution import runner
from gradhook.cli.main import main
from gradhook.execution.supervisor.pool import launch
runner.launch = partial(launch, boot=Path({str(FAKE_BOOT)!r}))
main(sys.argv[1:])
"""
MODULE = """
import os, time
from pathlib import Path
from gradhook import gradcheck

@gradcheck(args=())
def good():
    return 1

@gradcheck(args=())
def hangs():
    Path("pid").write_text(str(os.getpid()))
    Path("ready").touch()
    time.sleep(600)

@gradcheck(args=())
def never():
    return 1
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def interrupted(folder: Path, number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run to which the signal is sent when the second of three targets hangs."""
    (folder / "pyproject.toml").touch()
    (folder / "m.py").write_text(MODULE, encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": str(Path(session.__file__).parents[2])}
    command = [sys.executable, "-c", COMMAND, "check", "--python", sys.executable, "-j", "1", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ, cwd=folder
    )
    deadline = time.monotonic() + 60
    while not (folder / "ready").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_known_is_told(tmp_path: Path, number: int, code: int) -> None:
    done = interrupted(tmp_path, number, "-v", "--report", "json=report.json")
    assert (done.returncode, done.stderr) == (code, "")
    assert "pass      good" in done.stdout
    assert "interrupted: 2 of 3 targets have no answer\n  m:hangs\n  m:never\n" in done.stdout
    assert "1 passed, interrupted with 2 unanswered in" in done.stdout
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["exit_code"], report["interrupted"]) == (code, True)
    assert [target["target"] for target in report["targets"]] == ["m:good"]
    assert report["unanswered"] == ["m:hangs", "m:never"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


SLEEPS = """
import signal, sys, time
from gradhook.execution import session
from gradhook.cli.main import main
from gradhook.execution.supervisor.scheduling import JobQueue
stop = JobQueue.stop
def late(run, error=None):
    if not run.stopped and run.workers:
        print("ending", flush=True)
        time.sleep(600)
    stop(run, error)
JobQueue.stop = late
"""


def test_a_second_one_ends_it_at_once(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": str(Path(session.__file__).parents[2])}
    command = [sys.executable, "-c", SLEEPS + COMMAND, "check", "--python", sys.executable]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "ready").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None and process.stdout.readline() == "ending\n"
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    assert process.returncode == 130
    worker = Path(f"/proc/{(tmp_path / 'pid').read_text()}/cmdline")
    while worker.exists() and worker.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not worker.exists() or not worker.read_bytes()


def test_a_report_for_machines_stays_whole(tmp_path: Path) -> None:
    done = interrupted(tmp_path, signal.SIGINT, "--output-format", "json")
    assert json.loads(done.stdout)["interrupted"] is True
