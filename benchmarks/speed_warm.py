"""Time how much of a run the cache saves, when nothing has changed and when one file of many has.

    python benchmarks/speed_warm.py [ROUNDS]

A repository of 100 targets in 20 modules is made. Each round times three whole processes, one after the other: cold
(no cache), warm (nothing changed), and one file changed. Printed are wall times and their ratios to the cold run. The
warm run is compared with the bare start of Python as well: most of it is that.
"""

from __future__ import annotations

import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODULES, TARGETS = 20, 5
HELPER = "import jax.numpy as jnp\n\n\ndef shape(x, k):\n    return jnp.tanh(k * x) * jnp.exp(-x * x)\n"
HEAD = "from gradhook import gradcheck, normal\n\nfrom helpers.h{n} import shape\n"
TARGET = "\n\n@gradcheck(args=(normal(3),))\ndef f{k}(x):\n    return shape(x, {k} + 1.0).sum()\n"
LIMIT = 0.4
"""Seconds that a warm run may take on a machine that does nothing else."""


def main(rounds: int) -> None:
    """Print the table."""
    print(f"{MODULES * TARGETS} targets in {MODULES} modules")
    names = ("round", "bare python", "cold", "warm", "one file", "warm/cold", "one/cold")
    print("".join(f"{name:>13}" for name in names))
    warm_times = []
    compileall.compile_dir(Path(__file__).parents[1] / "gradhook", quiet=1)  # as an installer does it
    with tempfile.TemporaryDirectory() as place:
        root = make(Path(place) / "project")
        environ = {**os.environ, "CI": "", "GRADHOOK_CACHE": "1", "XDG_CACHE_HOME": place}
        for number in range(1, rounds + 1):
            start, cold, warm, one = _round(root, environ, number)
            warm_times.append(warm)
            times = "".join(f"{seconds:>11.3f} s" for seconds in (start, cold, warm, one))
            print(f"{number:>13}{times}{warm / cold:>13.4f}{one / cold:>13.3f}")
    print(f"median warm {statistics.median(warm_times):.3f} s, meant to be below {LIMIT} s")


def make(root: Path) -> Path:
    """The repository."""
    (root / "helpers").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    for n in range(MODULES):
        (root / "helpers" / f"h{n}.py").write_text(HELPER, encoding="utf-8")
        text = HEAD.format(n=n) + "".join(TARGET.format(k=k) for k in range(TARGETS))
        (root / f"m{n}.py").write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def _round(root: Path, environ: dict[str, str], number: int) -> tuple[float, float, float, float]:
    shutil.rmtree(root / ".gradhook_cache", ignore_errors=True)
    command = [sys.executable, "-m", "gradhook", "check", "--python", sys.executable]
    start = _seconds([sys.executable, "-c", ""], root, environ)
    cold = _seconds(command, root, environ)
    warm = min(_seconds(command, root, environ) for _ in range(3))
    changed = root / "helpers" / f"h{number % MODULES}.py"
    changed.write_text(f"{HELPER}\n\nround = {number}\n", encoding="utf-8")
    return start, cold, warm, _seconds(command, root, environ)


def _seconds(command: list[str], folder: Path, environ: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, env=environ)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
