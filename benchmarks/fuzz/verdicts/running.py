"""Many programs in several processes, and the table of what came out."""

from __future__ import annotations

import multiprocessing
import random
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from fuzz.verdicts.generating import generate
from fuzz.verdicts.judging import judge
from fuzz.verdicts.shrinking import PATIENCE, shrunk
from fuzz.verdicts.source import module
from fuzz.verdicts.trials import KINDS, Find, Result, trial

RENEWED = 200
"""Programs after which a process gives way to a fresh one: compiled programs are never given back."""


def program_trial(number: int, seed: str) -> Result:
    """The program of a number and a seed, judged by the product."""
    warnings.filterwarnings("ignore")
    source = random.Random(f"{seed}/{number}")
    return trial(generate(source), judge, source)


def shrink(find: Find, patience: float = PATIENCE) -> Find:
    """One find, shrunk before the product's judge."""
    warnings.filterwarnings("ignore")
    return shrunk(find, judge, patience)


def run(count: int, seed: str, jobs: int, seconds: float) -> tuple[Result, list[tuple[int, Find]]]:
    """The counts of all programs, and each find with the number of its program; stops when time is up."""
    total, finds = Result(), []
    until = time.monotonic() + seconds
    for number, result in enumerate(_each(partial(program_trial, seed=seed), range(count), jobs)):
        total.counts += result.counts
        finds += [(number, find) for find in result.finds]
        if time.monotonic() > until:
            break
    return total, finds


def _each(function: partial[Result], items: Iterable[int], jobs: int) -> Iterator[Result]:
    if jobs == 1:
        yield from map(function, items)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=RENEWED) as pool:
        yield from pool.imap(function, items)


def shrink_all(finds: list[Find], jobs: int) -> list[Find]:
    """All of them, shrunk."""
    if jobs == 1 or len(finds) < 2:
        return [shrink(find) for find in finds]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        return pool.map(shrink, finds, chunksize=1)


def varied(finds: list[tuple[int, Find]], most: int) -> list[tuple[int, Find]]:
    """At most so many finds, as many of each kind as there is room for."""
    by_kind = {kind: [pair for pair in finds if pair[1].kind == kind] for kind in KINDS}
    chosen: list[tuple[int, Find]] = []
    while len(chosen) < most and any(by_kind.values()):
        chosen += [pairs.pop(0) for pairs in by_kind.values() if pairs]
    return chosen[:most]


def table(counts: Counter[str], finds: list[tuple[int, Find]], seconds: float) -> str:
    """All counts, the false ones last."""
    lines = [f"{name:52} {count:>8,}" for name, count in sorted(counts.items())]
    kinds = Counter(find.kind for _, find in finds)
    needless = sum(n for name, n in counts.items() if name.startswith("undecided") and name.endswith(": smooth"))
    lines += ["", f"{'undecided, although nothing is in the way':52} {needless:>8,}"]
    lines += [f"{'programs with a ' + kind:52} {kinds[kind]:>8,}" for kind in KINDS]
    rate = counts["programs"] / max(seconds, 1e-9)
    return "\n".join([*lines, f"{'seconds':52} {seconds:>8,.0f}   ({rate:.2f} programs a second)"])


def shown(number: int, find: Find) -> str:
    """A find as a comment and a module."""
    return f"# program {number}: {find.kind}\n# {find.note}\n{module(find.program, find.wrong)}"
