"""A random program as data: leaves, nodes and outputs, in the order in which they are computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mpmath as mp
import numpy as np

from fuzz.verdicts.duals import DIGITS, Dual, variable
from fuzz.verdicts.operations import OPERATIONS

Leaf = float | tuple[float, ...]


@dataclass(frozen=True)
class Node:
    """An operation on earlier values: leaf k is value k, node k is value ``len(leaves) + k``."""

    name: str
    operands: tuple[int, ...]
    constants: tuple[float, ...] = ()


@dataclass(frozen=True)
class Program:
    """Leaves (numbers or vectors), nodes and the values that are returned; ``tree``: the leaves come in one dict."""

    leaves: tuple[Leaf, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    tree: bool = False

    @property
    def point(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """All inputs as one vector."""
        return np.concatenate([np.ravel(leaf) for leaf in self.leaves]).astype(float)

    @property
    def sizes(self) -> list[int]:
        """The number of inputs in each leaf."""
        return [np.size(leaf) for leaf in self.leaves]

    def arguments(self) -> tuple[Any, ...]:
        """The point as arguments of the function."""
        leaves = [leaf if isinstance(leaf, float) else np.array(leaf) for leaf in self.leaves]
        return ({f"x{k:03}": leaf for k, leaf in enumerate(leaves)},) if self.tree else tuple(leaves)


def values(program: Program, point: list[Any] | None = None, digits: int = DIGITS) -> list[list[Dual]]:
    """Every value of a program with its derivatives; raises where one is outside the domain of an operation."""
    with mp.workdps(digits):
        found, begin = [], 0
        flat = program.point if point is None else point
        for size in program.sizes:
            found.append([variable(flat[k], k) for k in range(begin, begin + size)])
            begin += size
        for node in program.nodes:
            found.append(applied(node, found, digits))
        return found


def applied(node: Node, found: list[list[Dual]], digits: int = DIGITS) -> list[Dual]:
    """The value of a node."""
    with mp.workdps(digits):
        return OPERATIONS[node.name].duals([found[k] for k in node.operands], node.constants)


def outputs(program: Program, point: list[Any] | None = None, digits: int = DIGITS) -> list[Dual]:
    """All numbers that a program returns, as one vector."""
    found = values(program, point, digits)
    return [dual for k in program.outputs for dual in found[k]]


def pruned(program: Program) -> Program:
    """Without nodes and leaves that no output needs."""
    needed, count = set(program.outputs), len(program.leaves)
    for k in reversed(range(len(program.nodes))):
        if count + k in needed:
            needed |= set(program.nodes[k].operands)
    if not any(k < count for k in needed):
        needed.add(0)
    kept = sorted(needed)
    place = {old: new for new, old in enumerate(kept)}
    nodes = [program.nodes[k - count] for k in kept if k >= count]
    return replace(
        program,
        leaves=tuple(program.leaves[k] for k in kept if k < count),
        nodes=tuple(replace(node, operands=tuple(place[k] for k in node.operands)) for node in nodes),
        outputs=tuple(place[k] for k in program.outputs),
    )
