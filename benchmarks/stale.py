"""Edit a project at random, and count kept answers that are stale and rechecks that were needless.

    python benchmarks/stale.py [EDITS] [SEED]

A project in which every target depends on something in another way (``staling/project.py``) is edited at random
(``staling/edits.py``): code, constants, decorators of helpers, layout, data files, variables, patches of other modules,
versions and files of an installed distribution, links, path files, moved and renamed files, reverted edits, clocks set
back, byte code. After each edit the project is checked with the cache and without; sometimes several runs are at it at
once, and sometimes a file changes while one is. An answer from the cache that a run without it does not give is stale:
it is shown, and the exit code is 1. An answer that was worked out again and is the same as before is counted as
needless, though for some edits (code that gives the same value) no program could know. Targets are called, not
differentiated: the examiner loads no JAX (``staling/boot.py``), everything around it is the real thing.
"""

from __future__ import annotations

import functools
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from staling.edits import edit
from staling.project import Edited, make

from gradhook.execution import runner, session
from gradhook.execution.supervisor.pool import launch
from gradhook.model.protocol import to_json
from gradhook.model.report import Report
from gradhook.model.results import TargetReport

BOOT = Path(__file__).parent / "staling" / "boot.py"
_TOGETHER = 0.1
"""How often several runs are at work at once."""
_DURING = 0.1
"""How often an edit comes while a run is at work."""
_NOT_PART = ("cached", "seconds", "output")
Answers = dict[str, str]


def main(edits: int, seed: int) -> int:
    """Print what came of it; the exit code."""
    runner.launch = functools.partial(launch, boot=BOOT)
    os.environ.update(GRADHOOK_CACHE="1")
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        os.environ["XDG_CACHE_HOME"] = str(folder / "user")
        edited = make(folder, seed)
        before = answers(check(edited, cache=False))
        check(edited, cache=True)
        for number in range(1, edits + 1):
            done = _disturbed(edited)
            before = _compared(edited, number, done, before, count)
            if number % 50 == 0:
                _print(number, seed, count)
    _print(edits, seed, count)
    return 1 if count["stale"] or count["unlike"] else 0


def check(edited: Edited, *, cache: bool) -> Report:
    """One run."""
    said = {"python": str(edited.python), "cache": cache, "jobs": "1"}
    return session.check(session.find([edited.root], said, os.environ))


def answers(report: Report) -> Answers:
    """What was answered about each target."""
    return {name: _answer(target) for name, target in named(report).items()}


def named(report: Report) -> dict[str, TargetReport]:
    """The reports by name; those of the same name in the order of their lines."""
    seen: Counter[str] = Counter()
    found = {}
    for target in sorted(report.targets, key=lambda t: (t.target.name, t.target.line)):
        seen[target.target.name] += 1
        found[f"{target.target.name} {seen[target.target.name]}"] = target
    return found


def _answer(report: TargetReport) -> str:
    return repr({name: value for name, value in to_json(report).items() if name not in _NOT_PART and value})


def _disturbed(edited: Edited) -> str:
    """Edit, perhaps while a run is at work; then perhaps run several times at once."""
    chance = edited.random.random()
    if chance < _DURING:
        done = edit(edited)
        wait = _aside(lambda: check(edited, cache=True))
        time.sleep(edited.random.random() * 0.6)
        done += " · during a run: " + edit(edited)
        wait()
        return done
    done = edit(edited)
    if chance < _DURING + _TOGETHER:
        waits = [_aside(lambda: check(edited, cache=True)) for _ in range(2)]
        done += " · by several runs"
        for wait in waits:
            wait()
    return done


def _aside(work: Callable[[], Any]) -> Callable[[], None]:
    """Do something in a process of its own; what waits for it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return lambda: (os.waitpid(child, 0), None)[1]


def _compared(edited: Edited, number: int, done: str, before: Answers, count: Counter[str]) -> Answers:
    """Check with and without the cache, and count; what a run without it says."""
    kept = check(edited, cache=True)
    right = answers(check(edited, cache=False))
    found = answers(kept)
    cached = {name for name, target in named(kept).items() if target.cached}
    count["edits"] += 1
    for name in sorted(found.keys() | right.keys()):
        wrong = found.get(name) != right.get(name)
        again = name in found and name not in cached
        count["cached"] += name in cached
        count["checked again"] += again
        count["needless"] += again and not wrong and before.get(name) == right[name] and "'error'" not in right[name]
        if wrong:
            what = "stale" if name in cached else "unlike"
            count[what] += 1
            print(f"edit {number} ({done}): {what}: {name}{_parted(found.get(name, ''), right.get(name, ''))}")
    return right


def _parted(one: str, other: str) -> str:
    """From where two texts differ, a few words of each."""
    same = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    start = max(same - 30, 0)
    return "".join(f"\n  {what} {text[start : start + 150]}" for what, text in (("found", one), ("right", other)))


def _print(number: int, seed: int, count: Counter[str]) -> None:
    names = ("cached", "checked again", "needless", "stale", "unlike")
    print(f"seed {seed}: {number} edits; answers " + ", ".join(f"{count[name]} {name}" for name in names), flush=True)


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    sys.exit(main(words[0] if words else 1000, words[1] if len(words) > 1 else random.randrange(10**6)))
