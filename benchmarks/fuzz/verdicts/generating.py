"""Random programs: scales far apart, cancellation, saturation, kinks at chosen distances, sums, loops, casts."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import mpmath as mp
import numpy as np

from fuzz.verdicts.duals import Dual, Outside, variable
from fuzz.verdicts.operations import OPERATIONS
from fuzz.verdicts.programs import Leaf, Node, Program, applied, pruned

DISTANCES = (0.0, 1e-15, 3e-15, 1e-14, 3e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
MANY = (10, 30, 100, 300)
LARGE = 1e30


@dataclass
class Builder:
    """A program that grows; every value is computed at once, so that no operation leaves its domain."""

    random: random.Random
    leaves: tuple[Leaf, ...]
    nodes: list[Node] = field(default_factory=list)
    found: list[list[Dual]] = field(default_factory=list)

    def __post_init__(self) -> None:
        begin = 0
        for leaf in self.leaves:
            size = np.size(leaf)
            self.found.append([variable(float(np.ravel(leaf)[k]), begin + k) for k in range(size)])
            begin += size

    def add(self, name: str, *operands: int, constants: tuple[float, ...] = ()) -> int:
        """The place of a new value; raises ``Outside`` where it cannot be had."""
        node = Node(name, operands, constants)
        try:
            duals = applied(node, self.found)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise Outside from error
        if any(abs(dual.v) > LARGE or any(abs(d) > LARGE**2 for d in dual.d.values()) for dual in duals):
            raise Outside
        self.nodes.append(node)
        self.found.append(duals)
        return len(self.found) - 1

    def pick(self, kind: str = "any") -> int:
        """A value, a later one rather than an early one; a ``number`` or a ``vector`` where that is asked."""
        sizes = {"number": lambda n: n == 1, "vector": lambda n: n > 1}.get(kind, lambda n: True)
        places = [k for k, duals in enumerate(self.found) if sizes(len(duals))]
        if not places:
            raise Outside
        return max(self.random.choice(places), self.random.choice(places))

    def value(self, place: int) -> float:
        """One element of a value."""
        return float(self.random.choice(self.found[place]).v)


def generate(source: random.Random) -> Program:
    """A program of a dozen nodes with up to six arguments and outputs."""
    shape = source.random()
    leaves = _tree(source) if shape < 0.06 else _wide(source) if shape < 0.11 else _few(source)
    build = Builder(source, leaves)
    wanted = source.randint(3, 11)
    for _ in range(60):
        if len(build.nodes) >= wanted:
            break
        mark = len(build.nodes)
        try:
            source.choices(PATTERNS, WEIGHTS)[0](build)
        except Outside:
            del build.nodes[mark:], build.found[len(leaves) + mark :]
    return pruned(Program(leaves, tuple(build.nodes), _returned(build), shape < 0.06))


def _few(source: random.Random) -> tuple[Leaf, ...]:
    count = source.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 6))
    return tuple(_leaf(source, source.choice((1, 1, 1, 2, 3, 5))) for _ in range(count))


def _wide(source: random.Random) -> tuple[Leaf, ...]:
    return tuple(_leaf(source, source.randint(24, 50)) for _ in range(3))


def _tree(source: random.Random) -> tuple[Leaf, ...]:
    return tuple(_leaf(source, source.choice((1, 1, 2))) for _ in range(source.randint(8, 24)))


def _leaf(source: random.Random, size: int) -> Leaf:
    scale = 10.0 ** source.choice((0, 0, 0, 0, 0, 0, -1, 1, 2, -3, 4, -6, -12, 6))
    numbers = tuple(scale * _number(source) for _ in range(size))
    return numbers if size > 1 else numbers[0]


def _number(source: random.Random) -> float:
    if source.random() < 0.2:
        return source.choice((1.0, 2.0, 0.5, -1.0, 3.0))
    return float(f"{source.gauss(0, 1.5):.4g}")


def _factor(source: random.Random, decades: int = 12) -> float:
    sign = source.choice((1, 1, 1, -1))
    return sign * float(f"{10.0 ** source.uniform(-decades, decades):.2g}")


def _returned(build: Builder) -> tuple[int, ...]:
    """Up to six values, those that nothing else uses first; vectors of many are summed."""
    used = {k for node in build.nodes for k in node.operands}
    count = len(build.leaves)
    places = [count + k for k in range(len(build.nodes))]
    places = [k for k in places if len(build.found[k]) <= 12]
    sinks = [k for k in places if k not in used]
    others = [k for k in places if k in used]
    build.random.shuffle(others)
    chosen = (sinks + others[: build.random.randint(0, 2)])[:6]
    return tuple(sorted(chosen)) or (0,)


def _simple(build: Builder) -> None:
    names = [n for n, o in OPERATIONS.items() if o.kind == "map" and not o.constants and n != "float32"]
    name = build.random.choice(names)
    build.add(name, *_matching(build, OPERATIONS[name].operands))


def _matching(build: Builder, count: int) -> list[int]:
    """Operands of which all vectors have one length."""
    chosen = [build.pick()]
    length = len(build.found[chosen[0]])
    for _ in range(count - 1):
        other = build.pick()
        if length > 1 and len(build.found[other]) not in (1, length):
            raise Outside
        length = max(length, len(build.found[other]))
        chosen.append(other)
    return chosen


def _scaled(build: Builder) -> None:
    build.add("scale", build.pick(), constants=(_factor(build.random),))


def _mixed(build: Builder) -> None:
    """Two terms whose scales are far apart."""
    a, b = _matching(build, 2)
    decades = build.random.choice((3, 8, 12))
    one = build.add("scale", a, constants=(_factor(build.random, decades),))
    other = build.add("scale", b, constants=(_factor(build.random, decades),))
    build.add("add", one, other)


def _offset(build: Builder) -> None:
    """A large number is added, and taken away again more often than not."""
    size = _factor(build.random)
    place = build.add("shift", build.pick(), constants=(size,))
    if build.random.random() < 0.3:
        place = build.add(build.random.choice(("square", "sqrt", "log", "sin")), place)
        size = float(f"{build.value(place):.12g}")
    if build.random.random() < 0.8:
        build.add("shift", place, constants=(-size,))


def _cancelled(build: Builder) -> None:
    """sqrt(x² + d²) - x, 1 - cos x, 1 - sigmoid and the like."""
    kind = build.random.choice(("root", "cosine", "one minus", "exp"))
    a = build.pick()
    if kind == "root":
        length = build.add("hypot", *_matching(build, 2))
        if len({1, len(build.found[length]), len(build.found[a])}) > 2:
            raise Outside
        build.add("subtract", length, a)
    elif kind == "cosine":
        build.add("shift", build.add("cos", a), constants=(-1.0,))
    elif kind == "exp":
        build.add("shift", build.add("exp", a), constants=(-1.0,))
    else:
        squashed = build.add(build.random.choice(("sigmoid", "tanh", "erf")), a)
        build.add("log", build.add("shift", build.add("negative", squashed), constants=(1.0,)))


def _saturated(build: Builder) -> None:
    stretched = build.add("scale", build.pick(), constants=(build.random.choice((5.0, 20.0, -34.0, 50.0)),))
    build.add(build.random.choice(("tanh", "sigmoid", "softplus", "erf", "gauss", "exp", "arctan")), stretched)


def _kinked(build: Builder) -> None:
    """A kink or a jump at a chosen distance."""
    place = build.pick()
    value = build.value(place)
    distance = build.random.choice(DISTANCES) * build.random.choice((1, -1))
    edge = value + distance * build.random.choice((1.0, max(1.0, abs(value))))
    name = build.random.choice(
        ("abs", "relu", "at_least", "at_most", "clip", "where", "where32", "floor", "max", "sort")
    )
    if name in ("abs", "relu"):
        build.add(name, build.add("shift", place, constants=(-edge,)))
    elif name in ("at_least", "at_most"):
        build.add(name, place, constants=(edge,))
    elif name == "clip":
        bounds = (edge, edge + 2.0) if build.random.random() < 0.5 else (edge - 2.0, edge)
        build.add("clip", place, constants=bounds)
    elif name == "floor":
        build.add("floor", build.add("shift", place, constants=(float(np.round(value)) - edge,)))
    elif name in ("where", "where32"):
        _branch(build, name, place, edge)
    else:
        number = build.pick("number")
        other = build.add("shift", number, constants=(distance,))
        build.add(name, build.add("pair", number, other))


def _branch(build: Builder, name: str, place: int, edge: float) -> None:
    """A condition on one value that chooses between two others; continuous where both meet."""
    length = len(build.found[place])
    yes = build.pick()
    if len(build.found[yes]) not in (1, length) and length > 1:
        raise Outside
    no = build.add(build.random.choice(("square", "sin", "negative")), yes)
    build.add(name, place, yes, no, constants=(edge,))


def _many(build: Builder) -> None:
    """A sum over many elements."""
    spread = build.add("spread", build.pick("number"), constants=(float(build.random.choice(MANY) + 1),))
    name = build.random.choice(("sin", "exp", "square", "tanh", "gauss", "abs", "softplus"))
    build.add(build.random.choice(("sum", "mean", "norm", "logsumexp", "max")), build.add(name, spread))


def _reduced(build: Builder) -> None:
    name = build.random.choice(("sum", "mean", "prod", "max", "min", "logsumexp", "norm", "item"))
    vector = build.pick("vector")
    if name == "prod" and len(build.found[vector]) > 12:
        raise Outside
    build.add(name, vector, constants=(float(build.random.randrange(3)),) if name == "item" else ())


def _dotted(build: Builder) -> None:
    a, b = build.pick("vector"), build.pick("vector")
    if len(build.found[a]) != len(build.found[b]):
        raise Outside
    build.add("dot", a, b)


def _shaped(build: Builder) -> None:
    name = build.random.choice(("sort", "cumsum", "softmax", "pair", "triple"))
    if name in ("pair", "triple"):
        build.add(name, *(build.pick("number") for _ in range(OPERATIONS[name].operands)))
    else:
        build.add(name, build.pick("vector"))


def _looped(build: Builder) -> None:
    name = build.random.choice(("loop", "loop_newton", "loop_logistic", "scan", "scan_tanh"))
    count = float(build.random.randint(1, 12))
    factor = float(f"{build.random.uniform(-1.5, 1.5):.2g}")
    if name.startswith("scan"):
        build.add(name, build.pick("vector"), constants=(factor,))
    elif name == "loop_newton":
        build.add(name, build.pick(), constants=(count,))
    else:
        build.add(name, build.pick(), constants=(factor + (2 if name == "loop_logistic" else 0), count))


def _powered(build: Builder) -> None:
    if build.random.random() < 0.5:
        build.add("power", build.pick(), constants=(float(f"{build.random.uniform(-2.5, 3.5):.2g}"),))
    else:
        build.add("whole_power", build.pick(), constants=(float(build.random.choice((-3, -1, 3, 4, 7))),))


def _narrowed(build: Builder) -> None:
    build.add("float32", build.pick())


PATTERNS: tuple[Callable[[Builder], None], ...] = (
    _simple, _scaled, _mixed, _offset, _cancelled, _saturated, _kinked, _many, _reduced, _dotted, _shaped, _looped,
    _powered, _narrowed,
)  # fmt: skip
WEIGHTS = (30, 5, 12, 8, 8, 6, 12, 6, 10, 2, 6, 6, 4, 1)
mp.mp.dps = 60
