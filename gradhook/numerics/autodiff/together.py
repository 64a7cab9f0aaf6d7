"""Compile several small functions of the same arguments as one program."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradhook.comparison.probe import DerivativeError
from gradhook.numerics.autodiff.compiler_options import compiled, is_large
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.programs import Clock
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
