"""Test whether a rule is linear in the tangent and whether its modes are adjoint.

Rounding, and what a loop inside the rule leaves open, are allowed; both are looked up only where something disagrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gradhook.comparison.agreement import UNDERFLOW
from gradhook.comparison.judge import ADJOINT, SURROGATE
from gradhook.comparison.probe import ConsistencyPair, DerivativeError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivatives import along
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.surrogates.linearity_program import FAR, LinearityProgram

TOLD_ELSEWHERE = "the mode itself raises"


def linearity(linearity_program: LinearityProgram, modes: tuple[Mode, ...]) -> tuple[ConsistencyPair, ...]:
    """Zero, multiples and sums of tangents and of cotangents, and whether the two modes are adjoints."""
    pairs = [pair for mode in modes for pair in _mode(linearity_program, mode)]
    return tuple(pairs + (_adjoint(linearity_program) if set(modes) >= {"fwd", "rev"} else []))


def _mode(linearity_program: LinearityProgram, mode: Mode) -> list[ConsistencyPair]:
    found = linearity_program.run(mode)
    if isinstance(found, DerivativeError):
        return [ConsistencyPair("differentiated", mode, _fault(linearity_program, mode, found), np.zeros(0))]
    pairs = list(_trials(linearity_program, mode, found, np.zeros(found.shape)))
    if not any(pair.wrong(SURROGATE).any() for pair in pairs):
        return pairs
    return list(_trials(linearity_program, mode, found, linearity_program.run_rounding(mode)))


def _fault(linearity_program: LinearityProgram, mode: Mode, fault: DerivativeError) -> DerivativeError:
    """The error of a mode, marked as missing unless reverse mode alone fails, by transposition.

    Reverse mode is made by transposing forward mode, so that this is so only where forward mode is there.
    """
    transposed = mode == "rev" and not isinstance(linearity_program.run("fwd"), DerivativeError)
    return fault if transposed or fault.missing else DerivativeError(True, f"{TOLD_ELSEWHERE}: {fault.message}")


def _trials(
    linearity_program: LinearityProgram, mode: Mode, found: Array, rounding: Array
) -> Iterator[ConsistencyPair]:
    powers, loops, last = linearity_program.powers(mode), linearity_program.loops(mode), linearity_program.last(mode)
    zero, one, two, both, *multiples = found[-last:]
    of_zero, of_one, of_two, of_both, *of_multiples = rounding[-last:]
    with np.errstate(all="ignore"):
        yield ConsistencyPair("zero", mode, zero, np.where(np.isfinite(one), 0.0, zero), of_zero + loops * np.abs(one))
        for power, got, of_got in zip(powers, multiples, of_multiples, strict=True):
            wanted = np.where(_is_asked(power, one, got), power * one, got)
            allowed = of_got + abs(power) * of_one + loops * np.abs(wanted) + UNDERFLOW
            yield ConsistencyPair(f"multiplied by {power:g}", mode, got, wanted, allowed)
        terms = np.abs(one) + np.abs(two)
        allowed = SURROGATE * terms + of_both + of_one + of_two + loops * terms
        yield ConsistencyPair("the sum of two", mode, both, one + two, allowed)


def _is_asked(power: float, one: Array, got: Array) -> Flags:
    """Whether a multiple is compared: where it is finite, or not finite by no overflow of a large factor."""
    return np.asarray(np.isfinite(one) & (np.isfinite(got) | (abs(power) <= FAR)))


def _adjoint(linearity_program: LinearityProgram) -> list[ConsistencyPair]:
    """Compare <w, J v> with <J^T w, v> for every direction and every output or combination."""
    forward, reverse = linearity_program.claim("fwd"), linearity_program.claim("rev")
    if isinstance(forward, DerivativeError) or isinstance(reverse, DerivativeError):
        return []
    with np.errstate(all="ignore"):
        combined = _combined(linearity_program, forward, lambda weights: weights)
        # 0 times infinity is nan in one of the modes: GRD105 reports what is not finite.
        combined = np.where(np.isfinite(combined) & np.isfinite(reverse), combined, reverse)
        pair = ConsistencyPair("adjoint", None, reverse, combined, _terms(linearity_program))
        if pair.wrong(ADJOINT).any():
            pair = ConsistencyPair(
                "adjoint",
                None,
                reverse,
                combined,
                _terms(linearity_program) + _iteration_error(linearity_program, combined),
            )
    return [pair]


def _terms(linearity_program: LinearityProgram) -> Array:
    """The rounding of each number as a sum of terms that cancel."""
    forward, rows = linearity_program.run("fwd"), linearity_program.run("rev")
    assert not isinstance(forward, DerivativeError) and not isinstance(rows, DerivativeError)
    pushed = np.abs(forward[: -linearity_program.last("fwd")])
    pulled = np.abs(rows[: -linearity_program.last("rev")])
    terms = along(pulled, np.abs(linearity_program.rows[0])) + _combined(linearity_program, pushed, np.abs)
    return np.asarray(ADJOINT * np.nan_to_num(terms, nan=0.0, posinf=0.0))


def _iteration_error(linearity_program: LinearityProgram, numbers: Array) -> Array:
    """The error that rounding and loops account for in either mode."""
    forward = linearity_program.run_rounding("fwd")[: -linearity_program.last("fwd")]
    reverse = linearity_program.run_rounding("rev")[: -linearity_program.last("rev")]
    own = _combined(linearity_program, forward, np.abs) + along(reverse, np.abs(linearity_program.rows[0]))
    return np.asarray(own + max(linearity_program.loops(mode) for mode in ("fwd", "rev")) * np.abs(numbers))


def _combined(linearity_program: LinearityProgram, numbers: Array, of: Callable[[Array], Array]) -> Array:
    """The numbers of outputs as those of the combinations that reverse mode pulls back."""
    return np.asarray(numbers @ of(linearity_program.weights).T) if len(linearity_program.weights) else numbers
