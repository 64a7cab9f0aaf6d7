"""Count the wrong derivatives that are found out: by a millionth, and by three times the resolution that was told.

A mutant is the same function with a rule of its own, whose errors are numbers handed in at run time: one set of
compiled programs serves all mutants of a function. Of the right function, each element that passed is made wrong by
three times the resolution told for it, and judged again by the same measurement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import jax
import numpy as np
from catalogue.records import Entry, Point
from doses import Dose, Variant, dosing, mutated, nothing
from scanning import instruments
from sharing import Family, sharing

from gradhook.checks import grd101_forward, grd102_reverse
from gradhook.comparison.compare import compare_mode, judge_claim
from gradhook.comparison.judge import judge, measured_columns
from gradhook.comparison.probe import DerivativeComparison, DerivativeError
from gradhook.model.results import RTOL, Verdict, worst
from gradhook.numerics.function_probe import FunctionProbe

ERROR = 1e-6
"""The relative error of every mutant."""
TOLD = 3.0
"""The error of an element that passed, in units of the resolution that was told for it."""


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: caught, undecided, missed, or passed ``within`` the resolution that the pass states."""

    name: str
    point: str
    kind: str
    fate: str
    effect: float
    """The largest error of a claim, relative to the size against which resolutions are stated."""


def mutants(entry: Entry, family: Family) -> list[Fate]:
    """The fates of all mutants of a function at its ordinary points; those that change nothing are left out."""
    found = []
    with jax.enable_x64(True):
        for name in list(entry.points)[: entry.ordinary]:
            if name not in entry.marks:
                found += _at(entry, name, family)
    return found


def _at(entry: Entry, name: str, family: Family) -> list[Fate]:
    with sharing(family):
        right = instruments(entry, name, RTOL)
        comparison = right.comparison()
        if isinstance(comparison, DerivativeError) or not _sound(right):
            return []
        second = entry.order > 1 and all(
            isinstance(right.comparison((mode,)), DerivativeComparison) for mode in comparison.autodiff
        )
    fates = list(_told(entry, name, right, comparison))
    for kind, variant, dose, paths in _kinds(entry.points[name], comparison, second):
        with sharing(family), dosing(variant, dose):
            probe = instruments(entry, name, RTOL, mutated(entry.call, variant))
            fates += _fate(entry, name, kind, right, probe, paths)
    return fates


def _told(entry: Entry, name: str, probe: FunctionProbe, comparison: DerivativeComparison) -> Iterator[Fate]:
    """The fate of each element that passed, made wrong by three times its own resolution."""
    for mode, claim in comparison.autodiff.items():
        if isinstance(claim, DerivativeError):
            continue
        right = judge_claim(comparison, mode, claim, probe)
        error = TOLD * right.resolution * right.size
        passed = (right.verdict == Verdict.PASS) & np.isfinite(error) & (error > 0)
        sign = np.where(np.arange(claim.size).reshape(claim.shape) % 2, -1.0, 1.0)
        answer = judge_claim(comparison, mode, np.where(passed, claim + sign * error, claim), probe)
        for row, column in zip(*np.nonzero(passed), strict=True):
            fate = {Verdict.FAIL: "caught", Verdict.PASS: "missed"}.get(answer.verdict[row, column], "undecided")
            yield Fate(entry.name, name, "three resolutions", fate, float(TOLD * right.resolution[row, column]))


def _sound(probe: FunctionProbe) -> bool:
    outcomes = [check.run(probe) for check in (grd101_forward, grd102_reverse)]
    return Verdict.PASS in [o.verdict for o in outcomes] and worst([o.verdict for o in outcomes]) is Verdict.PASS


Paths = tuple[tuple[str, ...], ...]


def _kinds(point: Point, comparison: DerivativeComparison, second: bool) -> Iterator[tuple[str, Variant, Dose, Paths]]:
    outputs = len(comparison.output_labels)
    zero = nothing(point, outputs)
    first: Paths = ((),)
    yield "everything", "tangent", zero.with_outputs(np.full(outputs, ERROR)), first
    if outputs > 1:
        yield "one output", "tangent", zero.with_outputs(np.eye(outputs)[outputs // 2] * ERROR), first
    for k, a in enumerate(point):
        if len(point) > 1:
            yield "one argument", "tangent", zero.with_input(k, np.full(np.shape(a), ERROR)), first
        if np.size(a) > 1:
            spot = np.zeros(np.size(a))
            spot[np.size(a) // 2] = ERROR
            yield "one element", "tangent", zero.with_input(k, spot.reshape(np.shape(a))), first
    if "fwd" in comparison.autodiff and "rev" in comparison.autodiff:
        yield "reverse mode only", "transposed", zero.with_scalars(transposed=ERROR), first
        yield "custom_vjp", "pullback", zero.with_scalars(transposed=ERROR), first
    if second:
        yield (
            "second order only",
            "tangent",
            zero.with_scalars(second=ERROR),
            (("rev",) if "rev" in comparison.autodiff else ("fwd",),),
        )


def _fate(entry: Entry, name: str, kind: str, right: FunctionProbe, probe: FunctionProbe, paths: Paths) -> list[Fate]:
    verdicts, effects, seen = [], [0.0], True
    for path in paths:
        comparison, original = probe.comparison(path), right.comparison(path)
        assert isinstance(comparison, DerivativeComparison) and isinstance(original, DerivativeComparison), comparison
        verdicts += [compare_mode(comparison, mode, probe, kind).verdict for mode in comparison.autodiff]
        for mode, claim in comparison.autodiff.items():
            if isinstance(claim, DerivativeError) or isinstance(original.autodiff[mode], DerivativeError):
                continue
            measured = measured_columns(comparison.measured, comparison.columns(mode))
            judgement = judge(claim, measured, probe.tolerance)
            off = np.abs(claim - original.autodiff[mode])
            with np.errstate(all="ignore"):
                effects.append(float(np.nanmax(np.nan_to_num(off / judgement.size), initial=0.0)))
                seen &= bool((off <= judgement.resolution * judgement.size).all())
    if not path:
        verdicts.append(grd102_reverse.run(probe).verdict)
    if max(effects) == 0.0:
        return []
    verdict = worst([v for v in verdicts if v is not Verdict.SKIP])
    fate = {Verdict.FAIL: "caught", Verdict.UNDECIDED: "undecided"}.get(verdict, "within" if seen else "missed")
    return [Fate(entry.name, name, kind, fate, max(effects))]
