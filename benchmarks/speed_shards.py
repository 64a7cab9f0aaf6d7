"""Time two shards in two processes beside the whole in one, and compare their reports.

    python benchmarks/speed_shards.py [ROUNDS]

Each round times, one after the other and without a cache: A, ``gradhook check -j 1`` on the speed project; B, its two
shards (``--shard 1/2`` and ``2/2``, each ``-j 1``) at once, balanced by the times of A's first report; C, ``-j 2``.
Printed are the wall times and the ratios A/B and A/C; the aim is 1.7 on two free cores. The merged report of the shards
and that of ``-j 2`` must be A's, times apart; the command ends with 1 if they are not.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROJECT = HERE / "speed_project"
GRADHOOK = [sys.executable, "-m", "gradhook"]
CHECK = [*GRADHOOK, "check", str(PROJECT), "--order", "2", "--modes", "fwd,rev", "--no-cache", "-q"]


def main(rounds: int) -> int:
    """Print the table; the exit code."""
    print(f"{'round':>5} {'A: one':>10} {'B: shards':>10} {'C: -j 2':>10} {'A/B':>6} {'A/C':>6}")
    ratios: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder)
        for number in range(1, rounds + 1):
            one = _seconds([_check(reports / "one.json", "-j", "1")])
            times = reports / "times.json"
            if not times.exists():
                times.write_bytes((reports / "one.json").read_bytes())
            parts = [_check(reports / f"{k}.json", "-j", "1", *_shard(k, times)) for k in (1, 2)]
            shards, two = _seconds(parts), _seconds([_check(reports / "two.json", "-j", "2")])
            ratios.append((one / shards, one / two))
            print(f"{number:>5} {one:>8.2f} s {shards:>8.2f} s {two:>8.2f} s {one / shards:>6.2f} {one / two:>6.2f}")
        same = _merged(reports) == _answers(reports / "one.json") == _answers(reports / "two.json")
    print(
        f"median A/B {statistics.median(r for r, _ in ratios):.2f}, A/C {statistics.median(r for _, r in ratios):.2f}"
    )
    print("the reports are the same" if same else "the reports DIFFER")
    return 0 if same else 1


def _shard(number: int, times: Path) -> list[str]:
    return ["--shard", f"{number}/2", "--durations-from", str(times)]


def _check(report: Path, *more: str) -> list[str]:
    return [*CHECK, "--report", f"json={report}", *more]


def _seconds(commands: list[list[str]]) -> float:
    """Wall time of commands that run at once; 1 is a finding, which is none of our business."""
    started = time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=HERE) for command in commands]
    codes = [process.wait() for process in running]
    if not {0, 1} >= set(codes):
        raise SystemExit(f"gradhook ended with {codes}")
    return time.perf_counter() - started


def _merged(reports: Path) -> dict[str, Any]:
    command = [*GRADHOOK, "merge", str(reports / "1.json"), str(reports / "2.json"), "--report"]
    subprocess.run([*command, f"json={reports / 'merged.json'}"], stdout=subprocess.DEVNULL, check=False)
    return _answers(reports / "merged.json")


def _answers(report: Path) -> dict[str, Any]:
    """What a report says of each target, without the times."""
    document = json.loads(report.read_text(encoding="utf-8"))
    return {
        f"{item['target']} {item['line']}": {k: v for k, v in item.items() if k not in ("seconds", "compilations")}
        for item in document["targets"]
    }


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
