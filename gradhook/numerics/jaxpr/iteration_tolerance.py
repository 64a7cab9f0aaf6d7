"""Continue loops that stop at a tolerance beyond their stop, and find the error of a slope that they account for.

An iteration that converges is then off by a power of what it was off; one that does anything else becomes another
function, which its results show. Nothing has to be known of the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.comparison.judge import Array, Flags, smoothness_code
from gradhook.comparison.probe import ContinuedIteration, DerivativeError
from gradhook.model.results import Mode, Smoothness
from gradhook.numerics.autodiff.derivatives import Differentiator, along
from gradhook.numerics.autodiff.programs import Programs, timed
from gradhook.numerics.autodiff.witnesses import program
from gradhook.numerics.finite_difference import adaptive
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.flows import Dependence
from gradhook.numerics.jaxpr.stop_tolerance import Stop, stop_of, stops

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


LOOP = 5e-3
"""A loop of which nothing more is known: at 1e-4 a slope was off by 3e-3, at 1e-7 by 4e-6."""
CALLBACK = 5e-7
"""A callback, in which there may be such a loop."""
LARGEST = 0.05
"""What is off by more is not put down to a tolerance that is only read."""
TIGHT = 1e-4
"""What a tight tolerance leaves open, as it is read: one of 1e-8."""
CONVERGENT = 0.5
"""Running a loop on changes a slope by less than this part, or the loop is no iteration that converges."""


def iteration_error(found: Dependence) -> Array:
    """The relative error of a slope that loops account for, for each pair of leaves; 0 outside of them."""
    open_ = np.where(found.unseen, CALLBACK, 0.0)
    for stop, pairs in found.stops:
        open_ = np.where(pairs, np.maximum(open_, _half_of_the_digits(stop)), open_)
    return open_


def _half_of_the_digits(stop: Stop) -> float:
    """Half of the digits of a tolerance, which may be absolute, of a residual or of its square."""
    return LOOP if stop.tolerance is None else min(float(np.sqrt(stop.tolerance)), LARGEST)


def mapped(found: Dependence) -> Array:
    """1 for pairs of leaves with a loop that leaves finished elements alone, so that running on changes nothing."""
    still = found.unseen
    for stop, pairs in found.stops:
        still = still | (pairs & stop.mapped)
    return np.where(still, 1.0, 0.0)


def claims_open(differentiator: Differentiator, path: tuple[Mode, ...]) -> float:
    """The relative error from the loops of the derivatives' own programs, which may stop sooner."""
    point = differentiator.projection.point
    (operands, vectors, _), (_, cotangents) = differentiator.projection.parts()[0], differentiator.claimed(path)
    function = program(differentiator, path, operands)
    asked = {
        "fwd": lambda: jax.make_jaxpr(lambda x, v: jax.jvp(function, (x,), (v,)))(point, vectors[0]),
        "rev": lambda: jax.make_jaxpr(lambda x, w: jax.vjp(function, x)[1](w))(point, cotangents[0]),
    }
    found = 0.0
    for mode in differentiator.modes if differentiator.held.traceable else ():
        try:
            loops = [e.params["cond_jaxpr"] for e in traverse.equations(asked[mode]()) if stops(e)]
        except Exception:  # a mode that the function lacks claims nothing
            continue
        found = max([found, *(_half_of_the_digits(stop_of(condition, ())) for condition in loops)])
    return found


def derivative_stops(held: FlatFunction, mode: Mode) -> bool:
    """Whether a loop in the program of a derivative stops at a tolerance; False where that cannot be traced."""
    if not held.traceable:
        return False
    x, w = np.zeros(held.inputs.size), np.zeros(held.outputs.size)
    forward = lambda x, w: jax.jvp(held.call, (x,), (x,))  # noqa: E731
    reverse = lambda x, w: jax.vjp(held.call, x)[1](w)  # noqa: E731
    try:
        return has_stops(jax.make_jaxpr(forward if mode == "fwd" else reverse)(x, w))
    except Exception:  # the run of the mode itself reports the error
        return False


