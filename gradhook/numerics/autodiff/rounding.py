"""Estimate how far rounding may move each number that a program computes.

The program is evaluated twice at once: as it is, and with the result of every floating operation off by one unit in the
last place, up or down at random (the random rounding of stochastic arithmetic: Vignes, Mathematics and Computers in
Simulation 35, 1993; Parker, Monte Carlo arithmetic, 1997). So a difference of large terms shows the rounding of the
terms, and a product that of itself; no number is measured against another one.

What a program decides it decides by its undisturbed numbers: comparisons, whole numbers, staircases and casts to fewer
bits are the same in both, so a place where a derivative leaps lends no leap to the rounding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.autodiff.programs import compiled
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.jaxpr import traverse

TRIALS = 8
SAFETY = 4.0
"""How much larger rounding may be than the largest of the few trials, each of which moves a step by one unit."""
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
_STEPS = frozenset({"floor", "ceil", "round", "sign", "rem", "nextafter", "reduce_precision"})
"""Operations with a floating result that leaps."""
_EXACT = frozenset(
    {
        "neg", "abs", "real", "imag", "complex", "conj", "copy", "copy_p", "broadcast_in_dim", "reshape", "squeeze",
        "expand_dims", "transpose", "rev", "slice", "dynamic_slice", "dynamic_update_slice", "gather", "concatenate",
        "pad", "select_n", "split", "max", "min", "clamp", "reduce_max", "reduce_min", "sort", "stop_gradient",
        "convert_element_type", "optimization_barrier",
    }
)  # fmt: skip
"""Operations that round nothing."""
_SUMS = frozenset(
    {
        "reduce_sum", "cumsum", "dot_general", "conv_general_dilated", "scatter-add", "scatter_add",
        "reduce_window_sum", "cholesky", "triangular_solve", "lu", "eigh", "svd", "geqrf", "householder_product", "fft",
    }
)  # fmt: skip
"""Operations that round many terms inside: to the first order that is as if their operands were rounded."""
_CALLS = frozenset({"jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_vmap_call"})

Pair = tuple[Any, Any]
"""A number as it is, and disturbed."""


def of(function: Callable[..., Any], *arguments: Any, inputs: bool = False, underflow: bool = False) -> Array:
    """The rounding of the one array that ``function`` returns; 0 where it cannot be estimated.

    ``inputs``: the floating arguments are rounded numbers themselves. ``underflow``: products and quotients near the
    smallest normal number are off by as much as that, for smaller ones may be flushed to 0.
    """
    try:
        return _of_program(jax.make_jaxpr(function)(*arguments), arguments, inputs, underflow)
    except Exception:  # what cannot be traced or run is compared as it is
        return np.zeros(1)


def _of_program(jaxpr: Any, arguments: tuple[Any, ...], inputs: bool, underflow: bool) -> Array:
    words = np.random.default_rng(20230611).integers(1, 2**32, TRIALS, dtype=np.uint32)

    def program(words: Any, arguments: Any) -> Any:
        flat = jax.tree.leaves(arguments)

        def trial(word: Any) -> Any:
            disturb = _Disturbance(word, underflow)
            pairs = [(x, disturb(x) if inputs else x) for x in map(jnp.asarray, flat)]
            ((plain, other),) = _run(jaxpr, pairs, disturb)
            return jnp.abs(other - plain)

        return lax.map(trial, words)

    moved = np.asarray(compiled(program, (words, arguments))(words, arguments), dtype=np.float64)
    return np.asarray(SAFETY * np.nan_to_num(moved, nan=0.0, posinf=0.0).max(axis=0))


def of_forward(
    call: Callable[..., Any], point: Array, vectors: Array, inputs: bool = False, underflow: bool = False
) -> Array:
    """The rounding of forward mode along directions (D, n): (D, m)."""

    def program(x: Any, rows: Any) -> Any:
        return lax.map(lambda v: jax.jvp(call, (x,), (v,))[1], rows)

    return of(program, jnp.asarray(point), vectors, inputs=inputs, underflow=underflow)


def of_reverse(
    call: Callable[..., Any], point: Array, vectors: Array, cotangents: Array, inputs: bool = False
) -> Array:
    """The rounding of reverse mode, of cotangents (r, m) along directions (D, n): (D, r)."""

    def program(x: Any, vectors: Any, cotangents: Any) -> Any:
        pull = jax.vjp(call, x)[1]
        return lax.map(lambda w: jnp.where(vectors != 0, vectors * pull(w)[0], 0.0).sum(axis=-1), cotangents).T

    return of(program, jnp.asarray(point), vectors, cotangents, inputs=inputs)


def of_pullbacks(call: Callable[..., Any], point: Array, cotangents: Array, underflow: bool = False) -> Array:
    """The rounding of what reverse mode makes of cotangents (r, m): (r, n)."""

    def program(x: Any, cotangents: Any) -> Any:
        pull = jax.vjp(call, x)[1]
        return lax.map(lambda w: pull(w)[0], cotangents)

    return of(program, jnp.asarray(point), cotangents, underflow=underflow)


class _Disturbance:
    """Moves numbers by a unit in the last place; every call and every element has a direction of its own."""

    def __init__(self, word: Any, underflow: bool = False) -> None:
        self.word, self.underflow, self.count = word, underflow, 0

    def __call__(self, value: Any) -> Any:
        if not _full(value):
            return value
        factors = lax.add(lax.mul(self._signs(value), EPS), 1.0)
        return lax.mul(value, lax.convert_element_type(factors, value.dtype))

    def flushed(self, value: Any, operands: Sequence[Any]) -> Any:
        """A product or quotient, off by the smallest normal number where it is that small and not 0."""
        if not self.underflow or value.dtype != np.float64:
            return value
        real = [jnp.isfinite(operand) & (operand != 0) for operand in operands]
        lost = functools.reduce(jnp.logical_and, real) & (jnp.abs(value) < TINY / EPS)
        return value + jnp.where(lost, TINY, 0.0) * self._signs(value)

    def _signs(self, value: Any) -> Any:
        self.count += 1
        # The parity of some bits of a scrambled index: a sign that looks random and costs next to nothing.
        index = _scrambled(max(value.size, 1), self.count)[: value.size]
        bits = lax.bitwise_and(lax.population_count(lax.bitwise_and(index, self.word)), np.uint32(1))
        return lax.reshape(lax.sub(1.0, lax.mul(lax.convert_element_type(bits, jnp.float64), 2.0)), value.shape)


FEW = 64
"""Up to so many numbers in an array, a constant in its place is compiled sooner than what computes it."""


def _scrambled(size: int, count: int) -> Any:
    """An index of ``size`` numbers with its bits mixed, another one for each count."""
    shift = np.uint32(count * 7919 % 2**32)
    if size <= FEW:
        return jnp.asarray(_mixed(np.arange(size, dtype=np.uint32) + shift))
    return _mixed(lax.iota(jnp.uint32, size) + shift)


def _mixed(index: Any) -> Any:
    scrambled = (index ^ (index >> np.uint32(16))) * np.uint32(0x45D9F3B)
    return scrambled ^ (scrambled >> np.uint32(15))


def _run(jaxpr: Any, values: Sequence[Pair], disturb: _Disturbance) -> list[Pair]:
    """The results of a closed jaxpr, plain and disturbed."""
    body = traverse.open_jaxpr(jaxpr)
    known: dict[Any, Pair] = dict(zip(body.invars, values, strict=True))
    known |= {var: (c, c) for var, c in zip(body.constvars, traverse.constants(jaxpr), strict=True)}

    def read(atom: Any) -> Pair:
        return (atom.val, atom.val) if traverse.is_literal(atom) else known[atom]

    for equation in body.eqns:
        results = _equation(equation, [read(atom) for atom in equation.invars], disturb)
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in body.outvars]


def _equation(equation: Any, values: list[Pair], disturb: _Disturbance) -> list[Pair]:
    name = equation.primitive.name
    special = {"scan": _scan, "while": _while, "cond": _cond}.get(name)
    if special is not None:
        return special(equation, values, disturb)
    code = traverse.primal_code(equation)
    code = next(traverse.inner(equation), None) if code is None and name in _CALLS else code
    if code is not None and len(traverse.open_jaxpr(code).invars) == len(values):
        return _run(code, values, disturb)
    plain = traverse.bind(equation, [value for value, _ in values])
    if name in _STEPS or not any(map(_full, plain)):
        return [(value, value) for value in plain]
    others = [disturb(other) if name in _SUMS else other for _, other in values]
    untouched = all(value is other for (value, _), other in zip(values, others, strict=True))
    moved = plain if untouched else traverse.bind(equation, others)
    if name in _EXACT:
        return list(zip(plain, moved, strict=True))
    if name in ("mul", "div"):
        moved = [disturb.flushed(moved[0], others)]
    return [
        (value, disturb(other)) if _full(value) else (value, value) for value, other in zip(plain, moved, strict=True)
    ]


def _full(value: Any) -> bool:
    """Whether a number has all 53 bits; narrower ones are not disturbed, or their rounding would excuse anything."""
    return value.dtype in (jnp.float64, jnp.complex128)


def _both(pairs: Sequence[Pair]) -> tuple[list[Any], list[Any]]:
    return [jnp.asarray(value) for value, _ in pairs], [jnp.asarray(other) for _, other in pairs]


def _paired(both: tuple[Sequence[Any], Sequence[Any]]) -> list[Pair]:
    return list(zip(*both, strict=True))


def _scan(equation: Any, values: list[Pair], disturb: _Disturbance) -> list[Pair]:
    constants, carried = traverse.scan_counts(equation)
    body, start = equation.params["jaxpr"], constants + carried
    held = values[:constants]

    def step(carry: Any, slices: Any) -> Any:
        results = _run(body, [*held, *_paired(carry), *_paired(slices)], disturb)
        return _both(results[:carried]), _both(results[carried:])

    options = {"length": equation.params["length"], "reverse": equation.params["reverse"]}
    last, stacked = lax.scan(step, _both(values[constants:start]), _both(values[start:]), **options)
    return [*_paired(last), *_paired(stacked)]


def _while(equation: Any, values: list[Pair], disturb: _Disturbance) -> list[Pair]:
    """Run both loops for as many steps as the undisturbed one takes."""
    of_test, of_body = equation.params["cond_nconsts"], equation.params["body_nconsts"]
    test, body = equation.params["cond_jaxpr"], equation.params["body_jaxpr"]
    asked, held = values[:of_test], values[of_test : of_test + of_body]

    def goes_on(state: Any) -> Any:
        plain = [(value, value) for value in (*(v for v, _ in asked), *state[0])]
        return _run(test, plain, _Still())[0][0]

    def step(state: Any) -> Any:
        return _both(_run(body, [*held, *_paired(state)], disturb))

    return _paired(lax.while_loop(goes_on, step, _both(values[of_test + of_body :])))


class _Still(_Disturbance):
    def __init__(self) -> None:
        super().__init__(np.uint32(0))

    def __call__(self, value: Any) -> Any:
        return value


def _cond(equation: Any, values: list[Pair], disturb: _Disturbance) -> list[Pair]:
    (index, _), *operands = values
    branches = [
        lambda both, branch=branch: _both(_run(branch, _paired(both), disturb))
        for branch in equation.params["branches"]
    ]
    return _paired(lax.switch(jnp.asarray(index, jnp.int32), branches, _both(operands)))
