"""Differentiate by the complex step, which subtracts nothing.

``Im f(x + i h v) / h`` for h to 0 (Squire and Trapp, SIAM Review 40, 1998; Martins, Sturdza and Alonso, ACM TOMS 29,
2003), where each equation of the function is continued off the real axis on its own. Neither JVP nor VJP rules take
part. The rounding error of the answer is estimated from runs whose every operation rounds at random (Parker,
Monte Carlo Arithmetic, 1997; Vignes, CESTAC, 1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr

from gradhook.numerics.autodiff.compiler_options import compiled
from gradhook.numerics.complex_step.evaluation import Evaluation
from gradhook.numerics.complex_step.stepped import Rounding, Stepped, imag
from gradhook.numerics.finite_difference.richardson import EPS, Array, Flags

SAMPLES = 6
MARGIN = 3.0
"""The largest of six deviations is below a third of what one in a thousand exceeds."""
AT_THE_POINT = "kink, tie, jump or pole at the point"
_SEEDS = np.array([0, *np.random.default_rng(1997).integers(1, 2**62, SAMPLES) * 2 + 1], np.int64)


@dataclass(frozen=True)
class ComplexStepResult:
    """Directional derivatives by the complex step: ``value`` +- ``error``, (D, m).

    ``applicable`` (m,) is False where a primitive that is not known to be analytic lies between the inputs and that
    output, or the point is one where no derivative exists in one of the directions. ``reason`` is then the first such
    equation, as in ``cholesky at losses.py:31``; '' where all outputs are applicable.
    """

    value: Array
    error: Array
    applicable: Flags
    reason: str


def complex_step(closed_jaxpr: ClosedJaxpr, point: Array, vectors: Array) -> ComplexStepResult:
    """Derivatives at a point along vectors (D, n) of a function from R^n to R^m, from its equations."""
    reasons: list[str] = []

    def program(point: Any, vectors: Any, seeds: Any) -> Any:
        return lax.map(
            lambda vector: lax.map(lambda seed: _once(closed_jaxpr, point, vector, seed, reasons), seeds), vectors
        )

    arguments = jnp.asarray(point), jnp.asarray(vectors), jnp.asarray(_SEEDS)
    found = np.asarray(compiled(program, arguments)(*arguments))
    value, samples = found[:, 0], found[:, 1:]
    applicable = np.isfinite(value).all(axis=0)
    with np.errstate(invalid="ignore"):
        spread = np.abs(samples - value[:, None]).max(axis=1, initial=0.0)
    error = np.where(np.isnan(spread), np.inf, MARGIN * spread + 4 * EPS * np.abs(value))
    return ComplexStepResult(value, error, applicable, "" if applicable.all() else (*reasons, AT_THE_POINT)[0])


def _once(code: ClosedJaxpr, point: Any, vector: Any, seed: Any, reasons: list[str]) -> Any:
    evaluation = Evaluation(Rounding(seed), reasons)
    (result,) = evaluation.run(code, [Stepped(point, vector)])
    return imag(result)
