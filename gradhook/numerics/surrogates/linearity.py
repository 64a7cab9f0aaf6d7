"""Try whether a rule is linear in the tangent and its modes are adjoints, each element on its own scale.

Rounding, and what a loop inside the rule leaves open, are allowed; both are looked up only where something disagrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gradhook.comparison.agreement import UNDERFLOW
from gradhook.comparison.judge import ADJOINT, SURROGATE
from gradhook.comparison.probe import Fault
from gradhook.comparison.surrogate_probe import Trial
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivatives import along
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.surrogates.linearity_program import FAR, Battery

TOLD_ELSEWHERE = "the mode itself raises"


def linearity(battery: Battery, modes: tuple[Mode, ...]) -> tuple[Trial, ...]:
    """Zero, multiples and sums of tangents and of cotangents, and whether the two modes are adjoints."""
    trials = [trial for mode in modes for trial in _mode(battery, mode)]
    return tuple(trials + (_adjoint(battery) if set(modes) >= {"fwd", "rev"} else []))


def _mode(battery: Battery, mode: Mode) -> list[Trial]:
    found = battery.run(mode)
    if isinstance(found, Fault):
        return [Trial("differentiated", mode, _fault(battery, mode, found), np.zeros(0))]
    trials = list(_trials(battery, mode, found, np.zeros(found.shape)))
    if not any(trial.wrong(SURROGATE).any() for trial in trials):
        return trials
    return list(_trials(battery, mode, found, battery.run_rounding(mode)))


def _fault(battery: Battery, mode: Mode, fault: Fault) -> Fault:
    """What a mode raises is told by the question about the mode; a rule that cannot be transposed, here.

    Reverse mode is made by transposing forward mode, so that this is so only where forward mode is there.
    """
    transposed = mode == "rev" and not isinstance(battery.run("fwd"), Fault)
    return fault if transposed or fault.missing else Fault(True, f"{TOLD_ELSEWHERE}: {fault.message}")


def _trials(battery: Battery, mode: Mode, found: Array, rounding: Array) -> Iterator[Trial]:
    powers, loops, last = battery.powers(mode), battery.loops(mode), battery.last(mode)
    zero, one, two, both, *multiples = found[-last:]
    of_zero, of_one, of_two, of_both, *of_multiples = rounding[-last:]
    with np.errstate(all="ignore"):
        yield Trial("zero", mode, zero, np.where(np.isfinite(one), 0.0, zero), of_zero + loops * np.abs(one))
        for power, got, of_got in zip(powers, multiples, of_multiples, strict=True):
            wanted = np.where(_is_asked(power, one, got), power * one, got)
            allowed = of_got + abs(power) * of_one + loops * np.abs(wanted) + UNDERFLOW
            yield Trial(f"multiplied by {power:g}", mode, got, wanted, allowed)
        terms = np.abs(one) + np.abs(two)
        allowed = SURROGATE * terms + of_both + of_one + of_two + loops * terms
        yield Trial("the sum of two", mode, both, one + two, allowed)


def _is_asked(power: float, one: Array, got: Array) -> Flags:
    """Whether a multiple says something: of a number, and if it was made large on purpose, unless that overflowed."""
    return np.asarray(np.isfinite(one) & (np.isfinite(got) | (abs(power) <= FAR)))


def _adjoint(battery: Battery) -> list[Trial]:
    """<w, J v> beside <J^T w, v>, for every direction and every output (or combination of outputs) by itself."""
    forward, reverse = battery.claim("fwd"), battery.claim("rev")
    if isinstance(forward, Fault) or isinstance(reverse, Fault):
        return []
    with np.errstate(all="ignore"):
        combined = _combined(battery, forward, lambda weights: weights)
        # 0 times infinity is nan in one of the modes: what is not finite is told by GRD105.
        combined = np.where(np.isfinite(combined) & np.isfinite(reverse), combined, reverse)
        trial = Trial("adjoint", None, reverse, combined, _terms(battery))
        if trial.wrong(ADJOINT).any():
            trial = Trial("adjoint", None, reverse, combined, _terms(battery) + _left_open(battery, combined))
    return [trial]


def _terms(battery: Battery) -> Array:
    """What may be lost of each number in a sum of terms that cancel."""
    forward, rows = battery.run("fwd"), battery.run("rev")
    assert not isinstance(forward, Fault) and not isinstance(rows, Fault)
    pushed = np.abs(forward[: -battery.last("fwd")])
    pulled = np.abs(rows[: -battery.last("rev")])
    terms = along(pulled, np.abs(battery.rows[0])) + _combined(battery, pushed, np.abs)
    return np.asarray(ADJOINT * np.nan_to_num(terms, nan=0.0, posinf=0.0))


def _left_open(battery: Battery, numbers: Array) -> Array:
    """What rounding and loops may account for in either mode."""
    forward = battery.run_rounding("fwd")[: -battery.last("fwd")]
    reverse = battery.run_rounding("rev")[: -battery.last("rev")]
    own = _combined(battery, forward, np.abs) + along(reverse, np.abs(battery.rows[0]))
    return np.asarray(own + max(battery.loops(mode) for mode in ("fwd", "rev")) * np.abs(numbers))


def _combined(battery: Battery, numbers: Array, of: Callable[[Array], Array]) -> Array:
    """Numbers of outputs as those of the combinations that reverse mode pulls back."""
    return np.asarray(numbers @ of(battery.weights).T) if len(battery.weights) else numbers
