"""Follow inputs through equations to results: what lies on the way, and what has less than float64.

An abstract interpretation: a variable's value is the set of inputs that it depends on. Floating data flow counts.
A comparison, a conversion to integers and the choice of a branch pass nothing on; ``stop_gradient`` and rounding do.
One comparison makes pieces, on each of which nothing changes. Comparisons of numbers that earlier ones chose are a
search (a bisection): its result follows its input closely, so that counts as a flow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from gradhook.comparison.judge import Array, Flags
from gradhook.comparison.probe import Downcast, Label
from gradhook.model.results import Mode
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.stop_tolerance import Stop, evaluated, is_users, stop_of
from gradhook.numerics.jaxpr.traverse import Place, is_inexact


def narrowing(equation: Any) -> str:
    """A description of an equation that takes a 64-bit float and gives a narrower one; else empty."""
    inputs = [_width(var) for var in equation.invars]
    outputs = [(_width(var), var) for var in equation.outvars]
    narrow = [var for width, var in outputs if 0 < width < 64]
    if not narrow or max(inputs, default=0) < 64:
        return ""
    kind = "a cast" if equation.primitive.name == "convert_element_type" else equation.primitive.name
    return f"{kind} to {narrow[0].aval.dtype}"


def _width(var: Any) -> int:
    """Bits of a real number in a floating variable; 0 for anything else."""
    dtype = getattr(var.aval, "dtype", None)
    if dtype is None or not jnp.issubdtype(dtype, jnp.inexact):
        return 0
    return int(np.finfo(dtype).bits) if np.dtype(dtype).kind in "fc" else 8 * np.dtype(dtype).itemsize


Where = Callable[[], Place]
"""A place that is looked up where it is needed: that takes longer than the rest."""

UNSEEN: Downcast = ("code that is no equation", "", 0)
"""What a path may run through, beside equations that narrow and loops that stop at a tolerance."""
Met = Downcast | Stop
"""What a path runs through."""
_LOOKUPS = ("gather", "dynamic_slice")
_APART = ("sort", "optimization_barrier")
"""Primitives whose every output is one of the inputs, possibly in another order."""


class Unreadable(Exception):
    """A jaxpr in which numbers flow by other ways than its equations: mutable arrays."""


@dataclass(frozen=True)
class Flow:
    """The inputs that a value depends on; a set of inputs is the bits of an integer.

    ``reach``: by floating data flow. ``chosen``: by comparisons. ``via``: for everything met on the way, the inputs
    with a path through it. ``value``: of a number that is written down, that number.
    """

    reach: int = 0
    chosen: int = 0
    via: Mapping[Met, int] = field(default_factory=dict)
    value: Any = field(default=None, compare=False)

    def through(self, met: Met) -> Flow:
        """The flow after something that all of it passes through."""
        return Flow(self.reach, self.chosen, {**self.via, met: self.via.get(met, 0) | self.reach})


NOTHING = Flow()


def flows(jaxpr: Any, arguments: Sequence[Flow], around: Where = lambda: ("", 0)) -> list[Flow]:
    """The dependence of the outputs of a jaxpr, given that of its inputs.

    Raises:
        Unreadable: the jaxpr reads or writes mutable arrays.
    """
    body = traverse.open_jaxpr(jaxpr)
    known = {var: _constant(value) for var, value in zip(body.constvars, traverse.constants(jaxpr), strict=False)}
    known = dict.fromkeys(body.constvars, NOTHING) | known | dict(zip(body.invars, arguments, strict=True))
    for equation in body.eqns:
        if any(hasattr(atom.aval, "inner_aval") for atom in (*equation.invars, *equation.outvars)):
            raise Unreadable(equation.primitive.name)
        inputs = [_constant(atom.val) if traverse.is_literal(atom) else known[atom] for atom in equation.invars]
        outputs = _outputs(equation, inputs, _where(jaxpr, equation, around))
        known.update(zip(equation.outvars, outputs, strict=True))
    return [NOTHING if traverse.is_literal(atom) else known[atom] for atom in body.outvars]


def _constant(value: Any) -> Flow:
    return Flow(value=value) if getattr(value, "shape", ()) == () else NOTHING


def _where(jaxpr: Any, equation: Any, around: Where) -> Where:
    return lambda: traverse.place_in(jaxpr, equation, around())


def joined(several: Iterable[Flow]) -> Flow:
    """The union of the dependences of several values."""
    reach, chosen, via = 0, 0, dict[Met, int]()
    for flow in several:
        reach, chosen = reach | flow.reach, chosen | flow.chosen
        for met, inputs in flow.via.items():
            via[met] = via.get(met, 0) | inputs
    return Flow(reach, chosen, via)


def _outputs(equation: Any, inputs: list[Flow], here: Where) -> list[Flow]:
    name = equation.primitive.name
    if name == "scan":
        return _scan(equation, inputs, here)
    if name == "while":
        return _while(equation, inputs, here)
    if name == "cond":
        branches = [flows(branch, inputs[1:], here) for branch in equation.params["branches"]]
        return [joined(ways) for ways in zip(*branches, strict=True)]
    if name in _APART:
        pairs = zip(equation.invars, inputs, equation.outvars, strict=True)
        return [_kept([atom], [flow], var) for atom, flow, var in pairs]
    body = _called(equation)
    return flows(body, inputs, here) if body is not None else _plain(equation, inputs, here)


def _called(equation: Any) -> Any | None:
    """The jaxpr that an equation runs on its own inputs: a call, or the primal code under a custom rule."""
    if equation.primitive.name not in traverse.CALLS:
        return None
    inside = [traverse.primal_code(equation)] if equation.primitive.name in traverse.RULES else traverse.inner(equation)
    bodies = [part for part in inside if part is not None]
    sizes = (len(equation.invars), len(equation.outvars))
    fits = (
        len(bodies) == 1
        and (len(traverse.open_jaxpr(bodies[0]).invars), len(traverse.open_jaxpr(bodies[0]).outvars)) == sizes
    )
    return bodies[0] if fits else None


def _plain(equation: Any, inputs: list[Flow], here: Where) -> list[Flow]:
    """Each output depends on each input; jaxprs inside may be run on any of them."""
    name = equation.primitive.name
    inputs = [Flow(f.reach, 0, f.via) if k and name in _LOOKUPS else f for k, f in enumerate(inputs)]
    inside = _inside(equation, joined(inputs), here)
    outputs = [
        joined([_kept(equation.invars, inputs, var, "bitcast" in name), _of_kind(var, inside)])
        for var in equation.outvars
    ]
    if "callback" in name or name == "ffi_call":
        outputs = [flow.through(UNSEEN) for flow in outputs]
    if not inside.reach and not any(flow.reach for flow in inputs):
        found = evaluated(equation, [flow.value for flow in inputs])
        outputs = [replace(flow, value=value) for flow, value in zip(outputs, found, strict=True)]
    what = narrowing(equation)
    return [flow.through((what, *here())) for flow in outputs] if what else outputs


def _inside(equation: Any, given: Flow, here: Where) -> Flow:
    parts = list(traverse.inner(equation)) or [part for part in [traverse.primal_code(equation)] if part is not None]
    found = [flows(part, [_of_kind(var, given) for var in traverse.open_jaxpr(part).invars], here) for part in parts]
    return joined(flow for outputs in found for flow in outputs)


def _of_kind(var: Any, flow: Flow) -> Flow:
    return flow if is_inexact(var) else NOTHING


def _kept(atoms: Sequence[Any], inputs: Sequence[Flow], result: Any, bits: bool = False) -> Flow:
    """The dependence that an equation passes on to one of its results."""
    if _is_boolean(result):
        return _compared(atoms, inputs)
    if not is_inexact(result) and not bits and any(map(is_inexact, atoms)):
        return NOTHING
    return joined(inputs)


def _compared(atoms: Sequence[Any], inputs: Sequence[Flow]) -> Flow:
    """The dependence of a comparison of floats, or of a formula of comparisons."""
    reach = chosen = 0
    for atom, flow in zip(atoms, inputs, strict=True):
        if is_inexact(atom):
            # What is chosen among values of the input itself, ``where(x == 0, 0, x)``, is no more than that input.
            reach, chosen = reach | (flow.chosen & ~flow.reach), chosen | flow.reach | flow.chosen
        elif _is_boolean(atom):
            reach, chosen = reach | flow.reach, chosen | flow.chosen
    return Flow(reach, chosen)


def _scan(equation: Any, inputs: list[Flow], here: Where) -> list[Flow]:
    constants, carries = traverse.scan_counts(equation)
    start, rows = inputs[constants : constants + carries], inputs[constants + carries :]
    return _repeated(equation.params["jaxpr"], inputs[:constants], start, rows, here)


def _repeated(body: Any, held: list[Flow], carry: list[Flow], rows: list[Flow], here: Where) -> list[Flow]:
    """The outputs of a loop's body at the fixed point of its carry's dependence."""
    carry, rows = [joined([flow]) for flow in carry], [joined([flow]) for flow in rows]
    while True:
        outputs = flows(body, [*held, *carry, *rows], here)
        after = [joined(both) for both in zip(carry, outputs[: len(carry)], strict=True)]
        if after == carry:
            return [*carry, *outputs[len(carry) :]]
        carry = after


def _while(equation: Any, inputs: list[Flow], here: Where) -> list[Flow]:
    params = equation.params
    asked, constants = params["cond_nconsts"], params["body_nconsts"]
    held, start = inputs[asked : asked + constants], inputs[asked + constants :]
    carry = _repeated(params["body_jaxpr"], held, start, [], here)
    (goes_on,) = flows(params["cond_jaxpr"], [*inputs[:asked], *carry], here)
    if not goes_on.chosen or not is_users(params["cond_jaxpr"]):
        return carry
    body = traverse.open_jaxpr(params["body_jaxpr"])
    stop = stop_of(params["cond_jaxpr"], [flow.value for flow in (*inputs[:asked], *carry)])
    stays = [one is other for one, other in zip(body.invars[constants:], body.outvars, strict=True)]
    return [flow if still else flow.through(stop) for flow, still in zip(carry, stays, strict=True)]


def _is_boolean(atom: Any) -> bool:
    dtype = getattr(atom.aval, "dtype", None)
    return dtype is not None and bool(jnp.issubdtype(dtype, jnp.bool_))


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
