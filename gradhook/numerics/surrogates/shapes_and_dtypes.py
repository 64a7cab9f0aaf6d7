"""Trace the derivative for every dtype and shape that the function itself takes.

Nothing is computed: ``jax.eval_shape`` traces the rule, and JAX's own check of tangents against values decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.surrogate_probe import StructureResult
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.programs import compiled
from gradhook.numerics.flatten import is_array, is_floating
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.surrogates.declaration import Declaration

CLAIMED = ("float64", "float32")
"""The dtypes of every claim: that of the comparison, and that which programs run in."""
DTYPES = (*CLAIMED, "bfloat16")
_UNSUPPORTED = "does not accept dtype"
"""JAX's error for linear algebra in half precision, which no rule causes."""
SHAPES = {"rank 0": (), "size 0": (0,)}


@dataclass(frozen=True)
class ArgumentVariant:
    """The arguments in another dtype or shape: differentiated leaves as shapes, the dtype of the others."""

    name: str
    leaves: list[Any]
    dtype: str = DTYPES[0]
    claimed: bool = True

    @property
    def wide(self) -> bool:
        """Whether a program of this dtype runs with 64 bits switched on."""
        return self.dtype == DTYPES[0]


def structure(
    held: FlatFunction, function: Callable[..., Any], declared: Declaration, modes: tuple[Mode, ...]
) -> tuple[StructureResult, ...]:
    """Trace every mode in float64, float32, bfloat16 and the claimed dtypes and shapes.

    Rank 0 and size 0 are tried for functions that map each element by itself, or where they are claimed.

    A float32 program runs with 64 bits switched off, as its users run it: there a constant of the rule is no wider.
    """
    found: list[StructureResult] = []
    for variant in _variants(held, function, declared):
        with jax.enable_x64(variant.wide):
            fits = _fits(_lifted(held, function, variant.dtype), variant, modes)
            if declared.forward is not None:
                fits += _as_forward(held, function, declared.forward, variant)
        found += [replace(fit, claimed=variant.claimed) for fit in fits]
    return tuple(found)


def _variants(held: FlatFunction, function: Callable[..., Any], declared: Declaration) -> Iterator[ArgumentVariant]:
    shapes = [leaf.shape for leaf in held.inputs.leaves]
    for dtype in dict.fromkeys((*DTYPES, *declared.dtypes)):
        leaves = [_struct(shape, dtype, leaf.complex) for shape, leaf in _paired(held, shapes)]
        yield ArgumentVariant(dtype, leaves, dtype, dtype in (*CLAIMED, *declared.dtypes))
    claimed = declared.shapes is not None
    if claimed or _elementwise(held, function, shapes):
        for name, shape in SHAPES.items():
            if {shape} != set(shapes):
                alike = [shape] * len(shapes)
                leaves = [_struct(s, DTYPES[0], leaf.complex) for s, leaf in _paired(held, alike)]
                yield ArgumentVariant(name, leaves, claimed=claimed)


def _elementwise(held: FlatFunction, function: Callable[..., Any], shapes: list[tuple[int, ...]]) -> bool:
    """Whether an element alone has the same value as among the others.

    Only then is a function of another shape still the claimed one: ``x / sum(x)`` takes a scalar too, but there it is
    the constant 1, and a rule for vectors need not know it.
    """
    if len(set(shapes)) != 1 or [leaf.shape for leaf in held.outputs.leaves] != shapes[:1]:
        return False
    places = sorted({0, held.outputs.size - 1} if shapes[0] else {0})

    def values(x: Any) -> tuple[Any, list[Any]]:
        parts = [jnp.ravel(part) for part in held.inputs.split(x)]
        alone = [[part[k] if shapes[0] else part for part in parts] for k in places]
        return held.call(x), [_lifted(held, function, DTYPES[0])(leaves)[0] for leaves in alone]

    try:
        together, each = _run(values, jnp.asarray(held.point), held.traceable)
    except Exception:
        return False  # a rule need not take what the function does not
    together = np.ravel(held.outputs.split(together)[0])
    wanted = () if shapes[0] else (1,)
    return all(
        value.shape == wanted and np.allclose(value, together[k], rtol=1e-9, atol=0, equal_nan=True)
        for k, value in zip(places, each, strict=True)
    )


def _run(program: Callable[[Any], Any], x: Any, traceable: bool) -> Any:
    """A program, compiled if that can be done: its operations one by one would each be compiled."""
    try:
        return jax.device_get(compiled(program, (x,))(x) if traceable else program(x))
    except Exception:  # another shape may lead into code that cannot be traced
        return jax.device_get(program(x))


