"""Count how often the error bar of a measured derivative holds, of functions with known derivatives at all scales.

    python benchmarks/error_bar.py [TRIALS] [SEED]

A trial is ``A g((x - c) / B)`` at a random point, with ``A`` and ``B`` from 1e-12 to 1e12. The truth is the closed form
in extended precision. ``TRIALS`` come in batches of one vector function, so that everything runs in one program.
Printed are the share of trials whose error bar holds, the share of accepted ones and the median resolution, for each
function and for all; the exit status is 1 if the share of held bars is below the promise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special

from gradhook.comparison.judge import Measurement, Tolerance, judge, smoothness_code
from gradhook.model.results import Smoothness
from gradhook.numerics.autodiff.programs import Clock, Programs
from gradhook.numerics.finite_difference.adaptive import Evaluate, measure
from gradhook.numerics.finite_difference.scales import StepLimits

BATCH = 64
PROMISE = 0.999


@dataclass(frozen=True)
class Family:
    """A function, its derivative in extended precision, and the interval that its arguments are drawn from.

    ``low`` and ``high`` bound its domain; they are declared as an input's domain would be.
    """

    name: str
    function: Callable[[Any], Any]
    derivative: Callable[[Any], Any]
    drawn: tuple[float, float]
    low: float = -np.inf
    high: float = np.inf


def _expit(u: Any) -> Any:
    return 1 / (1 + np.exp(-u))


# math.pi is known to 53 bits only.
_PI = np.longdouble("3.14159265358979323846264338327950288")
FAMILIES = (
    Family("linear", lambda u: 3 * u + 1, lambda u: 3 + 0 * u, (-3, 3)),
    Family("sin", jnp.sin, np.cos, (-3, 3)),
    Family("sin 50 u", lambda u: jnp.sin(50 * u), lambda u: 50 * np.cos(50 * u), (-3, 3)),
    Family("exp", jnp.exp, np.exp, (-20, 20)),
    Family("log", jnp.log, lambda u: 1 / u, (0.01, 9), low=0),
    Family("log, undeclared domain", jnp.log, lambda u: 1 / u, (0.01, 9)),
    Family("sqrt", jnp.sqrt, lambda u: 0.5 / np.sqrt(u), (0.001, 9), low=0),
    Family("cube", lambda u: u**3, lambda u: 3 * u**2, (-5, 5)),
    Family("tenth power", lambda u: u**10, lambda u: 10 * u**9, (-3, 3)),
    Family("reciprocal", lambda u: 1 / u, lambda u: -1 / u**2, (0.05, 4), low=0),
    Family("tanh", jnp.tanh, lambda u: 1 - np.tanh(u) ** 2, (-4, 4)),
    Family("logistic", jax.nn.sigmoid, lambda u: _expit(u) * _expit(-u), (-20, 20)),
    Family("softplus", lambda u: jnp.logaddexp(u, 0.0), _expit, (-20, 20)),
    Family("arctan", jnp.arctan, lambda u: 1 / (1 + u**2), (-9, 9)),
    Family("arcsin", jnp.arcsin, lambda u: 1 / np.sqrt((1 - u) * (1 + u)), (-0.999, 0.999), -1, 1),
    Family("Gauss", lambda u: jnp.exp(-u * u), lambda u: -2 * u * np.exp(-u * u), (-4, 4)),
    Family("erf", special.erf, lambda u: 2 / np.sqrt(_PI) * np.exp(-u * u), (-3, 3)),
    Family("Runge", lambda u: 1 / (1 + 25 * u * u), lambda u: -50 * u / (1 + 25 * u * u) ** 2, (-2, 2)),
    Family("u log u", lambda u: u * jnp.log(u), lambda u: np.log(u) + 1, (0.01, 9), low=0),
    Family("expm1", jnp.expm1, np.exp, (-0.01, 0.01)),
    Family("cosh 5 u", lambda u: jnp.cosh(5 * u), lambda u: 5 * np.sinh(5 * u), (-3, 3)),
    Family("sin + 1e6", lambda u: jnp.sin(u) + 1e6, np.cos, (-3, 3)),
    Family("square root of a square", lambda u: jnp.sqrt(u * u + 1e-4), lambda u: u / np.sqrt(u * u + 1e-4), (-2, 2)),
    Family("ramp beside its kink", lambda u: jnp.maximum(u, 0.0), lambda u: np.where(u > 0, 1.0, 0.0), (-0.01, 0.01)),
    Family("u |u|", lambda u: u * jnp.abs(u), lambda u: 2 * np.abs(u), (-1, 1)),
)


@dataclass(frozen=True)
class Trials:
    """What became of a batch of trials, each (n,); a kink is accepted by no one, for it has two slopes and no bar."""

    family: Any
    truth: Any
    measured: Any
    error: Any
    accepted: Any
    resolution: Any

    @property
    def plateaus(self) -> int:
        """The family whose values do not move on one side, which differences do not tell from rounding."""
        return next(k for k, family in enumerate(FAMILIES) if family.name == "ramp beside its kink")

    @property
    def held(self) -> Any:
        """Whether the error bar holds, where there is one."""
        return ~self.accepted | (np.abs(self.measured - self.truth) <= self.error)


def run(batches: int, seed: int = 0) -> Trials:
    """Measure ``batches`` times ``BATCH`` derivatives, in float64."""
    with jax.enable_x64(True):
        programs = Programs(_functions, (), Clock())
        random = np.random.default_rng(seed)
        found = [_batch(programs, random) for _ in range(batches)]
    columns = zip(*((t.family, t.truth, t.measured, t.error, t.accepted, t.resolution) for t in found), strict=True)
    return Trials(*(np.concatenate(column) for column in columns))


def _functions(packed: Any) -> Any:
    """``A g_k((x - c) / B)`` for each element of ``x``; all five come in one vector, so that nothing is a constant."""
    x, centre, inner, outer, family = jnp.split(packed, 5)
    u = (x - centre) / inner
    values = [jnp.where(family == k, f.function(u), 0.0) for k, f in enumerate(FAMILIES)]
    return outer * sum(values)


def _batch(programs: Programs, random: np.random.Generator) -> Trials:
    family = random.integers(len(FAMILIES), size=BATCH)
    low, high = np.array([FAMILIES[k].drawn for k in family]).T
    inner, outer = (10.0 ** random.uniform(-12, 12, BATCH) for _ in range(2))
    # A third of the points lies far from zero, seen at the function's own scale.
    centre = np.where(random.random(BATCH) < 1 / 3, inner * 10.0 ** random.uniform(0, 4, BATCH), 0.0)
    x = (centre + inner * random.uniform(low, high)).astype(np.float32).astype(np.float64)
    u = (np.longdouble(x) - centre) / inner
    truth = np.array([FAMILIES[k].derivative(v) for k, v in zip(family, u, strict=True)]) * np.longdouble(outer) / inner
    packed = np.concatenate([x, centre, inner, outer, family])
    measured = _measure(programs, packed, _lines(x, centre, inner, family), truth.astype(np.float64))
    diagonal = np.arange(BATCH), np.arange(BATCH)
    allowed = judge(np.diag(truth.astype(np.float64)), measured, Tolerance()).tolerance[diagonal]
    # Against the derivative itself; where it vanishes there is no relative error to speak of.
    size = np.where(truth == 0, np.nan, np.abs(truth)).astype(np.float64)
    accepted = measured.accepted[diagonal] & (measured.smoothness[diagonal] != smoothness_code(Smoothness.KINK))
    return Trials(
        family, truth, measured.value[diagonal], measured.error[diagonal], accepted,
        (allowed + measured.error[diagonal]) / size,
    )  # fmt: skip


def _measure(programs: Programs, packed: Any, lines: StepLimits, truth: Any) -> Measurement:
    vectors = np.eye(BATCH, len(packed))
    claims = [(slice(0, BATCH), np.diag(truth))]
    evaluate: Evaluate = lambda t: programs.values(packed, (), vectors, t)  # noqa: E731
    return measure(evaluate, lines, claims, Tolerance())


def _lines(x: Any, centre: Any, inner: Any, family: Any) -> StepLimits:
    low = centre + inner * np.array([FAMILIES[k].low for k in family])
    high = centre + inner * np.array([FAMILIES[k].high for k in family])
    return StepLimits(2.0 ** np.ceil(np.log2(np.maximum(1.0, np.abs(x)))), np.abs(x), x - low, high - x)


def report(trials: Trials) -> str:
    """A line for each function, and one for all of them."""
    lines = [f"{'function':<26}{'trials':>7}{'held':>10}{'accepted':>10}{'median resolution':>20}"]
    rows = [(f.name, trials.family == k) for k, f in enumerate(FAMILIES)]
    for name, mine in [*rows, ("all", np.ones(len(trials.family), dtype=bool))]:
        if mine.any():
            shares = f"{trials.held[mine].mean():>10.3%}{trials.accepted[mine].mean():>10.2%}"
            lines.append(f"{name:<26}{mine.sum():>7}{shares}{np.nanmedian(trials.resolution[mine]):>20.1e}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run the trials that the command line asks for, print the table."""
    count, seed = int(arguments[0]) if arguments else 10_000, int(arguments[1]) if len(arguments) > 1 else 0
    trials = run(-(-count // BATCH), seed)
    print(report(trials))
    return int(trials.held.mean() < PROMISE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
