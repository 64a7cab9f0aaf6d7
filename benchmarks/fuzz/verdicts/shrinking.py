"""The smallest program of which the same kind of thing is false."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from fuzz.verdicts.judging import Judge
from fuzz.verdicts.operations import OPERATIONS
from fuzz.verdicts.programs import Leaf, Node, Program, pruned, values
from fuzz.verdicts.trials import Find, trial

Test = Callable[[Program], Find | None]
PATIENCE = 60.0
"""Seconds for one find."""


def shrunk(find: Find, judge: Judge, patience: float = PATIENCE) -> Find:
    """The find in a minimal program; the find itself where nothing smaller shows it."""

    def again(program: Program) -> Find | None:
        result = trial(program, judge, random.Random(0), full=0.0)
        return next((f for f in result.finds if f.kind == find.kind), None)

    return smallest(find, again, time.monotonic() + patience)


def smallest(find: Find, again: Test, until: float = float("inf")) -> Find:
    """Take the first smaller program that shows it, until there is none (or no time)."""
    while True:
        for candidate in candidates(find.program):
            if time.monotonic() > until:
                return find
            if weight(candidate) < weight(find.program) and (found := again(candidate)):
                find = found
                break
        else:
            return find


def weight(program: Program) -> tuple[int, int, int, int]:
    """Fewer values, then fewer inputs, then fewer outputs, then rounder numbers."""
    numbers = [*program.point, *(c for node in program.nodes for c in node.constants)]
    digits = sum(len(f"{number!r}") for number in map(float, numbers))
    return (
        len(program.nodes) + len(program.leaves) + len(program.outputs),
        sum(program.sizes),
        int(program.tree),
        digits,
    )


def candidates(program: Program) -> Iterator[Program]:
    """Smaller programs, the boldest first; those that cannot be computed are left out."""
    for made in (
        _single_outputs, _less_outputs, _cut, _bypassed, _flat, _halved, _scalar, _rounder_leaves, _rounder_constants,
    ):  # fmt: skip
        for candidate in made(program):
            if _works(candidate):
                yield candidate


def _works(program: Program) -> bool:
    try:
        values(program)
    except (ArithmeticError, ValueError, TypeError, IndexError):
        return False
    return True


def _single_outputs(program: Program) -> Iterator[Program]:
    if len(program.outputs) > 1:
        yield from (pruned(replace(program, outputs=(output,))) for output in program.outputs)


def _less_outputs(program: Program) -> Iterator[Program]:
    if len(program.outputs) > 2:
        yield from (
            pruned(replace(program, outputs=tuple(o for o in program.outputs if o != k))) for k in program.outputs
        )


def _cut(program: Program) -> Iterator[Program]:
    """A value becomes an input of its own."""
    found, count = values(program), len(program.leaves)
    for k in reversed(range(len(program.nodes))):
        numbers = tuple(float(dual.v) for dual in found[count + k])
        leaf: Leaf = numbers if len(numbers) > 1 else numbers[0]
        if len(numbers) <= 64:
            yield pruned(_with_leaf(program, k, leaf))


def _with_leaf(program: Program, k: int, leaf: Leaf) -> Program:
    count = len(program.leaves)

    def moved(place: int) -> int:
        return count if place == count + k else place + 1 if place >= count else place

    nodes = tuple(replace(node, operands=tuple(map(moved, node.operands))) for node in program.nodes)
    return replace(program, leaves=(*program.leaves, leaf), nodes=nodes, outputs=tuple(map(moved, program.outputs)))


def _bypassed(program: Program) -> Iterator[Program]:
    """A value is replaced by one of its operands."""
    count = len(program.leaves)
    for k, node in enumerate(program.nodes):
        for operand in dict.fromkeys(node.operands):
            place = {count + k: operand}
            nodes = tuple(
                replace(other, operands=tuple(place.get(p, p) for p in other.operands)) for other in program.nodes
            )
            yield pruned(replace(program, nodes=nodes, outputs=tuple(place.get(p, p) for p in program.outputs)))


def _flat(program: Program) -> Iterator[Program]:
    if program.tree:
        yield replace(program, tree=False)


def _halved(program: Program) -> Iterator[Program]:
    """All vectors of one length become half as long; sums of many have half as many terms."""
    for length in sorted({size for size in program.sizes if size > 2}):
        leaves = [leaf[: length // 2] if np.size(leaf) == length else leaf for leaf in program.leaves]
        yield replace(program, leaves=tuple(leaves))
    for k, node in enumerate(program.nodes):
        if node.name == "spread" and node.constants[0] > 3:
            yield _with_constants(program, k, (float(node.constants[0] // 2 + 1),))


def _scalar(program: Program) -> Iterator[Program]:
    """Vectors become their first or last number, where every operation takes a number."""
    if all(OPERATIONS[node.name].kind == "map" for node in program.nodes) and max(program.sizes) > 1:
        for end in (0, -1):
            yield replace(program, leaves=tuple(float(np.ravel(leaf)[end]) for leaf in program.leaves))


def _rounder(value: float) -> list[float]:
    if value in (0.0, 1.0):
        return []
    return [1.0, *(float(f"{value:.{digits}g}") for digits in (1, 2, 3, 6))]


def _rounder_leaves(program: Program) -> Iterator[Program]:
    for k, leaf in enumerate(program.leaves):
        numbers = [float(v) for v in np.ravel(leaf)]
        for n, value in enumerate(numbers[:8]):
            for rounder in _rounder(value):
                changed = (*numbers[:n], rounder, *numbers[n + 1 :])
                made: Leaf = changed if len(changed) > 1 else rounder
                yield replace(program, leaves=(*program.leaves[:k], made, *program.leaves[k + 1 :]))


def _rounder_constants(program: Program) -> Iterator[Program]:
    for k, node in enumerate(program.nodes):
        for n, value in enumerate(node.constants):
            for rounder in _rounder(value):
                if rounder != value:
                    yield _with_constants(program, k, (*node.constants[:n], rounder, *node.constants[n + 1 :]))


def _with_constants(program: Program, k: int, constants: tuple[float, ...]) -> Program:
    node: Node = replace(program.nodes[k], constants=constants)
    return replace(program, nodes=(*program.nodes[:k], node, *program.nodes[k + 1 :]))
