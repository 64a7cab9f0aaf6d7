"""Primitives that move, add up, multiply, order and choose, on both parts of a stepped value.

At a point where a step along the direction would decide otherwise no derivative can be read off, so it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from gradhook.numerics.complex_step.elementwise import Rule
from gradhook.numerics.complex_step.stepped import Rounding, Stepped, are_whole, imag, is_stepped, nowhere, real, spoilt
from gradhook.numerics.jaxpr import traverse


def step(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """floor, ceil, round and sign: 0 but where they jump."""
    (x,) = values
    (y,) = traverse.bind(equation, [x.real])
    name = equation.primitive.name
    doubled = 2 * x.real if name == "round" else x.real
    jumps = x.real == 0 if name == "sign" else (doubled == jnp.floor(doubled))
    jumps = jumps & (x.real != jnp.floor(x.real)) if name == "round" else jumps
    return [Stepped(y, nowhere(jumps & (x.imag != 0), jnp.zeros(y.shape)))]


def compare(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Compare the real parts; undecided where they are equal and part along the direction."""
    a, b = values
    (y,) = traverse.bind(equation, [real(a), real(b)])
    return [Stepped(y, nowhere((real(a) == real(b)) & (imag(a) != imag(b)), jnp.zeros(y.shape)))]


def logical(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """and, or, xor, not: undecided where an operand is."""
    result = traverse.bind(equation, [real(value) for value in values])[0]
    return [Stepped(result, sum((imag(value) for value in values[1:]), imag(values[0])))]


def larger(a: Any, b: Any, sign: float = 1.0) -> Any:
    """The larger of two values (the smaller, for sign -1), without a derivative where they tie and part."""
    first = sign * real(a) > sign * real(b)
    tie = (real(a) == real(b)) & (imag(a) != imag(b))
    value = jnp.maximum(real(a), real(b)) if sign > 0 else jnp.minimum(real(a), real(b))
    return Stepped(value, nowhere(tie, jnp.where(first, imag(a), imag(b))))


def extreme(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """max and min."""
    a, b = values
    return [larger(a, b, 1.0 if equation.primitive.name == "max" else -1.0)]


def clamp(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Between two bounds."""
    low, x, high = values
    return [larger(larger(x, low), high, -1.0)]


def select(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """One of several values, unknown where the choice is."""
    which, *cases = values
    (y,) = traverse.bind(equation, [real(which), *map(real, cases)])
    change = lax.select_n(real(which), *[imag(case) for case in cases])
    return [Stepped(y, change if not is_stepped(which) else change + which.imag)]


def convert(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Another type; integers and booleans jump, narrow floats lose what a step shows."""
    (x,) = values
    (y,) = traverse.bind(equation, [x.real])
    if jnp.issubdtype(y.dtype, jnp.inexact) or not jnp.issubdtype(x.real.dtype, jnp.inexact):
        return [Stepped(y, x.imag.astype(np.complex128) if jnp.iscomplexobj(y) else x.imag.real)]
    jumps = x.real == 0 if y.dtype == np.bool_ else (x.real == jnp.trunc(x.real)) & (x.real != 0)
    return [Stepped(y, nowhere(jumps & (x.imag != 0), jnp.zeros(y.shape)))]


CHOICES: dict[str, Rule] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "eq_to", "lt_to", "le_to"), compare),
    **dict.fromkeys(("and", "or", "xor", "not"), logical),
    **dict.fromkeys(("floor", "ceil", "round", "sign"), step),
    **dict.fromkeys(("max", "min"), extreme),
    "clamp": clamp,
    "select_n": select,
    "convert_element_type": convert,
}


_MOVING = (
    "reshape", "transpose", "broadcast_in_dim", "squeeze", "expand_dims", "rev", "slice", "copy", "copy_p", "neg",
    "concatenate", "pad", "split", "real", "imag", "conj", "stop_gradient", "optimization_barrier", "tile",
    "stack", "unstack", "device_put", "sharding_constraint",
)  # fmt: skip
"""Exact, and linear in every operand. ``stop_gradient`` changes derivatives, not values: a step passes it."""
_PLACES = {"dynamic_slice": 1, "dynamic_update_slice": 2, "gather": 1, "scatter": 1, "scatter-add": 1}
"""The position of the first operand that is an index and no number."""
EXACT = frozenset({*_MOVING, "dynamic_slice", "dynamic_update_slice", "gather", "scatter"})


