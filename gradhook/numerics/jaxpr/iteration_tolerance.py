"""The error of a slope that loops which stop at a tolerance account for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from gradhook.comparison.judge import Array, Flags, smoothness_code
from gradhook.comparison.probe import ContinuedIteration, DerivativeError
from gradhook.model.results import Mode, Smoothness
from gradhook.numerics.autodiff.derivatives import Differentiator, along
from gradhook.numerics.autodiff.programs import Programs, timed
from gradhook.numerics.autodiff.witnesses import program
from gradhook.numerics.finite_difference import adaptive
from gradhook.numerics.jaxpr.continued_iteration import run_on
from gradhook.numerics.jaxpr.dependence import Dependence
from gradhook.numerics.jaxpr.stop_tolerance import Stop, stop_of, stops
from gradhook.numerics.jaxpr.traverse import equations

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
            loops = [e.params["cond_jaxpr"] for e in equations(asked[mode]()) if stops(e)]
        except Exception:  # a mode that the function lacks claims nothing
            continue
        found = max([found, *(_half_of_the_digits(stop_of(condition, ())) for condition in loops)])
    return found


def loops_in(jaxpr: Any) -> float:
    """The relative error from loops in any program: a derivative may have loops that its function lacks."""
    return LOOP if any(stops(equation) for equation in equations(jaxpr)) else 0.0


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
    comparison, found = differentiator.comparison(path), differentiator.dependence
    assert not isinstance(comparison, DerivativeError)
    read = found.largest(iteration_error(found), path, comparison.input_labels, comparison.column_labels(mode))
    return np.asarray((read <= TIGHT) | (read == LOOP))


def _left_alone(differentiator: Differentiator, path: tuple[Mode, ...], mode: Mode) -> Flags:
    comparison, found = differentiator.comparison(path), differentiator.dependence
    assert not isinstance(comparison, DerivativeError)
    still = found.largest(mapped(found), path, comparison.input_labels, comparison.column_labels(mode))
    return np.asarray(still > 0)


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
