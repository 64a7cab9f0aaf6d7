"""Prove each element of a claim, its verdict, and the error bar of its measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from oracle import Array, Truth

from gradhook.comparison.judge import judge
from gradhook.comparison.probe import DerivativeComparison, DerivativeError
from gradhook.model.results import Verdict
from gradhook.numerics.function_probe import FunctionProbe

WRONG = 1e-7
"""A claim off by more than this, relative to itself and to the terms that it sums, is wrong; less is inaccurate."""
ROUNDING = 256 * float(np.finfo(float).eps)
UNDERFLOW = 1e-290
"""XLA flushes subnormal numbers to 0."""
VALUE = 1e-10
"""Where JAX's value is off by more, relatively, value and derivative may disagree although the derivative is right."""


@dataclass(frozen=True)
class Proof:
    """Counts over all elements of all claims of one order at one point, against the truth.

    ``wrong`` and ``inaccurate`` claims; ``accused``: right ones that were failed; ``missed``: passed ones that are off
    by more than the stated resolution; ``measured`` elements with an error bar, ``outside``: those whose bar does not
    hold.
    """

    wrong: int
    inaccurate: int
    accused: int
    missed: int
    measured: int
    outside: int
    example: str


def prove(probe: FunctionProbe, known: Truth, order: int) -> Proof | None:
    """Compare every claim and every measurement of an order with the truth; None where the truth is not known."""
    paths = [()] if order == 1 else [("fwd",), ("rev",)]
    comparisons = [
        comparison for comparison in map(probe.comparison, paths) if not isinstance(comparison, DerivativeError)
    ]
    parts = [_comparison(comparison, known, probe) for comparison in comparisons]
    found = [p for p in parts if p is not None]
    if not found:
        return None
    counts = np.sum([p[0] for p in found], axis=0)
    return Proof(*(int(c) for c in counts), example=next((p[1] for p in found if p[1]), ""))


def _comparison(comparison: DerivativeComparison, known: Truth, probe: FunctionProbe) -> tuple[list[int], str] | None:
    true, terms = _along(comparison, known)
    terms = terms + _natural(comparison, known, probe.held.point) + UNDERFLOW / ROUNDING
    if true.shape[1] != len(comparison.output_labels) or len(comparison.weights):
        return None
    off = not comparison.path and _value_off(comparison, known, probe)
    sure = np.isfinite(true) & np.isfinite(comparison.measured.centre)[None, :]
    counts, example = np.zeros(4, dtype=int), ""
    for mode, claim in comparison.autodiff.items():
        if isinstance(claim, DerivativeError):
            continue
        part, text = _claim(mode, claim, comparison, true, terms, sure, probe, off)
        counts, example = counts + part, example or text
    bars = sure & comparison.measured.accepted
    outside = bars & (np.abs(comparison.measured.value - true) > comparison.measured.error + ROUNDING * terms)
    return [*counts.tolist(), int(bars.sum()), 0 if off else int(outside.sum())], example


def _value_off(comparison: DerivativeComparison, known: Truth, probe: FunctionProbe) -> bool:
    """Whether JAX's value itself is wrong, by more than rounding of terms as large as the inputs and the outputs."""
    value, true = comparison.measured.centre, known.value
    terms = max(np.abs(true[np.isfinite(true)]).max(initial=0.0), np.abs(probe.held.point).max(initial=0.0))
    return bool(np.any(np.abs(value - true) > VALUE * np.abs(true) + ROUNDING * terms + UNDERFLOW))


def _claim(
    mode: str,
    claim: Array,
    comparison: DerivativeComparison,
    true: Array,
    terms: Array,
    sure: NDArray[np.bool_],
    probe: FunctionProbe,
    off: bool,
) -> tuple[NDArray[np.int64], str]:
    judged = judge(claim, comparison.measured, probe.tolerance)
    with np.errstate(all="ignore"):
        gap = np.nan_to_num(np.abs(claim - true), nan=np.inf)
        wrong = sure & ~(gap <= WRONG * np.abs(true) + ROUNDING * terms)
        inaccurate = sure & ~wrong & ~(gap <= probe.tolerance.rtol * np.abs(true) + ROUNDING * terms)
        seen = gap > judged.resolution * judged.size + ROUNDING * terms
    accused = sure & ~wrong & ~inaccurate & (judged.verdict == Verdict.FAIL) & (not off)
    missed = wrong & seen & (judged.verdict == Verdict.PASS)
    worst = wrong if wrong.any() else inaccurate
    text = _example(mode, claim, comparison, true, gap * worst) if worst.any() else ""
    if off:
        text = (
            f"value {comparison.measured.centre.tolist()}, truth differs" if not text else text + " (so is the value)"
        )
    return np.array([wrong.sum() + off, inaccurate.sum(), accused.sum(), missed.sum()]), text


def _example(mode: str, claim: Array, comparison: DerivativeComparison, true: Array, gap: Array) -> str:
    d, o = np.unravel_index(int(np.argmax(gap)), gap.shape)
    return f"{mode} along {comparison.input_labels[d]}: JAX {claim[d, o]:.9g}, truth {true[d, o]:.9g}"


def _along(comparison: DerivativeComparison, known: Truth) -> tuple[Array, Array]:
    """The true derivative (D, m) along the directions of a comparison, and the size of the terms that it sums."""
    vectors = comparison.directions
    if not comparison.path:
        return _contract("dj,oj->do", vectors, known.jacobian)
    assert known.hessian is not None
    seed = np.asarray(comparison.seeds[0])
    if comparison.path[0] == "fwd":
        return _contract("i,dj,oij->do", seed, vectors, known.hessian)
    return _contract("o,dj,oij->di", seed, vectors, known.hessian)


def _natural(comparison: DerivativeComparison, known: Truth, point: Array) -> Array:
    """The value over the magnitude of the input (D, m): a derivative that is nearly 0 may lose the rounding of that."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(comparison.directions != 0, np.abs(point / comparison.directions), 0.0).max(
            axis=1, initial=0.0
        )
    scale, value = np.maximum(1.0, reach)[:, None], np.abs(np.nan_to_num(known.value))
    if comparison.path and comparison.path[0] == "rev":
        value = np.abs(comparison.seeds[0]) @ value / np.maximum(1.0, np.abs(point))
    return np.asarray(value / scale)


def _contract(how: str, *factors: Array) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):
        return np.einsum(how, *factors), np.einsum(how, *(np.abs(f) for f in factors))
