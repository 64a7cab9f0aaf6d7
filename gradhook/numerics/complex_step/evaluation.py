"""Evaluate jaxprs on stepped values: walk calls, branches and loops, and apply rules to all else.

Custom rules are opened: the code under them is run. What no rule is known for gets an unknown derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.complex_step import activity, choices, elementwise, linear_algebra, special, structural
from gradhook.numerics.complex_step.stepped import Rounding, Stepped, is_stepped, real, spoilt, stepped, unknown
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.traverse import Place

RULES = {**elementwise.RULES, **choices.RULES, **special.RULES, **structural.RULES, **linear_algebra.RULES}
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
        name, code = equation.primitive.name, activity.called(equation)
        if code is not None:
            return self.run(code, values, here)
        if name == "custom_linear_solve":
            return self._linear_solve(equation, values, here)
        if not any(map(is_stepped, values)):
            return self._fixed(equation, values)
        walk = {"cond": self._cond, "scan": self._scan, "while": self._while}.get(name)
        if walk is not None:
            return walk(equation, values, here)
        if name in activity.PLAIN:
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
            return [jnp.where(_counts(values), results[0], self.rounding.off(results[0]))]
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
        active = activity.of_equation(equation, [False, *map(is_stepped, operands)])

        def branch(code: Any) -> Any:
            return lambda *given: _as(self.run(code, given, here), active)

        branches = [branch(code) for code in equation.params["branches"]]
        results = lax.switch(real(index), branches, *operands)
        return [spoilt(result, index) for result in results]

    def _scan(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        params = equation.params
        constants, carries = traverse.scan_counts(equation)
        carry, rest = activity.of_scan(equation, [is_stepped(value) for value in values])
        fixed, start = values[:constants], _as(values[constants : constants + carries], carry)

        def turn(held: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
            out = self.run(params["jaxpr"], [*fixed, *held, *slices], here)
            return _as(out[:carries], carry), _as(out[carries:], rest)

        last, stacked = lax.scan(turn, start, values[constants + carries :], params["length"], params["reverse"])
        return [*last, *stacked]

    def _while(self, equation: Any, values: list[Any], here: Place) -> list[Any]:
        params, moved = equation.params, [is_stepped(value) for value in values]
        carry = activity.of_while(equation, moved)
        if activity.is_tested(equation, moved, carry):
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


def _counts(values: Sequence[Any]) -> Any:
    """Whether all operands are whole numbers."""
    return jnp.stack([jnp.all(value == jnp.floor(value)) for value in values]).all()


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
