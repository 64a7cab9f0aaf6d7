"""Differentiate by the complex step: evaluate jaxprs on stepped values, which subtracts nothing.

Custom rules are opened: the code under them is run. What no rule is known for gets an unknown derivative.

``Im f(x + i h v) / h`` for h to 0 (Squire and Trapp, SIAM Review 40, 1998; Martins, Sturdza and Alonso, ACM TOMS 29,
2003), where each equation of the function is continued off the real axis on its own. Neither JVP nor VJP rules take
part. The rounding error of the answer is estimated from runs whose every operation rounds at random (Parker,
Monte Carlo Arithmetic, 1997; Vignes, CESTAC, 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax, vmap
from jax.extend.core import ClosedJaxpr

from gradhook.numerics.autodiff.programs import compiled
from gradhook.numerics.complex_step import elementwise, structural
from gradhook.numerics.complex_step.stepped import (
    PLAIN,
    Rounding,
    Stepped,
    are_whole,
    called,
    imag,
    is_stepped,
    is_tested,
    of_equation,
    of_scan,
    of_while,
    real,
    spoilt,
    stepped,
    unknown,
)
from gradhook.numerics.finite_difference.richardson import EPS, Array, Flags
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.traverse import Place

RULES = {
    **elementwise.RULES,
    **structural.CHOICES,
    **elementwise.SPECIAL,
    **structural.RULES,
    **elementwise.FACTORISATIONS,
}
_EXACT = frozenset(
    {*structural.EXACT, "iota", "max", "min", "clamp", "select_n", "convert_element_type", "abs", "sign", "floor",
     "ceil", "round", "eq", "sort", "top_k", "reduce_max", "reduce_min", "bitcast_convert_type", "reduce_precision"}
)  # fmt: skip
_COUNTS = frozenset({"reduce_sum", "cumsum", "dot_general", "reduce_prod", "cumprod"})
"""Primitives whose result is exact where the operands are whole numbers, as a count that becomes an index is."""
_OUTSIDE = ("callback", "ffi", "custom_call")
"""Parts of the names of primitives that run code outside JAX; it must not run more often than in the user's call."""


