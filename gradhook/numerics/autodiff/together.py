"""Compile several small functions of the same arguments as one program."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from gradhook.comparison.probe import DerivativeError
from gradhook.numerics.autodiff.compiler_options import compiled, is_large
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.finite_difference.richardson import Array


def together(
    questions: Mapping[str, Callable[..., Any]], arguments: tuple[Any, ...], clock: Clock
) -> dict[str, Array | DerivativeError]:
    """The result of every question, each a function of the same arguments that returns one array.

    Each is traced alone, so that one that raises is known by name; the others are compiled in one program.
    """
    found: dict[str, Array | DerivativeError] = {}
    started = time.perf_counter()
    traced = _traced(questions, arguments, found)
    clock.compile += time.perf_counter() - started
    groups = [list(traced)] if traced else []
    if is_large(arguments):  # run each alone, so that one program does not need the memory of all
        groups = [[name] for name in traced]
    for names in groups:
        _answer(names, traced, arguments, clock, found)
    return {name: found[name] for name in questions}


def _traced(
    questions: Mapping[str, Callable[..., Any]], arguments: tuple[Any, ...], found: dict[str, Array | DerivativeError]
) -> dict[str, Callable[..., Any]]:
    traced: dict[str, Callable[..., Any]] = {}
    for name, question in questions.items():
        try:
            traced[name] = jaxpr_as_fun(jax.make_jaxpr(question)(*arguments))
        except Exception as error:  # what the user's rule raises is the answer
            found[name] = classify(error)
    return traced


def _answer(
    names: list[str],
    traced: Mapping[str, Callable[..., Any]],
    arguments: tuple[Any, ...],
    clock: Clock,
    found: dict[str, Array | DerivativeError],
) -> None:
    """Compile and run some questions as one program; if that raises, run each alone."""
    started = ready = time.perf_counter()
    try:
        run = compiled(lambda *given: {name: traced[name](*given)[0] for name in names}, arguments)
        ready = time.perf_counter()
        found.update({name: np.asarray(value, dtype=np.float64) for name, value in run(*arguments).items()})
    except Exception as error:  # some rules raise only when they are compiled or run
        for name in names if len(names) > 1 else ():
            _answer([name], traced, arguments, clock, found)
        if len(names) == 1:
            found[names[0]] = classify(error)
        return
    clock.compile += ready - started
    clock.run += time.perf_counter() - ready
