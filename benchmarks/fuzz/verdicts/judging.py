"""A program before the judge: the way of the product, in this process, with the answer for every element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import jax
import numpy as np
from numpy.typing import NDArray

from fuzz.verdicts.programs import Program
from fuzz.verdicts.source import Wrong, faulty, plain
from gradhook.checks import grd101_forward, grd102_reverse, grd105_finite
from gradhook.comparison.compare import evaluate_mode
from gradhook.comparison.probe import BALANCED, DerivativeComparison, DerivativeError
from gradhook.model.results import Verdict, worst
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

Array = NDArray[np.float64]
CHECKS = (grd101_forward, grd102_reverse, grd105_finite)


@dataclass(frozen=True)
class Judged:
    """The answer of one mode about every direction and output, each array of shape (D, m).

    ``resolution`` is relative to ``size``, ``allowed`` what a claim may be off; ``relevant``: it was compared.
    """

    claim: Array
    verdict: NDArray[Any]
    code: NDArray[Any]
    allowed: Array
    resolution: Array
    size: Array
    relevant: NDArray[np.bool_]


@dataclass(frozen=True)
class Answer:
    """What a judge says of a program, mode by mode, along the directions (D, n) that it looked at.

    ``extra`` (D,): directions that repeat what coordinates show. ``again`` judges other claims: an error (D, m) is
    added to those of all modes, without a new measurement, and no failure is taken back for rounding.
    """

    verdict: str
    codes: tuple[str, ...]
    modes: Mapping[str, Judged]
    directions: Array
    extra: NDArray[np.bool_]
    again: Callable[[Array], Mapping[str, Judged]]


class Judge(Protocol):
    """Answers about a program, as it is or with a wrong derivative."""

    def __call__(self, program: Program, wrong: Wrong | None = None) -> Answer | None:
        """None where nothing could be compared."""


def judge(program: Program, wrong: Wrong | None = None) -> Answer | None:
    """The product's own answer."""
    function = plain(program) if wrong is None else faulty(plain(program), wrong)
    with jax.enable_x64(True):
        probe = FunctionProbe(function, CheckCase("args", program.arguments()), CheckOptions(), "fuzz", Clock())
        outcomes = [check.run(probe) for check in CHECKS]
        comparison = probe.comparison()
        if isinstance(comparison, DerivativeError):
            return None
        said = [o for o in outcomes if o.verdict is not Verdict.SKIP]
        codes = tuple(sorted({f.code for o in said for f in o.findings}))
        directions = np.stack(
            [probe.differentiator.projection.direction(row) for row in range(len(comparison.input_labels))]
        )
        return Answer(
            str(worst([o.verdict for o in said])), codes, _modes(comparison, probe), directions, _extra(comparison),
            lambda error: _again(comparison, probe, error),
        )  # fmt: skip


def _extra(comparison: DerivativeComparison) -> NDArray[np.bool_]:
    everything = np.array([label.is_direction for label in comparison.input_labels])
    balanced = np.array([label.part == BALANCED for label in comparison.input_labels])
    return np.asarray((everything & ~everything.all()) | balanced)


@dataclass(frozen=True)
class _Unsoftened:
    """A probe that is not asked how far rounding moves the claims, which takes longer than all the rest together.

    That only ever takes a failure back to undecided: what passes, passes with it as without.
    """

    probe: FunctionProbe

    def __getattr__(self, name: str) -> Any:
        return getattr(self.probe, name)

    def roundoff(self, path: Any, mode: Any, inputs: bool = False) -> float:
        """Nothing."""
        return 0.0


def _again(comparison: DerivativeComparison, probe: FunctionProbe, error: Array) -> Mapping[str, Judged]:
    claims: dict[Any, Any] = {
        mode: claim if isinstance(claim, DerivativeError) or _combined(comparison, mode) else claim + error
        for mode, claim in comparison.autodiff.items()
    }
    with jax.enable_x64(True):
        return _modes(replace(comparison, autodiff=claims), _Unsoftened(probe))


def _combined(comparison: DerivativeComparison, mode: Any) -> bool:
    return mode == "rev" and len(comparison.weights) > 0


def _modes(comparison: DerivativeComparison, probe: Any) -> Mapping[str, Judged]:
    found = {}
    for mode in comparison.autodiff:
        if _combined(comparison, mode) or isinstance(answer := evaluate_mode(comparison, mode, probe), DerivativeError):
            continue
        said = answer.judgement
        found[str(mode)] = Judged(
            answer.claimed, said.verdict, said.code, said.tolerance, said.resolution, said.size, answer.relevant
        )
    return found
