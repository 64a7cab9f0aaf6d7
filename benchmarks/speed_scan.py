"""Time a run where there is nothing to do.

    python benchmarks/speed_scan.py [ROUNDS]

A repository of 10,000 Python files without an annotation is made. Each round times, one after the other, whole
processes: ``git grep -l gradhook``, ``gradhook check``, ``gradhook --help``, and the import of the annotations (the
time that ``python -c "import gradhook"`` takes more than ``python -c ""``). Printed are the times and the differences
that are meant to stay small. Byte code is written first, as an installer does it.
"""

from __future__ import annotations

import compileall
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

FILES, FOLDERS = 10_000, 100
TEXT = "import math\n\n\ndef area(radius):\n    return math.pi * radius**2  # {n}\n" + "\n\nvalue = 1\n" * 20
LIMITS = {"check - git grep": 0.15, "--help": 0.15, "import gradhook": 0.01}


def main(rounds: int) -> None:
    """Print the table."""
    commands = {
        "git grep": ["git", "grep", "--untracked", "-l", "gradhook"],
        "check": [sys.executable, "-m", "gradhook", "check"],
        "--help": [sys.executable, "-m", "gradhook", "--help"],
        "python": [sys.executable, "-c", ""],
        "python, gradhook": [sys.executable, "-c", "import gradhook"],
    }
    compileall.compile_dir(Path(__file__).parents[1] / "gradhook", quiet=1)
    with tempfile.TemporaryDirectory() as place:
        make(Path(place))
        table = [[_seconds(command, place) for command in commands.values()] for _ in range(rounds)]
    print("".join(f"{name:>18}" for name in commands))
    for row in table:
        print("".join(f"{seconds:>16.3f} s" for seconds in row))
    for name, seconds in differences(table).items():
        print(f"median {name}: {seconds:.3f} s, meant to be below {LIMITS[name]} s")


def differences(table: Sequence[Sequence[float]]) -> dict[str, float]:
    """The medians of what is meant to stay small."""
    found = {
        "check - git grep": [check - grep for grep, check, *_ in table],
        "--help": [row[2] for row in table],
        "import gradhook": [row[4] - row[3] for row in table],
    }
    return {name: statistics.median(several) for name, several in found.items()}


def make(root: Path) -> None:
    """The repository, everything in it committed to the index."""
    for n in range(FILES):
        folder = root / f"package{n % FOLDERS}"
        folder.mkdir(exist_ok=True)
        (folder / f"module{n}.py").write_text(TEXT.format(n=n), encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)


def _seconds(command: list[str], folder: str) -> float:
    """Whatever a search that finds nothing exits with."""
    started = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
