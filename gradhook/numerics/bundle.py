"""How do the programs of a function's first and second derivatives become a single one?

Compiling is what a check costs. All that is asked of a function of ordinary size in any case (values beside the point,
derivatives in both modes, the same of each first derivative) is traced piece by piece and compiled as one program, in
which XLA shares what the pieces have in common. A piece that cannot be traced is left out: whoever asks for it alone
hears why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from gradhook.model import Mode
from gradhook.numerics.compiling import compiled
from gradhook.numerics.differences import Array
from gradhook.numerics.programs import Clock, Function, derivative

QUICK = 0.02
"""Seconds: a bundle that runs longer is not run again for the sake of one of its pieces."""
Piece = tuple[str, tuple[Mode, ...]]
"""``"values"``, ``"forward"`` or ``"reverse"`` of the derivative at a path."""
Answers = dict[Piece, Array]


@dataclass(frozen=True)
class Aim:
    """A derivative of the function: the path to it, seeds on the way, cotangents (r, m) pulled back at its end."""

    path: tuple[Mode, ...]
    seeds: tuple[Array, ...]
    cotangents: Array


@dataclass(frozen=True)
class Situation:
    """Where a bundle is run: the point, directions (D, n), abscissae (D, T), large arrays that the function takes."""

    point: Array
    vectors: Array
    t: Array
    operands: tuple[Any, ...] = ()

    def is_at(self, other: Situation) -> bool:
        """Whether derivatives are the same there."""
        mine, others = (jax.tree.leaves((s.operands, s.point, s.vectors)) for s in (self, other))
        return all(a is b or np.array_equal(a, b, equal_nan=True) for a, b in zip(mine, others, strict=True))


@dataclass
class Bundle:
    """The pieces of one function; compiled at the first question, run again for another point or other abscissae."""

    function: Callable[..., Any]
    aims: tuple[Aim, ...]
    clock: Clock
    _program: Callable[..., Any] | None = None
    _pieces: list[Piece] = field(default_factory=list)
    _runs: list[tuple[Situation, Answers]] = field(default_factory=list)
    _seconds: float = 0.0
    _broken: bool = False

    def answer(
        self, name: str, path: tuple[Mode, ...], x: Array, vectors: Array, t: Array, operands: tuple[Any, ...]
    ) -> Array | None:
        """What a piece gives in a situation; None if it has to be asked alone."""
        piece, situation = (name, path), Situation(x, vectors, t, operands)
        if self._broken or all(aim.path != piece[1] for aim in self.aims):
            return None
        for before, answers in self._runs:
            if before.is_at(situation) and (piece[0] != "values" or np.array_equal(before.t, situation.t)):
                return answers.get(piece)
        if self._runs and (piece not in self._runs[0][1] or self._seconds > QUICK * len(self._runs)):
            return None
        return self._run(situation).get(piece)

    def _run(self, situation: Situation) -> Answers:
        which = np.repeat(np.arange(len(situation.vectors)), situation.t.shape[1])
        given = (situation.operands, situation.point, situation.vectors, (which, situation.t.ravel()))
        arguments = (*given, [(aim.seeds, aim.cotangents) for aim in self.aims])
        try:
            program = self._ready(arguments)
            started = time.perf_counter()
            found = jax.device_get(program(*jax.tree.leaves(arguments)))
        except Exception:  # each piece alone tells what is wrong with it
            self._broken = True
            return {}
        self._seconds += time.perf_counter() - started
        self.clock.run += time.perf_counter() - started
        answers = {piece: np.asarray(v, np.float64) for piece, v in zip(self._pieces, found, strict=True)}
        self._runs.append((situation, answers))
        return answers

    def _ready(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if self._program is None:
            started = time.perf_counter()
            traced = [*self._traced("values", arguments), *self._traced("forward", arguments)]
            traced += [t for aim in self.aims for t in self._traced("reverse", arguments, [aim])]
            self._pieces = [piece for pieces, _ in traced for piece in pieces]
            self._program = compiled(
                lambda *leaves: [out for _, run in traced for out in run(*leaves)], tuple(jax.tree.leaves(arguments))
            )
            self.clock.compile += time.perf_counter() - started
        return self._program

    def _traced(
        self, kind: str, arguments: tuple[Any, ...], aims: Sequence[Aim] | None = None
    ) -> Iterator[tuple[list[Piece], Callable[..., Any]]]:
        """The pieces of one kind, traced together if that goes, else each alone; what fails alone is left out."""
        chosen = self.aims if aims is None else aims
        places = [self.aims.index(aim) for aim in chosen]
        try:
            jaxpr = jax.make_jaxpr(lambda *given: _PIECES[kind](self, places, *given))(*arguments)
        except Exception:
            for aim in chosen if len(chosen) > 1 else ():
                yield from self._traced(kind, arguments, [aim])
            return
        yield [(kind, aim.path) for aim in chosen], jaxpr_as_fun(jaxpr)

    def _all(self, places: list[int], operands: Any, seeds: list[Any]) -> Function:
        """Several derivatives as one function."""
        held = (lambda x: self.function(operands, x)) if operands else self.function
        each = [derivative(held, self.aims[k].path, seeds[k][0]) for k in places]
        return lambda x: [one(x) for one in each]


def _values(bundle: Bundle, places: list[int], operands: Any, x: Any, vectors: Any, t: Any, seeds: Any) -> Any:
    every = bundle._all(places, operands, seeds)
    return jax.lax.map(lambda pair: every(x + pair[1] * vectors[pair[0]]), t)


def _forward(bundle: Bundle, places: list[int], operands: Any, x: Any, vectors: Any, t: Any, seeds: Any) -> Any:
    every = bundle._all(places, operands, seeds)
    return jax.lax.map(lambda v: jax.jvp(every, (x,), (v,))[1], vectors)


def _reverse(bundle: Bundle, places: list[int], operands: Any, x: Any, vectors: Any, t: Any, seeds: Any) -> Any:
    pull = jax.vjp(bundle._all(places, operands, seeds), x)[1]
    return jax.lax.map(lambda w: pull([w])[0], seeds[places[0]][1])


_PIECES: dict[str, Callable[..., Any]] = {"values": _values, "forward": _forward, "reverse": _reverse}