def moving(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Primitives that are linear in all operands together: applied to either part."""
    results = traverse.bind(equation, [real(value) for value in values])
    changes = traverse.bind(equation, [imag(value) for value in values])
    return [Stepped(result, change) for result, change in zip(results, changes, strict=True)]


def placed(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Slices, gathers and scatters: linear in the numbers, at places that the real parts decide."""
    name = equation.primitive.name
    first = _PLACES[name]
    places = [first] if name not in ("dynamic_slice", "dynamic_update_slice") else list(range(first, len(values)))
    numbers = [n for n in range(len(values)) if n not in places]
    if name == "scatter-add":
        values = _rounded(rounding, values, 2, 4.0)
    y = traverse.bind(equation, [real(value) for value in values])[0]
    parts = [imag(v) if n in numbers else real(v) for n, v in enumerate(values)]
    change = traverse.bind(equation, parts)[0]
    y, change = (rounding.off(y), rounding.off(change)) if name == "scatter-add" else (y, change)
    return [spoilt(Stepped(y, change), *[values[n] for n in places])]


def total(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Sums of N terms, each off by N ulps, which covers every order of adding (Higham 2002, 4.2).

    Sums of whole numbers are exact: they may be counts, and become indices.
    """
    given = [real(value) for value in values]
    values = _rounded(rounding, values, 0, float(_terms(equation)))
    whole = equation.primitive.name != "fft" and are_whole(given[0])
    results = traverse.bind(equation, [jnp.where(whole, given[0], real(values[0])), *given[1:]])
    changes = traverse.bind(equation, [imag(value) for value in values])
    return [Stepped(result, change) for result, change in zip(results, changes, strict=True)]


def _rounded(rounding: Rounding, values: list[Any], which: int, ulps: float) -> list[Any]:
    value = values[which]
    new = Stepped(rounding.off(value.real, ulps), rounding.off(value.imag, ulps)) if is_stepped(value) else value
    return [new if n == which else other for n, other in enumerate(values)]


def _terms(equation: Any) -> int:
    """The number of terms in each sum."""
    params, shape = equation.params, equation.invars[0].aval.shape
    if "window_dimensions" in params:
        return int(np.prod(params["window_dimensions"]))
    if equation.primitive.name == "fft":
        return 8
    axes = [params["axis"]] if "axis" in params else params.get("axes", ())
    return max(1, int(np.prod([shape[axis] for axis in axes])))


def bilinear(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Products of matrices and convolutions: sums of N terms, as by ``total``."""
    a, b = values
    size = float(max(2, _contracted(equation)))
    first = rounding.off(real(a), size)
    (y,) = traverse.bind(equation, [first, real(b)])
    changes = []
    if is_stepped(a):
        changes.append(traverse.bind(equation, [rounding.off(a.imag, size), real(b)])[0])
    if is_stepped(b):
        changes.append(traverse.bind(equation, [first, b.imag])[0])
    return [Stepped(y, sum(changes[1:], changes[0]))]


def _contracted(equation: Any) -> int:
    shape = equation.invars[1].aval.shape
    if equation.primitive.name == "dot_general":
        return int(np.prod([shape[axis] for axis in equation.params["dimension_numbers"][0][1]]))
    return int(np.prod(shape))


def reduce_extreme(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """The largest or smallest along axes, without a derivative where several are and part."""
    (x,) = values
    (y,) = traverse.bind(equation, [x.real])
    axes = tuple(equation.params["axes"])
    chosen = x.real == jnp.expand_dims(y, axes)
    return [Stepped(y, _common(chosen, x.imag, axes))]


def _common(chosen: Any, changes: Any, axes: Any) -> Any:
    """The derivative that all chosen elements share; nan where they share none."""
    least = jnp.min(jnp.where(chosen, changes, np.inf), axes)
    return nowhere(least != jnp.max(jnp.where(chosen, changes, -np.inf), axes), least)


def reduce_logical(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """all and any: undecided where an operand is."""
    (y,) = traverse.bind(equation, [values[0].real])
    return [Stepped(y, jnp.sum(values[0].imag, tuple(equation.params["axes"])))]


def reduce_product(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """The product along axes, as a reduction of pairs."""
    (x,), axes = values, tuple(equation.params["axes"])
    if not jnp.issubdtype(x.real.dtype, jnp.floating):
        (y,) = traverse.bind(equation, [x.real])
        return [Stepped(y, jnp.full(y.shape, np.nan))]
    ulps = float(np.prod([x.real.shape[axis] for axis in axes]))
    start = np.ones((), x.real.dtype), np.zeros(())
    pair = rounding.off(x.real, ulps), rounding.off(x.imag, ulps)
    y, change = lax.reduce(pair, start, lambda a, b: (a[0] * b[0], a[0] * b[1] + a[1] * b[0]), axes)
    return [Stepped(y, change)]


def cumulative(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """Running products, extremes and log-sums, as scans of pairs."""
    (x,), params = values, equation.params
    combine: dict[str, Callable[..., Any]] = {
        "cumprod": lambda a, b: Stepped(a.real * b.real, a.real * b.imag + a.imag * b.real),
        "cummax": larger,
        "cummin": lambda a, b: larger(a, b, -1.0),
        "cumlogsumexp": _log_sum,
    }
    ulps = float(x.real.shape[params["axis"]]) if equation.primitive.name in ("cumprod", "cumlogsumexp") else 0.0
    start = Stepped(rounding.off(x.real, ulps), rounding.off(x.imag, ulps)) if ulps else x
    chosen = combine[equation.primitive.name]
    result = lax.associative_scan(chosen, start, reverse=params["reverse"], axis=params["axis"])
    return [result]


def _log_sum(a: Stepped, b: Stepped) -> Stepped:
    y = jnp.logaddexp(a.real, b.real)
    return Stepped(y, jnp.exp(a.real - y) * a.imag + jnp.exp(b.real - y) * b.imag)


def window_extreme(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """The largest or smallest in each window: a reduction of pairs."""
    (x,), params = values, equation.params
    sign = 1.0 if equation.primitive.name == "reduce_window_max" else -1.0

    def combine(a: Any, b: Any) -> Any:
        result = larger(Stepped(*a), Stepped(*b), sign)
        return result.real, result.imag

    y, change = lax.reduce_window(
        (x.real, x.imag), (np.array(-sign * np.inf), np.zeros(())), combine, params["window_dimensions"],
        params["window_strides"], params["padding"], params["base_dilation"], params["window_dilation"],
    )  # fmt: skip
    return [Stepped(y, change)]


def sort(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """By the real parts of the keys; no derivative where neighbours tie and part."""
    axis, keys = equation.params["dimension"], equation.params["num_keys"]
    moved = [n for n, value in enumerate(values) if is_stepped(value)]
    given = [*map(real, values), *[values[n].imag for n in moved]]
    out = lax.sort(given, dimension=axis, is_stable=True, num_keys=keys)
    changes = dict(zip(moved, out[len(values) :], strict=True))
    tied = _tied(out[:keys], [changes[n] for n in moved if n < keys], axis)
    return [Stepped(y, nowhere(tied, changes[n])) if n in changes else y for n, y in enumerate(out[: len(values)])]


def _tied(keys: Any, changes: list[Any], axis: int) -> Any:
    """Flags of keys that equal a neighbour's along the axis but change differently."""

    def near(values: Any) -> Any:
        return jnp.diff(values, axis=axis) == 0

    same = jnp.stack([(near(key) if key.dtype != np.bool_ else near(key.astype(int))) for key in keys]).all(0)
    parted = jnp.stack([~near(change) for change in changes]).any(0) if changes else jnp.zeros_like(same)
    beside = [(0, 0)] * same.ndim
    flags = same & parted
    before = jnp.pad(flags, [*beside[:axis], (1, 0), *beside[axis + 1 :]])
    return before | jnp.pad(flags, [*beside[:axis], (0, 1), *beside[axis + 1 :]])


def top_k(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """The k largest along an axis, in order."""
    (x,), (y, places) = values, traverse.bind(equation, [real(values[0])])
    axis = equation.params.get("axis", -1) % x.real.ndim
    one = jnp.moveaxis(x.real, axis, -1)[..., None, :] == jnp.moveaxis(y, axis, -1)[..., :, None]
    change = _common(one, jnp.moveaxis(x.imag, axis, -1)[..., None, :], -1)
    return [Stepped(y, jnp.moveaxis(change, -1, axis)), places]


def complex_of(rounding: Rounding, equation: Any, values: list[Any]) -> list[Any]:
    """A complex number from its two parts."""
    a, b = values
    return [Stepped(lax.complex(real(a), real(b)), lax.complex(imag(a), imag(b)))]


RULES: dict[str, Rule] = {
    **dict.fromkeys(_MOVING, moving),
    **dict.fromkeys(_PLACES, placed),
    **dict.fromkeys(("reduce_sum", "cumsum", "reduce_window_sum", "fft"), total),
    **dict.fromkeys(("dot_general", "conv_general_dilated"), bilinear),
    **dict.fromkeys(("reduce_max", "reduce_min"), reduce_extreme),
    **dict.fromkeys(("reduce_and", "reduce_or"), reduce_logical),
    **dict.fromkeys(("cumprod", "cummax", "cummin", "cumlogsumexp"), cumulative),
    **dict.fromkeys(("reduce_window_max", "reduce_window_min"), window_extreme),
    "reduce_prod": reduce_product,
    "sort": sort,
    "top_k": top_k,
    "complex": complex_of,
}
