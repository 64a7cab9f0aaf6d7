"""Time the whole contract of a surrogate beside its first-order check. The goal: at most three times as much.

python benchmarks/surrogates.py [repetitions]
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp

from gradhook import normal
from gradhook.checks import all_checks
from gradhook.comparison.judge import Tolerance
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

GOAL = 3.0
CONTRACT = [check for check in all_checks() if check.RULE.code.startswith("GRD2")]


def step(x: Any) -> Any:
    """A spike."""
    return (x >= 0).astype(x.dtype)


def rule(primals: Any, tangents: Any) -> Any:
    """Its surrogate derivative."""
    return tangents[0] / (1 + 10 * jnp.abs(primals[0])) ** 2


def spike() -> Any:
    """A new object each time, so that nothing is traced already."""
    f = jax.custom_jvp(lambda x: step(x))
    f.defjvp(lambda p, t: (f(p[0]), rule(p, t)))
    return f


def seconds(whole: bool) -> float:
    """Wall time for a new function, nothing compiled before: value and derivative at the case, or every question."""
    jax.clear_caches()
    check_options = CheckOptions(tolerance=Tolerance(), surrogate=True, forward=step, rule=rule)
    probe = FunctionProbe(spike(), CheckCase("case", (normal(8),)), check_options, "seed", Clock())
    started = time.perf_counter()
    probe.surrogate_values()
    for check in CONTRACT if whole else ():
        check.run(probe)
    return time.perf_counter() - started


def main(repetitions: int) -> int:
    """Print the medians and their ratio; 1 if the goal is missed."""
    with jax.enable_x64(True):
        seconds(True)
        pairs = [(seconds(False), seconds(True)) for _ in range(repetitions)]
    first, whole = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"first order {first:.2f} s, whole contract {whole:.2f} s: {ratio:.2f} times (goal {GOAL:g})")
    return int(ratio > GOAL)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
