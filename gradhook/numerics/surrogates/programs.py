"""How do many small questions about one function become one compiled program?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from gradhook.numerics.differences import Array
from gradhook.numerics.faults import translate
from gradhook.numerics.programs import Clock
from gradhook.probe import Fault


def together(
    questions: Mapping[str, Callable[..., Any]], arguments: tuple[Array, ...], clock: Clock
) -> dict[str, Array | Fault]:
    """The answer of every question, each a function of the same arguments that returns one array.

    Each is traced alone, so that one that raises is known by name; the others are compiled in one program.
    """
    started = time.perf_counter()
    traced: dict[str, Any] = {}
    found: dict[str, Array | Fault] = {}
    for name, question in questions.items():
        try:
            traced[name] = jaxpr_as_fun(jax.make_jaxpr(question)(*arguments))
        except Exception as error:  # what the user's rule raises is the answer
            found[name] = translate(error)
    compiled = _compiled(traced, arguments, found)
    ready = time.perf_counter()
    found |= {name: np.asarray(value, dtype=np.float64) for name, value in compiled(*arguments).items()}
    clock.compile += ready - started
    clock.run += time.perf_counter() - ready
    return {name: found[name] for name in questions}


def _compiled(traced: dict[str, Any], arguments: tuple[Array, ...], found: dict[str, Array | Fault]) -> Any:
    """One program for everything that was traced; some rules raise only now, and are found one by one."""

    def lowered(names: list[str]) -> Any:
        return jax.jit(lambda *given: {name: traced[name](*given)[0] for name in names}).lower(*arguments)

    try:
        return lowered(list(traced)).compile()
    except Exception:
        good = []
        for name in traced:
            try:
                lowered([name])
                good.append(name)
            except Exception as error:
                found[name] = translate(error)
        return lowered(good).compile()
