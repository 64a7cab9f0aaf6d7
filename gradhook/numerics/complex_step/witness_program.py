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
from jax import lax, vmap
from jax.extend.core import ClosedJaxpr

from gradhook.numerics.autodiff.compiler_options import compiled
from gradhook.numerics.complex_step.evaluation import Evaluation
from gradhook.numerics.complex_step.stepped import Rounding, Stepped, imag
from gradhook.numerics.finite_difference.richardson import EPS, Array, Flags
from gradhook.numerics.jaxpr import traverse

SAMPLES = 6
MARGIN = 3.0
"""The largest of six deviations is below a third of what one in a thousand exceeds."""
LONG, BROAD = 1200, 2**18
"""Equations from which on compiling them costs more than running each; numbers in one step of that at most."""
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

    def one(point: Any, vector: Any, seed: Any) -> Any:
        return _once(closed_jaxpr, point, vector, seed, reasons)

    def program(point: Any, vectors: Any, seeds: Any) -> Any:
        return lax.map(lambda vector: lax.map(lambda seed: one(point, vector, seed), seeds), vectors)

    arguments = np.asarray(point), np.asarray(vectors), _SEEDS
    if _is_long(closed_jaxpr, len(vectors)):
        found = np.asarray(vmap(vmap(one, (None, None, 0)), (None, 0, None))(*map(jnp.asarray, arguments)))
    else:
        found = np.asarray(compiled(program, arguments)(*arguments))
    value, samples = found[:, 0], found[:, 1:]
    applicable = np.isfinite(value).all(axis=0)
    with np.errstate(invalid="ignore"):
        spread = np.abs(samples - value[:, None]).max(axis=1, initial=0.0)
    error = np.where(np.isnan(spread), np.inf, MARGIN * spread + 4 * EPS * np.abs(value))
    return ComplexStepResult(value, error, applicable, "" if applicable.all() else (*reasons, AT_THE_POINT)[0])


def _is_long(code: ClosedJaxpr, rows: int) -> bool:
    """Whether running the equations one by one, all rows and samples at once, costs less than compiling them."""
    equations = traverse.open_jaxpr(code).eqns
    sizes = [var.aval.size for equation in equations for var in equation.outvars if hasattr(var.aval, "size")]
    return len(equations) > LONG and rows * len(_SEEDS) * max(sizes) <= BROAD


def _once(code: ClosedJaxpr, point: Any, vector: Any, seed: Any, reasons: list[str]) -> Any:
    evaluation = Evaluation(Rounding(seed), reasons)
    (result,) = evaluation.run(code, [Stepped(point, vector)])
    return imag(result)
