"""Scan a hostile file, and compare with every annotation in it."""

from __future__ import annotations

import ast
import random
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.oracle import annotations, lost
from fuzz.sources import hostile
from gradhook.model.errors import GradhookError
from gradhook.scan import scan
from gradhook.scan.parse import comments
from gradhook.scan.repository import ModuleIndex, scan_module
from gradhook.scan.targets import notices, other_files, targets

THROUGH_GIT = 1000
"""Every so many-th input also goes the whole way, from the folder on."""


def run(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many inputs came to what, and what went wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "mod.py"
        for number in range(count):
            text = hostile(random.Random(f"{seed}/{number}"))
            path.write_bytes(text)
            for fate in judged(text, path, whole=number % THROUGH_GIT == 0):
                counts[fate.partition(":")[0]] += 1
                if fate.startswith(("crashed", "lost", "refused")):
                    wrong.append(f"input {number} of seed {seed} {fate}")
    return counts, wrong


def judged(text: bytes, path: Path, whole: bool = False) -> Iterator[str]:
    """What became of one input: words to be counted."""
    yield "inputs"
    tree = _parsed(text)
    try:
        marks = _marks(text, path)
        if whole:
            marks = [target.mark for target in scan(path.parent, [path]).targets]
    except GradhookError as error:
        if tree is None:
            yield "no Python"
        else:
            yield "nested too deeply" if "deep" in error.message else f"refused: {error.message}"
        return
    except BaseException:
        yield f"crashed: {traceback.format_exc(limit=-4)}"
        return
    yield "scanned"
    if tree is not None:
        yield from ["annotations"] * len(annotations(tree))
        yield from [f"lost: lines {sorted(lines)}" for lines in lost(tree, marks)]


def _parsed(text: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _marks(text: bytes, path: Path) -> list[int]:
    found = scan_module(path, ModuleIndex(path.parent))
    others = other_files([found])
    comments(text, path.name)
    list(notices(found, others, "", ()))
    return [target.mark for target in targets(found, others, str(path.parent))]