@dataclass(frozen=True)
class Evaluation:
    """One evaluation, with its rounding; it notes the first reasons why a derivative is unknown."""

    rounding: Rounding
    reasons: list[str] = field(default_factory=list)

    def run(self, jaxpr: Any, arguments: Sequence[Any], around: Place = ("", 0)) -> list[Any]:
        """The outputs of a closed jaxpr, stepped where they depend on stepped arguments."""
        body = traverse.open_jaxpr(jaxpr)
        values = dict(zip(body.constvars, traverse.constants(jaxpr), strict=True))
        values |= dict(zip(body.invars, arguments, strict=True))
        for equation in body.eqns:
            if equation.outvars:  # else it is there for its effects
                here = traverse.place_in(jaxpr, equation, around)
                found = self._equation(equation, [_value(atom, values) for atom in equation.invars], here)
                values |= dict(zip(equation.outvars, found, strict=True))
        return [_value(atom, values) for atom in body.outvars]

    def _equation(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        name, code = equation.primitive.name, called(equation)
        if code is not None:
            return self.run(code, values, here)
        if name == "custom_linear_solve":
            return self._linear_solve(equation, values, here)
        if not any(map(is_stepped, values)):
            return self._fixed(equation, values)
        walk = {"cond": self._cond, "scan": self._scan, "while": self._while}.get(name)
        if walk is not None:
            return walk(equation, values, here)
        if name in PLAIN:
            return traverse.bind(equation, [real(value) for value in values])
        if name not in RULES:
            return self._unknown(equation, values, here)
        results = [_whole(result) for result in RULES[name](self.rounding, equation, values)]
        return results if not any(map(_is_narrow, equation.outvars)) else self._unknown(equation, values, here)

    def _fixed(self, equation: Any, values: list[Any]) -> list[Any]:
        """An equation that does not depend on the input; it rounds all the same."""
        name = equation.primitive.name
        if name in ("add", "sub") and equation.outvars[0].aval.dtype == np.float64:
            return elementwise.fixed_sum(self.rounding, equation, values)
        results = traverse.bind(equation, values)
        if name in _EXACT:
            return results
        if name in _COUNTS and equation.outvars[0].aval.dtype == np.float64:
            return [jnp.where(are_whole(*values), results[0], self.rounding.off(results[0]))]
        short = name in ("mul", "div", "integer_pow")
        return [self.rounding.off(y, 1.0, short) if hasattr(y, "dtype") else y for y in results]

    def _unknown(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        name = equation.primitive.name
        self.reasons.append(f"{name} at {Path(here[0]).name}:{here[1]}" if here[0] else name)
        if any(part in name for part in _OUTSIDE):
            return [unknown(jnp.zeros(var.aval.shape, var.aval.dtype)) for var in equation.outvars]
        return [unknown(result) for result in traverse.bind(equation, [real(value) for value in values])]

    def _linear_solve(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        """The solution that the user's solver gives, as it computes it."""
        lengths, codes = equation.params["const_lengths"], equation.params["jaxprs"]
        start = lengths.matvec + lengths.vecmat
        given = [*values[start : start + lengths.solve], *values[sum(lengths) :]]
        return self.run(codes.solve, given, here)

    def _cond(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        index, *operands = values
        active = of_equation(equation, [False, *map(is_stepped, operands)])

        def branch(code: Any) -> Any:
            return lambda *given: _as(self.run(code, given, here), active)

        branches = [branch(code) for code in equation.params["branches"]]
        results = lax.switch(real(index), branches, *operands)
        return [spoilt(result, index) for result in results]

    def _scan(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        params = equation.params
        constants, carries = traverse.scan_counts(equation)
        carry, rest = of_scan(equation, [is_stepped(value) for value in values])
        fixed, start = values[:constants], _as(values[constants : constants + carries], carry)

        def turn(held: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
            out = self.run(params["jaxpr"], [*fixed, *held, *slices], here)
            return _as(out[:carries], carry), _as(out[carries:], rest)

        last, stacked = lax.scan(turn, start, values[constants + carries :], params["length"], params["reverse"])
        return [*last, *stacked]

    def _while(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        params, moved = equation.params, [is_stepped(value) for value in values]
        carry = of_while(equation, moved)
        if is_tested(equation, moved, carry):
            return self._unknown(equation, values, here)
        before, constants = params["cond_nconsts"], params["body_nconsts"]
        tested, fixed = values[:before], values[before : before + constants]

        def goes_on(held: list[Any]) -> Any:
            return real(self.run(params["cond_jaxpr"], [*map(real, tested), *map(real, held)], here)[0])

        def turn(held: list[Any]) -> list[Any]:
            return _as(self.run(params["body_jaxpr"], [*fixed, *held], here), carry)

        found: list[Any] = lax.while_loop(goes_on, turn, _as(values[before + constants :], carry))
        return found


def _value(atom: Any, values: dict[Any, Any]) -> Any:
    return np.asarray(atom.val, atom.aval.dtype) if traverse.is_literal(atom) else values[atom]


def _as(values: Sequence[Any], active: Sequence[bool]) -> list[Any]:
    """The values, stepped where ``active`` is True, as every branch and turn must return them."""
    return [stepped(value) if moved else jnp.asarray(value) for value, moved in zip(values, active, strict=True)]


def _whole(value: Any) -> Any:
    """The value with an imaginary part for each element; of a scalar operand it has one for all."""
    if not is_stepped(value) or value.imag.shape == value.real.shape:
        return value
    return Stepped(value.real, jnp.broadcast_to(value.imag, value.real.shape))


def _is_narrow(var: Any) -> bool:
    """Whether a result has less than double precision, so that its rounding hides the function."""
    dtype = var.aval.dtype
    return bool(jnp.issubdtype(dtype, jnp.inexact)) and dtype not in (np.float64, np.complex128)


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
