"""Evaluate a function with its values under ``stop_gradient`` held as at the base point.

The author's word ``stop_gradient="frozen"``: these values are constants of the function, so differences must not see
them move either. They are recorded once, at the base point, and stand in the jaxpr in the place of the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from gradhook.model.errors import GradhookError
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.nonfinite_source import JaxprFrame
from gradhook.numerics.jaxpr.traverse import Place

Recorded = tuple[Any, Place]
"""A value, or None where the base point does not come by; and the place of its ``stop_gradient``."""


@dataclass(frozen=True)
class FrozenFunction:
    """A function whose stopped values are constants, and their places in the code."""

    held: FlatFunction
    places: tuple[Place, ...]


def freeze_stopped_values(held: FlatFunction) -> FrozenFunction:
    """Hold floating values under ``stop_gradient`` at the base point, those under custom rules excepted.

    Raises:
        GradhookError: one of them changes from step to step of a loop, or the function cannot be traced.
    """
    if not held.traceable:
        raise GradhookError(
            'stop_gradient="frozen", but the function cannot be traced, so its stopped values cannot be found',
            "write it with jax.numpy and without Python control flow on values",
        )
    point = jnp.asarray(held.point)
    jaxpr = held.jaxpr
    recorded = list(_record(JaxprFrame(jaxpr, (point,), ("", 0))))
    left = iter(recorded)

    def rewrite(equation: Any) -> Any:
        # Equations are met in the order in which they were recorded; a jitted function is met once for each call.
        value = next(left)[0] if _stops(equation) else None
        return equation if value is None else traverse.call_of(jax.make_jaxpr(lambda _: [value])(value), equation)

    run = traverse.function_of(traverse.rewritten(jaxpr, rewrite))
    places = tuple(dict.fromkeys(place for value, place in recorded if value is not None))
    return FrozenFunction(replace(held, call=lambda vector: run(vector)[0]), places)


def _stops(equation: Any) -> bool:
    stops = equation.primitive.name == traverse.STOP
    return stops and bool(jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.inexact))


def _holds(jaxpr: Any) -> bool:
    """Whether a jaxpr has a stopped value to record, outside custom rules."""
    return any(
        _stops(e) or (traverse.primal_code(e) is None and any(_holds(part) for part in traverse.inner(e)))
        for e in traverse.open_jaxpr(jaxpr).eqns
    )


def _record(frame: JaxprFrame) -> Iterator[Recorded]:
    for equation in traverse.open_jaxpr(frame.jaxpr).eqns:
        if _stops(equation):
            yield frame.values(equation.invars)[0], frame.place(equation)
        elif traverse.primal_code(equation) is None and any(_holds(part) for part in traverse.inner(equation)):
            yield from _inside(frame, equation)


def _inside(frame: JaxprFrame, equation: Any) -> Iterator[Recorded]:
    place, name = frame.place(equation), equation.primitive.name
    if name in traverse.CALLS:
        (body,) = traverse.inner(equation)
        yield from _record(JaxprFrame(body, tuple(frame.values(equation.invars)), place))
    elif name == "cond":
        index, *arguments = frame.values(equation.invars)
        for number, branch in enumerate(equation.params["branches"]):
            taken = number == int(index)
            yield from _record(JaxprFrame(branch, tuple(arguments), place)) if taken else _passed_by(branch)
    else:
        file = f" at {Path(place[0]).name}:{place[1]}" if place[0] else ""
        raise GradhookError(
            f'stop_gradient="frozen", but inside a {name}{file} a value under stop_gradient is another at each step',
            "move it out of the loop, or leave the option out",
        )


def _passed_by(jaxpr: Any) -> Iterator[Recorded]:
    """Placeholders for the stopped values of a branch that is not taken."""
    for equation in traverse.open_jaxpr(jaxpr).eqns:
        if _stops(equation):
            yield None, ("", 0)
        elif traverse.primal_code(equation) is None:
            for part in traverse.inner(equation):
                yield from _passed_by(part)
