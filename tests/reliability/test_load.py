"""Many modules, many cases, many runs at once: every answer is there, and the run itself stays small."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")

CLAIM = "@gradcheck(args=({n}.0,))\ndef f{n}(x):\n    return {n} % 7 != 3\n"
CASES = (
    "from gradhook import gradcheck\n\n@gradcheck(cases={{f'case {{n}}': (float(n),) for n in range({count})}})\n"
    "def many(x):\n    return True\n"
)
Tally = Callable[[str, int, int], None]


def module(start: int, count: int) -> str:
    claims = "\n".join(CLAIM.format(n=n) for n in range(start, start + count))
    return f"from gradhook import gradcheck\n\n{claims}"


def peak(process: Any, patience: float = 900) -> int:
    """The most kilobytes that a process had resident until it ended."""
    most, deadline = 0, time.monotonic() + patience
    while process.poll() is None and time.monotonic() < deadline:
        status = Path(f"/proc/{process.pid}/status")
        lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
        most = max([most, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))])
        time.sleep(0.02)
    return most


def run(checkout: Any, *words: str) -> tuple[Any, int]:
    """The report of a run, and its peak."""
    process = checkout.start("--report", "json=report.json", "-o", "screen.txt", "-q", *words)
    most = peak(process)
    process.communicate(timeout=10)
    return checkout.ended(process.returncode), most


def test_many_targets(checkout: Any, tally: Tally, how_many: Callable[..., int]) -> None:
    checkout.write(a_innocent="", z_innocent="")
    modules, each = how_many(20, 500), 10
    for n in range(modules):
        checkout.write(**{f"m{n:03}": module(n * each, each)})
    _, small = run(checkout, "m000.py")
    ended, large = run(checkout)
    targets = modules * each
    expected = {f"m{n // each:03}:f{n}": "fail" if n % 7 == 3 else "pass" for n in range(targets)}
    lost = sum(ended.verdicts.get(name) != verdict for name, verdict in expected.items())
    growth = (large - small) / targets
    tally(f"{targets} targets in {modules} modules", targets, lost)
    tally(f"memory of the run: {large / 1000:.0f} MB, {growth:.0f} kB a target", targets, 0)
    assert (lost, ended.verdicts, ended.code, ended.left) == (0, expected, 1, ())
    assert growth < 30, "kilobytes a target"


def test_many_cases(checkout: Any, tally: Tally) -> None:
    count = 1000
    checkout.write(a_innocent="", z_innocent="", m=CASES.format(count=count))
    ended, _ = run(checkout)
    (target,) = ended.report["targets"]
    found = {outcome["case"] for outcome in target["outcomes"]}
    lost = len({f"case {n}" for n in range(count)} - found)
    tally("cases of one target", count, lost)
    assert (lost, ended.verdicts, ended.code) == (0, {"m:many": "pass"}, 0)


def test_many_runs_at_once(checkout: Any, tally: Tally, how_many: Callable[..., int]) -> None:
    checkout.write(**{f"m{n}": module(n * 5, 5) for n in range(4)})
    whole = checkout.check("--no-cache")
    runs = how_many(6, 50)
    going = [checkout.start("--report", f"json=report{n}.json") for n in range(runs)]
    outs = [process.communicate(timeout=600) for process in going]
    ended = [checkout.ended(process.returncode, f"report{n}.json") for n, process in enumerate(going)]
    lost = [(e.code, outs[n]) for n, e in enumerate(ended) if (e.verdicts, e.code) != (whole.verdicts, whole.code)]
    again = checkout.check()
    tally("runs at once on one checkout that fill one cache", runs, len(lost))
    assert lost == []
    assert {t["cached"] for t in again.report["targets"] if t["verdict"] == "pass"} == {True}
    assert (again.verdicts, again.code, again.left) == (whole.verdicts, whole.code, ())
