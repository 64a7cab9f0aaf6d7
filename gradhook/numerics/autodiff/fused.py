"""Compile several functions of the same arguments, or a function and its derivatives, as one program.

Compiling is the main cost of a check. All that is computed of a function of ordinary size in any case (values beside
the point, derivatives in both modes, the same of each first derivative) is traced piece by piece and compiled as one
program, in which XLA shares what the pieces have in common. A piece that raises is left out: run alone, it raises
again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from gradhook.comparison.probe import DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.programs import Clock, Function, compiled, derivative, is_large, moved
from gradhook.numerics.finite_difference.richardson import Array


def together(
    questions: Mapping[str, Callable[..., Any]], arguments: tuple[Any, ...], clock: Clock
) -> dict[str, Array | DerivativeError]:
    """The result of every question, each a function of the same arguments that returns one array.

    What a question raises is its answer; the others are compiled in one program.
    """
    found: dict[str, Array | DerivativeError] = {}
    groups = [list(questions)] if questions else []
    if is_large(arguments):  # run each alone, so that one program does not need the memory of all
        groups = [[name] for name in questions]
    for names in groups:
        _answer(names, questions, arguments, clock, found)
    return {name: found[name] for name in questions}


def _answer(
    names: list[str],
    questions: Mapping[str, Callable[..., Any]],
    arguments: tuple[Any, ...],
    clock: Clock,
    found: dict[str, Array | DerivativeError],
) -> None:
    """Compile and run some questions as one program; if that raises, run each alone."""
    started = ready = time.perf_counter()
    try:
        run = _program(names, questions, arguments, found)
        ready = time.perf_counter()
        found.update({name: np.asarray(value, dtype=np.float64) for name, value in run(*arguments).items()})
    except Exception as error:  # some rules raise only when they are compiled or run
        for name in [name for name in names if name not in found] if len(names) > 1 else ():
            _answer([name], questions, arguments, clock, found)
        if len(names) == 1 and names[0] not in found:
            found[names[0]] = classify(error)
        return
    clock.compile += ready - started
    clock.run += time.perf_counter() - ready


def _program(
    names: list[str],
    questions: Mapping[str, Callable[..., Any]],
    arguments: tuple[Any, ...],
    found: dict[str, Array | DerivativeError],
) -> Callable[..., dict[str, Any]]:
    """All questions that can be traced as one program; what the others raise goes into ``found``."""

    def program(*given: Any) -> dict[str, Any]:
        answers = {}
        for name in names:
            try:
                answers[name] = questions[name](*given)
            except Exception as error:  # what the user's rule raises is the answer
                found[name] = classify(error)
        return answers

    return compiled(program, arguments)


QUICK = 0.05
"""Seconds: a program that runs longer is not run again for the sake of one of its pieces."""
PATIENT = 1.0
"""Seconds: a program that runs longer is not run again at all."""
Piece = tuple[str, tuple[Mode, ...]]
"""``"values"``, ``"forward"`` or ``"reverse"`` of the derivative at a path."""
Group = tuple[str, list[tuple[Mode, ...]]]
"""Pieces of one kind that are traced together."""
Answers = dict[Piece, Array]


@dataclass(frozen=True)
class Transform:
    """A derivative: the path of modes to it, its seeds, and the cotangents (r, m) pulled back at its end."""

    path: tuple[Mode, ...]
    seeds: tuple[Array, ...]
    cotangents: Array


@dataclass(frozen=True)
class EvaluationPoint:
    """The arguments of a run: point, directions (D, n), abscissae (D, T), large arrays."""

    point: Array
    vectors: Array
    t: Array
    operands: tuple[Any, ...] = ()

    def is_at(self, other: EvaluationPoint) -> bool:
        """Whether derivatives are the same at the other point."""
        mine, others = (jax.tree.leaves((s.operands, s.point, s.vectors)) for s in (self, other))
        return all(a is b or np.array_equal(a, b, equal_nan=True) for a, b in zip(mine, others, strict=True))


@dataclass
class FusedProgram:
    """Several derivatives of one function, compiled at first use and run again for other points."""

    function: Callable[..., Any]
    transforms: tuple[Transform, ...]
    clock: Clock
    _program: Callable[..., Any] | None = None
    _pieces: list[Piece] = field(default_factory=list)
    _runs: list[tuple[EvaluationPoint, Answers]] = field(default_factory=list)
    _seconds: float = 0.0
    _broken: bool = False

    @property
    def is_quick(self) -> bool:
        """Whether the program has run so quickly that it may run again for one more point."""
        return bool(self._runs) and not self._broken and self._seconds <= QUICK * len(self._runs)

    def visit(self, x: Array, vectors: Array, t: Array, operands: tuple[Any, ...]) -> bool:
        """Run at another point and keep the results; False where a run takes too long."""
        if self._runs and not self._broken:
            if self._seconds > PATIENT * len(self._runs):
                return False
            self._run(EvaluationPoint(x, vectors, t, operands))
        return True

    def answer(
        self, name: str, path: tuple[Mode, ...], x: Array, vectors: Array, t: Array, operands: tuple[Any, ...]
    ) -> Array | None:
        """The result of one piece at a point; None if it has to run alone."""
        piece, point = (name, path), EvaluationPoint(x, vectors, t, operands)
        if self._broken or all(transform.path != piece[1] for transform in self.transforms):
            return None
        for before, answers in self._runs:
            if before.is_at(point) and (piece[0] != "values" or np.array_equal(before.t, point.t)):
                return answers.get(piece)
        if self._runs and (piece not in self._runs[0][1] or self._seconds > QUICK * len(self._runs)):
            return None
        return self._run(point).get(piece)

    def _run(self, point: EvaluationPoint) -> Answers:
        which = np.repeat(np.arange(len(point.vectors)), point.t.shape[1])
        given = (point.operands, point.point, point.vectors, (which, point.t.ravel()))
        arguments = (*given, [(transform.seeds, transform.cotangents) for transform in self.transforms])
        try:
            program = self._ready(arguments)
            started = time.perf_counter()
            found = jax.device_get(program(*arguments))
        except Exception:  # each piece, run alone, raises again
            self._broken = True
            return {}
        self._seconds += time.perf_counter() - started
        self.clock.run += time.perf_counter() - started
        answers = {piece: np.asarray(v, np.float64) for piece, v in zip(self._pieces, found, strict=True)}
        self._runs.append((point, answers))
        return answers

    def _ready(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if self._program is None:
            started = time.perf_counter()
            self._program = self._compiled(arguments)
            self.clock.compile += time.perf_counter() - started
        return self._program

    def _compiled(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """All pieces in one program; else without a mode that the function lacks; else those that lower alone."""
        for lacking in (None, "fwd", "rev"):
            try:
                return self._program_of(self._groups(lacking), arguments)
            except Exception:  # the piece that raises does so again when it runs alone
                continue
        alone = [(kind, [path]) for kind, paths in self._groups(None) for path in paths]
        return self._program_of([one for one in alone if self._lowers(one, arguments)], arguments)

    def _groups(self, lacking: Mode | None) -> list[Group]:
        """Pieces that are traced together, without those that need the lacking mode."""
        paths = [transform.path for transform in self.transforms if lacking not in transform.path]
        return [(kind, paths) for kind in _PIECES if kind != _KINDS.get(lacking or "")]

    def _program_of(self, groups: list[Group], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        self._pieces = [(kind, path) for kind, paths in groups for path in paths]
        return compiled(lambda *given: self._outputs(groups, *given), arguments)

    def _lowers(self, group: Group, arguments: tuple[Any, ...]) -> bool:
        try:
            # Some rules raise only now: the forward mode of a custom_vjp is traced, but cannot be lowered.
            jax.jit(lambda *given: self._outputs([group], *given)).lower(*arguments)
        except Exception:
            return False
        return True

    def _outputs(self, groups: list[Group], operands: Any, x: Any, vectors: Any, t: Any, seeds: Any) -> list[Any]:
        base = _once(partial(self.function, operands) if operands else self.function, x)
        outputs: list[Any] = []
        for kind, paths in groups:
            chosen = [k for k, transform in enumerate(self.transforms) if transform.path in paths]
            each = [derivative(base, self.transforms[k].path, seeds[k][0]) for k in chosen]
            outputs += _PIECES[kind](each, x, vectors, t, [seeds[k][1] for k in chosen])
        return outputs


def _once(function: Function, x: Any) -> Function:
    """The function from a single trace of the user's code."""
    run = jaxpr_as_fun(jax.make_jaxpr(function)(x))
    return lambda y: run(y)[0]


def _values(each: list[Function], x: Any, vectors: Any, t: Any, cotangents: list[Any]) -> list[Any]:
    found: list[Any] = jax.lax.map(lambda pair: [h(moved(x, pair[1], vectors[pair[0]])) for h in each], t)
    return found


def _forward(each: list[Function], x: Any, vectors: Any, t: Any, cotangents: list[Any]) -> list[Any]:
    found: list[Any] = jax.lax.map(lambda v: jax.jvp(lambda y: [h(y) for h in each], (x,), (v,))[1], vectors)
    return found


def _reverse(each: list[Function], x: Any, vectors: Any, t: Any, cotangents: list[Any]) -> list[Any]:
    pulls = [jax.vjp(h, x)[1] for h in each]
    return [jax.lax.map(lambda w, pull=pull: pull(w)[0], ws) for pull, ws in zip(pulls, cotangents, strict=True)]


_KINDS = {"fwd": "forward", "rev": "reverse"}
_PIECES: dict[str, Callable[..., Any]] = {"values": _values, "forward": _forward, "reverse": _reverse}
