"""Time ``gradhook check`` beside ``check_grads``, and beside the least that any checker has to do.

    python benchmarks/speed.py [--part pairs|alone|targets|sizes|all] [--rounds N]

Every figure is a ratio of whole processes that were run one after the other, alternating:

- A: ``gradhook check``, no cache, order 2, both modes, full Jacobian, every question; ninety functions of many kinds.
- B: one process that calls ``check_grads(order=2, modes=("fwd", "rev"))`` on the same inputs: one direction.
- C: the floor, one process that compiles and runs value, jvp and vjp of each function once.

``alone`` is one function in a process of its own. ``targets`` and ``sizes`` show how A grows with the number of targets
and with the size of one input, with the exponent of the growth from each row to the next. The other tables:
``speed_warm.py`` (the cache), ``speed_scan.py`` (nothing to do), ``speed_shards.py`` (two shards).
"""

from __future__ import annotations

import argparse
import compileall
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from timing import Cost, run

HERE = Path(__file__).parent
PROJECT = HERE / "speed_project"
ALONE = "cross_entropy"
_GRADHOOK = (sys.executable, "-m", "gradhook", "check", "--no-cache")
_ORDER = ("--order", "2", "--modes", "fwd,rev")


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=(*_PARTS, "all"), default="all")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    compileall.compile_dir(HERE.parent / "gradhook", quiet=1)  # as an installer does it
    for name, part in _PARTS.items():
        if options.part in (name, "all"):
            part(options.rounds)


def pairs(rounds: int) -> None:
    """A, B and C on everything."""
    _compare("90 functions", rounds, _checked(PROJECT), _direct("check_grads"), _direct("floor"))


def alone(rounds: int) -> None:
    """A, B and C on one function."""
    _compare(
        f"{ALONE} alone", rounds, _checked(PROJECT / "losses.py", "-k", f"losses:{ALONE}"),
        _direct("check_grads", ALONE), _direct("floor", ALONE),
    )  # fmt: skip


def targets(_: int) -> None:
    """A on 1, 10, 100, 1,000 targets, ten in a module."""
    _growth("targets", [1, 10, 100, 1000], lambda n, folder: _write_targets(n, folder), ())


def sizes(_: int) -> None:
    """A on one loss of 10 to 10,000,000 numbers."""
    _growth("numbers", [10**k for k in range(1, 8)], lambda n, folder: _write_size(n, folder), ("--timeout", "600"))


def _checked(path: Path, *more: str) -> Sequence[str]:
    return (*_GRADHOOK, str(path), *_ORDER, *more)


def _direct(what: str, *names: str) -> Sequence[str]:
    return (sys.executable, str(HERE / "speed_check_grads.py"), what, str(PROJECT), *names)


def _compare(title: str, rounds: int, *commands: Sequence[str]) -> None:
    print(f"\n{title}\n{'round':>5} {'A':>9} {'B':>9} {'C':>9} {'A/B':>6} {'A/C':>6} {'memory A/B':>11}")
    ratios = []
    for number in range(1, rounds + 1):
        a, b, c = (run(command, HERE) for command in commands)
        ratios.append((a.seconds / b.seconds, a.seconds / c.seconds, a.memory / b.memory))
        times = " ".join(f"{cost.seconds:>7.2f} s" for cost in (a, b, c))
        print(f"{number:>5} {times} {ratios[-1][0]:>6.2f} {ratios[-1][1]:>6.2f} {ratios[-1][2]:>11.2f}", flush=True)
    first, second, third = (statistics.median(column) for column in zip(*ratios, strict=True))
    print(f"{'median':>35} {first:>6.2f} {second:>6.2f} {third:>11.2f}")


def _growth(what: str, counts: Sequence[int], write: Callable[[int, Path], None], more: Sequence[str]) -> None:
    print(f"\n{what:>10} {'A':>9} {'exponent':>9} {'memory':>10}")
    before: tuple[int, Cost] | None = None
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            write(count, Path(folder))
            cost = run((*_GRADHOOK, folder, *more), HERE)
        grown = f"{math.log(cost.seconds / before[1].seconds) / math.log(count / before[0]):.2f}" if before else ""
        print(f"{count:>10,} {cost.seconds:>7.2f} s {grown:>9} {cost.memory / 2**20:>7.0f} MB", flush=True)
        before = count, cost


def _write_targets(count: int, folder: Path) -> None:
    head = "import jax.numpy as jnp\nfrom gradhook import gradcheck, normal\n"
    for module in range(math.ceil(count / 10)):
        bodies = "".join(
            f"\n\n@gradcheck(args=(normal(4),))\ndef f{k}(x):\n    return jnp.sum(jnp.sin({k}.5 * x) * jnp.exp(x))\n"
            for k in range(module * 10, min(count, module * 10 + 10))
        )
        (folder / f"module_{module}.py").write_text(head + bodies, encoding="utf-8")


def _write_size(count: int, folder: Path) -> None:
    text = f"""import jax.numpy as jnp
from gradhook import gradcheck, normal


@gradcheck(args=(normal({count}),))
def loss(x):
    return jnp.mean(jnp.sin(x) * jnp.exp(-x * x))
"""
    (folder / "size.py").write_text(text, encoding="utf-8")


_PARTS: dict[str, Callable[[int], None]] = {"pairs": pairs, "alone": alone, "targets": targets, "sizes": sizes}

if __name__ == "__main__":
    main()
