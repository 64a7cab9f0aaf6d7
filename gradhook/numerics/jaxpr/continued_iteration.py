"""Run a function with every loop that stops at a tolerance continued beyond its stop.

An iteration that converges is then off by a power of what it was off; one that does anything else becomes another
function, which its results show. Nothing has to be known of the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.stop_tolerance import stops

TIMES, LEAST, MOST = 4, 8, 20_000
"""A loop is run on for four times the steps that it took, and some more, but not for ever."""


def has_stops(jaxpr: Any) -> bool:
    """Whether some loop inside stops at a tolerance."""
    return any(stops(equation) for equation in traverse.equations(jaxpr))


def run_on(jaxpr: Any) -> Callable[..., list[Any]]:
    """A closed jaxpr as a function of flat arrays, its loops run on."""
    return lambda *values: _run(jaxpr, values)


def _run(jaxpr: Any, values: Sequence[Any]) -> list[Any]:
    body = traverse.open_jaxpr(jaxpr)
    known = dict(zip(body.invars, values, strict=True)) | dict(
        zip(body.constvars, traverse.constants(jaxpr), strict=True)
    )

    def read(atom: Any) -> Any:
        return jnp.asarray(atom.val, atom.aval.dtype) if traverse.is_literal(atom) else known[atom]

    for equation in body.eqns:
        known.update(zip(equation.outvars, _equation(equation, [read(a) for a in equation.invars]), strict=True))
    return [read(atom) for atom in body.outvars]


def _equation(equation: Any, values: list[Any]) -> list[Any]:
    inside = [*traverse.inner(equation), *(code for code in [traverse.primal_code(equation)] if code is not None)]
    if not stops(equation) and not any(has_stops(code) for code in inside):
        return traverse.bind(equation, values)
    name = equation.primitive.name
    walk = {"while": _while, "scan": _scan, "cond": _cond, "custom_linear_solve": _linear_solve}.get(name)
    if walk is not None:
        return walk(equation, values)
    code = traverse.primal_code(equation) or inside[0]
    fits = name in traverse.CALLS and len(traverse.open_jaxpr(code).invars) == len(values)
    return _run(code, values) if fits else traverse.bind(equation, values)


def _while(equation: Any, values: list[Any]) -> list[Any]:
    params = equation.params
    tests, constants = params["cond_nconsts"], params["body_nconsts"]
    asked, held, start = values[:tests], values[tests : tests + constants], values[tests + constants :]

    def goes_on(state: Any) -> Any:
        return _run(params["cond_jaxpr"], [*asked, *state[1]])[0]

    def step(state: Any) -> Any:
        return state[0] + 1, _run(params["body_jaxpr"], [*held, *state[1]])

    count, carry = lax.while_loop(goes_on, step, (jnp.zeros((), jnp.int32), start))
    return _further(lambda state: step((0, state))[1], count, carry) if stops(equation) else carry


def _further(step: Callable[[list[Any]], list[Any]], count: Any, carry: list[Any]) -> list[Any]:
    """More steps while their numbers are finite: a converged iteration may divide 0 by 0."""
    most = jnp.where(count > 0, jnp.minimum(TIMES * count + LEAST, MOST), 0)

    def once(state: Any) -> Any:
        left, before, _ = state
        after = step(before)
        fine = jnp.array([jnp.isfinite(a).all() for a in after if _is_inexact(a)]).all()
        return left - 1, [jnp.where(fine, a, b) for a, b in zip(after, before, strict=True)], fine

    last: list[Any] = lax.while_loop(lambda s: (s[0] > 0) & s[2], once, (most, carry, jnp.array(True)))[1]
    return last


def _is_inexact(value: Any) -> bool:
    return bool(jnp.issubdtype(value.dtype, jnp.inexact))


def _scan(equation: Any, values: list[Any]) -> list[Any]:
    params = equation.params
    constants, carries = traverse.scan_counts(equation)
    held, start, rows = values[:constants], values[constants : constants + carries], values[constants + carries :]

    def turn(carry: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
        found = _run(params["jaxpr"], [*held, *carry, *slices])
        return found[:carries], found[carries:]

    last, stacked = lax.scan(turn, start, rows, params["length"], params["reverse"])
    return [*last, *stacked]


def _cond(equation: Any, values: list[Any]) -> list[Any]:
    index, *operands = values
    branches = [lambda *given, code=code: _run(code, given) for code in equation.params["branches"]]
    found: list[Any] = lax.switch(index, branches, *operands)
    return found


def _linear_solve(equation: Any, values: list[Any]) -> list[Any]:
    """The solution by the solver itself."""
    lengths, codes = equation.params["const_lengths"], equation.params["jaxprs"]
    start = lengths.matvec + lengths.vecmat
    return _run(codes.solve, [*values[start : start + lengths.solve], *values[sum(lengths) :]])