def _paired(held: FlatFunction, shapes: list[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], Any]]:
    yield from zip(shapes, held.inputs.leaves, strict=True)


def _struct(shape: tuple[int, ...], dtype: str, is_complex: bool) -> Any:
    kind = {"float64": "complex128"}.get(dtype, "complex64") if is_complex else dtype
    return jax.ShapeDtypeStruct(shape, jnp.dtype(kind))  # type: ignore[no-untyped-call]


def _lifted(held: FlatFunction, function: Callable[..., Any], dtype: str) -> Callable[[list[Any]], list[Any]]:
    """The function of the differentiated leaves, with the other arrays cast to the dtype."""
    arguments = held.arguments

    def call(moved: list[Any]) -> list[Any]:
        leaves = [_alike(leaf, dtype) for leaf in arguments.leaves]
        for place, value in zip(arguments.moved, moved, strict=True):
            leaves[place] = value
        args, kwargs = jax.tree.unflatten(arguments.treedef, leaves)
        return [jnp.asarray(leaf) for leaf in jax.tree.leaves(function(*args, **kwargs)) if is_array(leaf)]

    return call


def _alike(leaf: Any, dtype: str) -> Any:
    if not is_floating(leaf):
        return leaf
    if np.iscomplexobj(leaf):
        return leaf if dtype == DTYPES[0] else np.asarray(leaf, np.complex64)
    return float(leaf) if np.ndim(leaf) == 0 else np.asarray(leaf).astype(jnp.dtype(dtype))


def _fits(
    call: Callable[[list[Any]], list[Any]], variant: ArgumentVariant, modes: tuple[Mode, ...]
) -> list[StructureResult]:
    try:
        jax.eval_shape(call, variant.leaves)
    except Exception:
        return []  # what the function itself does not take, its derivative need not take
    found = []
    for mode in modes:
        try:
            problem, path, line = (_forward if mode == "fwd" else _reverse)(call, variant.leaves), "", 0
        except Exception as error:
            fault = classify(error)
            if fault.missing or _UNSUPPORTED in fault.message:
                continue
            problem, path, line = f"raises {fault.message}", fault.path, fault.line
        found.append(StructureResult(variant.name, mode, problem, path, line))
    return found


def _forward(call: Callable[[list[Any]], list[Any]], leaves: list[Any]) -> str:
    def push(moved: list[Any]) -> Any:
        primals, tangents = jax.jvp(call, (moved,), ([jnp.ones_like(leaf) for leaf in moved],))
        return _floats(primals), _floats([t for p, t in zip(primals, tangents, strict=True) if is_floating(p)])

    values, tangents = jax.eval_shape(push, leaves)
    return _unlike(tangents, values, "the tangent", "the value")


def _reverse(call: Callable[[list[Any]], list[Any]], leaves: list[Any]) -> str:
    def pull(moved: list[Any]) -> Any:
        values, back = jax.vjp(lambda moved: _floats(call(moved)), moved)
        return back([jnp.ones_like(value) for value in values])[0]

    return _unlike(jax.eval_shape(pull, leaves), leaves, "the gradient", "the input")


def _floats(leaves: list[Any]) -> list[Any]:
    return [leaf for leaf in leaves if is_floating(leaf)]


def _unlike(got: list[Any], wanted: list[Any], one: str, other: str) -> str:
    for left, right in zip(got, wanted, strict=True):
        if (left.shape, left.dtype) != (right.shape, right.dtype):
            return f"{one} is {left.dtype}{list(left.shape)}, {other} {right.dtype}{list(right.shape)}"
    return ""


def _as_forward(
    held: FlatFunction, function: Callable[..., Any], forward: Callable[..., Any], variant: ArgumentVariant
) -> list[StructureResult]:
    """Shapes and dtypes of the value beside those of ``forward=``, where that can be traced."""
    try:
        got = jax.eval_shape(_lifted(held, function, variant.dtype), variant.leaves)
        wanted = jax.eval_shape(_lifted(held, forward, variant.dtype), variant.leaves)
    except Exception:
        return []
    if len(got) != len(wanted):
        return [StructureResult(variant.name, None, f"it returns {len(got)} arrays, forward= {len(wanted)}")]
    return [StructureResult(variant.name, None, _unlike(got, wanted, "the value", "that of forward="))]