def loops_in(jaxpr: Any) -> float:
    """The relative error from loops in any program: a derivative may have loops that its function lacks."""
    return LOOP if has_stops(jaxpr) else 0.0


def further(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> ContinuedIteration | None:
    """AD and measured derivatives when every loop inside runs on; None where that cannot be computed."""
    comparison = differentiator.comparison(path)
    if isinstance(comparison, DerivativeError) or not differentiator.held.traceable:
        return None
    before = comparison.measured_by(mode)
    try:
        with np.errstate(all="ignore"):
            after = _measured(differentiator, path, comparison.columns(mode))
            claim = _claimed(differentiator, path, mode)
    except Exception:  # a loop that was run on may do anything
        return None
    smooth = after.accepted & (after.smoothness == smoothness_code(Smoothness.SMOOTH)) & np.isfinite(claim)
    with np.errstate(all="ignore"):
        moved = np.abs(after.value - before.value)
        converges = moved <= CONVERGENT * np.maximum(np.abs(after.value), np.abs(before.value))
        told = (moved > after.error + before.error) | _may_be_done(differentiator, path, mode)
        known = smooth & converges & told & ~_left_alone(differentiator, path, mode)
    return ContinuedIteration(claim, after.value, after.error, known)


def _may_be_done(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> Flags:
    """True where a loop that running on does not change has converged, unless its tolerance is loose."""
    read = _by_element(differentiator, path, mode, iteration_error(differentiator.dependence))
    return np.asarray((read <= TIGHT) | (read == LOOP))


def _left_alone(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> Flags:
    return np.asarray(_by_element(differentiator, path, mode, mapped(differentiator.dependence)) > 0)


def _by_element(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode, of: Array) -> Array:
    """Numbers of pairs of leaves, for each element of a comparison."""
    comparison = differentiator.comparison(path)
    assert not isinstance(comparison, DerivativeError)
    labels = comparison.input_labels, comparison.column_labels(mode)
    return differentiator.dependence.largest(of, path, *labels)


def _measured(differentiator: Differentiator, path: tuple[Mode, ...], columns: slice) -> Any:
    """Differences of the function whose loops run on."""
    view, (_, outputs) = differentiator.projection, differentiator.seeds(path)
    weights = differentiator.weights(path, outputs)

    def evaluate(t: Array) -> Array:
        parts = [
            Programs(lambda x, o=o: _on(program(differentiator, path, o))(x), (), differentiator.clock).values(
                view.point, (), v, u
            )
            for o, v, u in view.parts(t)
        ]
        values = np.concatenate(parts)
        return np.concatenate([values, values @ weights.T], axis=-1) if len(weights) else values

    found = adaptive.measure(evaluate, view.directions.limits, (), differentiator.tolerance, None, lambda: True)
    return found.columns(columns)


def _on(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its loops run on."""
    return lambda *values: run_on(jax.make_jaxpr(function)(*values))(*values)[0]


def _claimed(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> Array:
    """The derivatives by a mode whose loops run on."""
    parts = []
    _, cotangents = differentiator.claimed(path)
    for operands, vectors, _ in differentiator.projection.parts():
        function = program(differentiator, path, operands)
        if mode == "fwd":
            push = _on(lambda x, v, f=function: jax.jvp(f, (x,), (v,))[1])
            parts.append(_rows(differentiator, push, vectors))
        else:
            pull = _on(lambda x, w, f=function: jax.vjp(f, x)[1](w)[0])
            parts.append(along(_rows(differentiator, pull, cotangents), vectors))
    return np.concatenate(parts)


def _rows(differentiator: Differentiator, function: Callable[..., Any], rows: Array) -> Array:
    every = lambda x, rows: jax.lax.map(lambda row: function(x, row), rows)  # noqa: E731
    return timed(differentiator.clock, every, differentiator.projection.point, rows)
