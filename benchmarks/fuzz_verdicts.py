"""Compare verdicts on random programs, element by element, with derivatives in 60 digits.

    python benchmarks/fuzz_verdicts.py [COUNT] [SEED] [--jobs N] [--time SECONDS] [--shrink FINDS] [--show NUMBER]

Each of COUNT (default 1,000) random programs is judged as it is, with elements of its derivative made wrong by three
times the resolution told for them, and with the derivative by an argument dropped. A false failure is a failure of a
claim that lies within what was allowed for it; a false pass one of a claim that is off by more than the resolution
told, or of a dropped derivative, however small. What is found is shrunk to a minimal module. The exit status is 1 when
a verdict was false. ``--show`` prints one of the programs and all that is false about it. Needs mpmath.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from fuzz.verdicts import running
from fuzz.verdicts.generating import generate
from fuzz.verdicts.source import module


def main() -> int:
    """Run, shrink, print."""
    options = _options()
    if options.show is not None:
        return _show(options.show, options.seed)
    started = time.perf_counter()
    total, finds = running.run(options.count, options.seed, options.jobs, options.time)
    print(running.table(total.counts, finds, time.perf_counter() - started), flush=True)
    chosen = running.varied(finds, options.shrink)
    for (number, _), find in zip(chosen, running.shrink_all([f for _, f in chosen], options.jobs), strict=True):
        print(f"\n{running.shown(number, find)}", flush=True)
    return 1 if finds else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=1000, help="programs")
    parser.add_argument("seed", nargs="?", default="0")
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--time", type=float, default=float("inf"), help="no new programs after so many seconds")
    parser.add_argument("--shrink", type=int, default=12, help="so many finds are shrunk and shown")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print one of the programs")
    return parser.parse_args()


def _show(number: int, seed: str) -> int:
    print(module(generate(random.Random(f"{seed}/{number}")), None))
    result = running.program_trial(number, seed)
    for find in result.finds:
        print(f"# {find.kind}: {find.note}")
    print(running.table(result.counts, [(number, find) for find in result.finds], 1.0))
    return 1 if result.finds else 0


if __name__ == "__main__":
    sys.exit(main())
