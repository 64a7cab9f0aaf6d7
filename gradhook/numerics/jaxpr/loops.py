"""Find the step of a loop at which a result first becomes nan or infinite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from gradhook.numerics.jaxpr import traverse

STEPS = 10_000
"""A loop is followed no further."""


@dataclass(frozen=True)
class LoopStep:
    """A jaxpr at its inputs, and the output of it that is followed."""

    jaxpr: Any
    arguments: tuple[Any, ...]
    output: int


def bad_step(equation: Any, values: Sequence[Any], output: int, nan: bool) -> LoopStep | None:
    """The first step of a ``scan`` or ``while`` that makes a nan or infinity out of finite inputs.

    Its output is ``output`` if that is bad already, else the first bad one.
    """
    bad = jax.jit(lambda found: [_bad(value, nan) for value in found])
    for body, arguments, results in _steps(equation, list(values)):
        flags = [bool(flag) for flag in bad(results)]
        if any(flags):
            return LoopStep(body, tuple(arguments), output if flags[output] else flags.index(True))
    return None


def _bad(value: Any, nan: bool) -> Any:
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        return jnp.zeros((), bool)
    return (jnp.isnan(value) if nan else jnp.isinf(value)).any()


Steps = Iterator[tuple[Any, list[Any], list[Any]]]


def _steps(equation: Any, values: list[Any]) -> Steps:
    return (_scanned if equation.primitive.name == "scan" else _repeated)(equation.params, equation, values)


def _scanned(params: Any, equation: Any, values: list[Any]) -> Steps:
    """Body, inputs and outputs of every step; the body's outputs stand in the order of the scan's own."""
    constants, carries = traverse.scan_counts(equation)
    run = _compiled(params["jaxpr"])
    held, carry, rows = values[:constants], values[constants : constants + carries], values[constants + carries :]
    order = range(min(params["length"], STEPS))
    for i in (params["length"] - 1 - k for k in order) if params["reverse"] else order:
        arguments = [*held, *carry, *(row[i] for row in rows)]
        results = run(*arguments)
        yield params["jaxpr"], arguments, results
        carry = results[:carries]


def _repeated(params: Any, equation: Any, values: list[Any]) -> Steps:
    asked, constants = params["cond_nconsts"], params["body_nconsts"]
    goes_on, run = _compiled(params["cond_jaxpr"]), _compiled(params["body_jaxpr"])
    condition, held, carry = values[:asked], values[asked : asked + constants], values[asked + constants :]
    for _ in range(STEPS):
        if not bool(goes_on(*condition, *carry)[0]):
            return
        arguments = [*held, *carry]
        carry = run(*arguments)
        yield params["body_jaxpr"], arguments, carry


def _compiled(jaxpr: Any) -> Callable[..., list[Any]]:
    run: Callable[..., list[Any]] = jax.jit(traverse.function_of(jaxpr))
    return run
