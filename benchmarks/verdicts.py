"""Judge JAX's public functions, mutants of them, and a corpus of real faults.

    python benchmarks/verdicts.py [--part scan|mutants|corpus|all] [-k NAME] [--tolerances] [-j PROCESSES]

``scan`` checks public functions of the installed JAX at ordinary and at special points, both modes, orders 1 and 2.
Every verdict is compared, element by element, with derivatives by mpmath. ``mutants`` makes their derivatives wrong by
a millionth. ``corpus`` checks the cases of ``tests/corpus``. ``--tolerances`` repeats the scan with tighter tolerances:
the data from which the default is chosen. Needs mpmath. The exit status is 1 if a right derivative was failed or a
wrong one passed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import cases
import tables
from catalogue import ENTRIES
from mutating import Fate, mutants
from scanning import RTOLS, Answer, scan
from sharing import Family


@dataclass
class Result:
    """What came out for one function."""

    answers: list[Answer] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    error: str = ""


def main() -> int:
    """Run the parts, print their tables."""
    options = _options()
    started = time.perf_counter()
    good = True
    if options.part in ("scan", "mutants", "all"):
        good &= _catalogue(options)
    if options.part in ("corpus", "all"):
        good &= cases.run(options.k)
    print(f"\n{time.perf_counter() - started:.0f} s")
    return 0 if good else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("scan", "mutants", "corpus", "all"), default="all")
    parser.add_argument("-k", metavar="NAME", default="", help="only functions or cases that match this expression")
    parser.add_argument("--tolerances", action="store_true", help="also with tighter tolerances than the default")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="processes")
    return parser.parse_args()


def _catalogue(options: argparse.Namespace) -> bool:
    chosen = [n for n, e in enumerate(ENTRIES) if re.search(options.k, e.name)]
    work = [(n, options.part, options.tolerances) for n in chosen]
    results = []
    print(tables.heading())
    for n, result in zip(chosen, _results(work, options.j), strict=True):
        said = f"{ENTRIES[n].name}: {result.error}" if result.error else tables.line(ENTRIES[n], result.answers)
        print(said, flush=True)
        results.append((ENTRIES[n], result))
    good = not any(r.error for _, r in results)
    if options.part != "mutants":
        good &= tables.scan([(e, r.answers) for e, r in results])
    if options.tolerances:
        tables.tolerances([a for _, r in results for a in r.answers])
    if options.part != "scan":
        good &= tables.mutants([f for _, r in results for f in r.fates])
    return good


def _results(work: list[tuple[int, str, bool]], processes: int) -> Iterator[Result]:
    if processes == 1 or len(work) < 3:
        yield from map(examine, work)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(examine, work)


def examine(work: tuple[int, str, bool]) -> Result:
    """Everything about one function; in a process of its own."""
    number, part, tolerances = work
    warnings.filterwarnings("ignore")
    entry, family, result = ENTRIES[number], Family(), Result()
    try:
        if part != "mutants":
            result.answers = scan(entry, family, RTOLS if tolerances else RTOLS[:1])
        if part != "scan":
            result.fates = mutants(entry, family)
    except Exception as error:
        result.error = f"{type(error).__name__}: {error}"
    return result


if __name__ == "__main__":
    sys.exit(main())
