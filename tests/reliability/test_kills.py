"""A signal at a random moment, to the run or to its worker: no process, no half report and no bad cache stays."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

SLOW = """
import time
from gradhook import gradcheck
time.sleep(0.02)

@gradcheck(args=(1.0,))
def slow(x):
    time.sleep(0.05)
    return True
"""
OLD = '{"old": "report"}'
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
ENDINGS = {0, 1, 2, 130, 143, *(-number for number in SIGNALS)}
"""The last three: a signal before our first line runs, and SIGKILL at any time."""


def test_a_signal_at_any_moment(checkout: Any, tally: Callable[..., None], how_many: Callable[..., int]) -> None:
    checkout.write(**{f"m{n}": SLOW for n in range(6)})
    whole, chance = checkout.check(), random.Random(7)
    tried = how_many(12, 200)
    lost = [unavailable for n in range(tried) if (unavailable := _struck(checkout, chance, whole, n))]
    again, anew = checkout.check(), checkout.check("--no-cache")
    tally("SIGINT, SIGTERM or SIGKILL to the run or its worker at a random moment", tried, len(lost))
    assert lost == []
    assert (again.verdicts, again.code) == (anew.verdicts, anew.code) == (whole.verdicts, whole.code)


def _struck(checkout: Any, chance: random.Random, whole: Any, n: int) -> str:
    """One run that is struck; what is wrong with what it left."""
    report, number, at_worker = checkout.root / "report.json", SIGNALS[n % 3], n % 2 == 0
    report.write_text(OLD, encoding="utf-8")
    if n % 4 < 2:  # all has to be done again, and not to be taken from the cache
        shutil.rmtree(checkout.root / ".gradhook_cache", ignore_errors=True)
    process = checkout.start("--report", "json=report.json")
    time.sleep(chance.uniform(0.0, whole.seconds * 1.1))
    _send(number, checkout.workers() if at_worker else (process.pid,))
    _, err = process.communicate(timeout=60)
    told = f"{n}: {number.name} to the {'worker' if at_worker else 'run'}: exit {process.returncode}, {err[-300:]!r}"
    if left := checkout.left():
        return f"{told}: left {left}"
    if process.returncode not in ENDINGS:
        return told
    return "" if _is_whole(report.read_text(encoding="utf-8"), process.returncode, whole) else f"{told}: half a report"


def _send(number: int, pids: tuple[int, ...]) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _is_whole(text: str, code: int, whole: Any) -> bool:
    """The old report, or a new one with every target; of an interrupted run, with those that were asked by then."""
    document = json.loads(text)
    if "old" in document:
        return code not in (0, 1)
    names = {target["target"] for target in document["targets"]}
    return names == set(whole.verdicts) or (code in (130, 143) and names <= set(whole.verdicts))


def test_the_worker_ends_with_a_run_that_was_killed_in_the_middle_of_c_code(checkout: Any) -> None:
    hangs = "import ctypes, pathlib\npathlib.Path('at').touch()\nctypes.PyDLL(None).sleep(600)\n"
    checkout.write(m_hangs=f"from gradhook import gradcheck\n@gradcheck()\ndef f(): pass\n{hangs}")
    process = checkout.start()
    deadline = time.monotonic() + 30
    while not (checkout.root / "at").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert checkout.left() == ()


def test_an_interrupt_leaves_no_temporary_file(checkout: Any) -> None:
    rooms = checkout.root.parent / "temporary"
    rooms.mkdir()
    checkout.write(m0=SLOW.replace("0.05", "60"))
    process = checkout.start(TMPDIR=str(rooms))
    deadline = time.monotonic() + 30
    while not checkout.workers() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 143
    assert (list(rooms.iterdir()), checkout.left()) == ([], ())


def test_a_report_on_a_full_device_is_an_error_and_the_others_are_written(checkout: Any) -> None:
    ended = checkout.check("--report", "junit=/dev/full", "--report", "sarif=report.sarif")
    assert ended.code == 2
    assert "/dev/full cannot be written: No space left on device" in ended.err
    assert len(ended.verdicts) == 4 and (checkout.root / "report.sarif").exists()


def test_a_full_standard_output(checkout: Any) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            checkout.command(), cwd=checkout.root, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith("gradhook: standard output cannot be written: No space left on device")
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
