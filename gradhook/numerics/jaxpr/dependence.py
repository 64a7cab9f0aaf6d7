"""Find what lies on the paths of floating data flow from input leaves to output leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gradhook.comparison.judge import Array, Flags
from gradhook.comparison.probe import Downcast, Label
from gradhook.model.results import Mode
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.flows import UNSEEN, Flow, Met, Unreadable, flows
from gradhook.numerics.jaxpr.stop_tolerance import Stop


@dataclass(frozen=True)
class Dependence:
    """The data flow between leaves; each array has the shape (input leaves, output leaves).

    ``reaches``: some path. ``stops``: for each way in which a loop stops when floating numbers that depend on an input
    satisfy a condition, the pairs with a path through such a loop. ``unseen``: some path through code that is no
    equation, a callback. ``narrowed``: for each equation that narrows to less than float64, the pairs with a path
    through it.

    Without ``reaches`` an output is constant in pieces of that input: its derivative is 0 but where it jumps.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reaches: Flags
    stops: tuple[tuple[Stop, Flags], ...]
    unseen: Flags
    narrowed: tuple[tuple[Downcast, Flags], ...]

    @property
    def iterates(self) -> bool:
        """Whether anything that reaches an output may come out of a loop that stops at a tolerance."""
        return bool(self.stops) or bool(self.unseen.any())

    def between(self, path: tuple[Mode, ...], input: Label, output: Label) -> Flags:
        """The pairs of leaves that one element of the comparison at ``path`` depends on.

        A label that names no leaf (a direction, a combination) moves or sums all of them. Behind reverse mode an
        output is the gradient by an input leaf: the paths from that leaf concern it as well.
        """
        rows, columns = _named(self.inputs, input.leaf), _named(self.outputs, output.leaf)
        if "rev" in path:
            rows, columns = rows | _named(self.inputs, output.leaf), np.ones(len(self.outputs), bool)
        return np.asarray(rows[:, None] & columns[None, :])

    def largest(
        self, values: Array, path: tuple[Mode, ...], inputs: Sequence[Label], outputs: Sequence[Label]
    ) -> Array:
        """The largest of ``values``, one for each pair of leaves, for every input and output label."""
        return per_element(lambda i, o: float(values[self.between(path, i, o)].max(initial=0.0)), inputs, outputs)

    def independent(self, path: tuple[Mode, ...], inputs: Sequence[Label], outputs: Sequence[Label]) -> Flags:
        """Labels between which no floating data flows: the derivative is 0 but where the value jumps."""

        def apart(input: Label, output: Label) -> bool:
            reached = np.asarray(self.reaches[_named(self.inputs, input.leaf)].any(axis=0))
            if "rev" in path:  # a mixed derivative is 0 where no output depends on both
                return not (reached & self.reaches[_named(self.inputs, output.leaf)].any(axis=0)).any()
            return not reached[_named(self.outputs, output.leaf)].any()

        return per_element(apart, inputs, outputs).astype(bool)


def per_element(ask: Callable[[Label, Label], float], inputs: Sequence[Label], outputs: Sequence[Label]) -> Array:
    """A number for every input and output label, computed once for each pair of leaves."""
    pairs = {(i.leaf, o.leaf): (i, o) for i in dict.fromkeys(inputs) for o in dict.fromkeys(outputs)}
    known = {leaves: ask(*labels) for leaves, labels in pairs.items()}
    found = [[known[i.leaf, o.leaf] for o in outputs] for i in inputs]
    return np.asarray(found, dtype=np.float64).reshape(len(inputs), len(outputs))


def _named(leaves: tuple[str, ...], name: str) -> Flags:
    found = np.array([leaf == name for leaf in leaves], dtype=bool)
    return found if found.any() else np.ones(len(leaves), dtype=bool)


def dependence(held: FlatFunction) -> Dependence:
    """The data flow between the leaves of a function.

    Where it cannot be traced, or uses mutable arrays, everything may depend on everything by ways that are not seen.
    """
    inputs, outputs = held.inputs.leaves, held.outputs.leaves
    names = tuple(leaf.name for leaf in inputs), tuple(leaf.name for leaf in outputs)
    try:
        found = _flows(held) if held.traceable else None
    except Unreadable:
        found = None
    if found is None:
        everywhere = np.ones((len(inputs), len(outputs)), dtype=bool)
        return Dependence(*names, everywhere, (), everywhere, ())

    def table(of: Callable[[Flow], int]) -> Flags:
        bits = [[bool(of(flow) >> place & 1) for flow in found] for place in range(len(inputs))]
        return np.array(bits, dtype=bool).reshape(len(inputs), len(outputs))

    def met(what: Met) -> Flags:
        return table(lambda flow: flow.via.get(what, 0))

    every = {what: pairs for what in dict.fromkeys(w for flow in found for w in flow.via) if (pairs := met(what)).any()}
    stops = tuple((what, pairs) for what, pairs in every.items() if isinstance(what, Stop))
    narrowed = tuple((w, pairs) for w, pairs in every.items() if not isinstance(w, Stop) and w != UNSEEN)
    return Dependence(*names, table(lambda flow: flow.reach), stops, met(UNSEEN), narrowed)


def _flows(held: FlatFunction) -> list[Flow]:
    return flows(held.leaf_jaxpr, [Flow(1 << place) for place in range(len(held.inputs.leaves))])
