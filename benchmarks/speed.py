"""How long does ``gradhook check`` take beside ``jax.test_util.check_grads`` on the same functions?

    python benchmarks/speed.py [ROUNDS]

Each round times, one after the other, whole processes: A, ``gradhook check`` (order 2, both modes, full Jacobian, no
cache), and B, one process that calls ``check_grads`` (order 2, both modes, one direction) on the same functions and
inputs. Printed are the wall times and the ratio A/B of each round, and the median ratio. Only the ratio means anything.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE / "speed_project"


def main(rounds: int) -> None:
    """Print the table."""
    print(f"{'round':>5} {'A: gradhook':>12} {'B: check_grads':>15} {'A/B':>6}")
    ratios = []
    for number in range(1, rounds + 1):
        options = ["--order", "2", "--modes", "fwd,rev", "--no-cache"]
        a = _seconds([sys.executable, "-m", "gradhook", "check", str(PROJECT), *options])
        b = _seconds([sys.executable, str(HERE / "speed_check_grads.py")])
        ratios.append(a / b)
        print(f"{number:>5} {a:>10.2f} s {b:>13.2f} s {a / b:>6.2f}")
    print(f"median A/B {statistics.median(ratios):.2f}")


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=HERE)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
