"""The author's declarations about a surrogate, as functions of flat vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.model.errors import GradhookError
from gradhook.numerics.autodiff.programs import UNTRACEABLE, compiled
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.flatten import is_array, is_floating
from gradhook.numerics.function import FlatFunction

Map = Callable[[Any], Any]
"""From R^n to R^m."""
DerivativeMap = Callable[[Any, Any], Any]
"""A point and a direction, both (n,), to the derivative (m,) along it."""


@dataclass(frozen=True)
class Declaration:
    """The declared value, and the declared derivative as a function, a rule, or numbers for one tangent."""

    forward: Callable[..., Any] | None = None
    derivative_of: Callable[..., Any] | None = None
    rule: Callable[..., Any] | None = None
    tangent: Any = None
    order2: str | None = None
    ties: str | None = None
    bounds: str | None = None
    dtypes: tuple[str, ...] = ()
    shapes: str | None = None


def forward_map(held: FlatFunction, declared: Declaration) -> Map | None:
    """``forward=`` as a map of vectors (floating outputs only), if it was declared and can be traced."""
    if declared.forward is None:
        return None
    call = _mapped(held, declared.forward, "forward=")
    return call if _traces(call, held.point) else None


def eager_forward(held: FlatFunction, declared: Declaration, x: Array) -> Array:
    """``forward=`` at a point (n,), floating outputs only, called plainly."""
    assert declared.forward is not None
    return np.asarray(_mapped(held, declared.forward, "forward=")(jnp.asarray(x)), dtype=np.float64)


def derivative_map(held: FlatFunction, declared: Declaration, traced: bool = True) -> DerivativeMap | None:
    """The declared derivative as a function; None without one, or if ``traced`` fails."""
    if declared.derivative_of is not None:
        other = _mapped(held, declared.derivative_of, "derivative_of=")
        slope: DerivativeMap = lambda x, v: jax.jvp(other, (x,), (v,))[1]  # noqa: E731
    elif declared.rule is not None:
        rule = declared.rule
        slope = lambda x, v: _joined(held, _ruled(held, rule, x, v), "rule=")  # noqa: E731
    else:
        return None
    return slope if not traced or _traces(slope, held.point, held.point) else None


def declared_derivatives(held: FlatFunction, declared: Declaration, points: Array, vectors: Array) -> Array:
    """The declared derivative (P, D, m) at points (P, n) along directions (D, n); nan without one."""
    slope = derivative_map(held, declared, traced=False)
    if slope is None:
        return np.full((len(points), len(vectors), held.outputs.size), np.nan)
    if len(vectors) == 0 or (held.traceable and _traces(slope, held.point, held.point)):
        program = compiled(jax.vmap(jax.vmap(slope, (None, 0)), (0, None)), (points, vectors))
        return np.asarray(program(points, vectors), dtype=np.float64)
    rows = [[np.asarray(slope(jnp.asarray(x), jnp.asarray(v))) for v in vectors] for x in points]
    return np.asarray(rows, dtype=np.float64)


def numbers(given: Any, size: int) -> Array:
    """The tangent that a case gives, one number for each output.

    Raises:
        GradhookError: it holds another count of numbers.
    """
    flat = np.concatenate([np.asarray(leaf, dtype=np.float64).ravel() for leaf in jax.tree.leaves(given)])
    if flat.size not in (1, size):
        raise GradhookError(f"tangent= holds {flat.size} numbers, the function returns {size}", "give one for each")
    return np.broadcast_to(flat, (size,)).astype(np.float64)


def outputs(held: FlatFunction, function: Callable[..., Any], vector: Any) -> list[Any]:
    """Every output of a function of the arguments that is an array or a number, floating or not."""
    args, kwargs = held.arguments.rebuild(held.inputs.split(vector))
    return [leaf for leaf in jax.tree.leaves(function(*args, **kwargs)) if is_array(leaf)]


def _mapped(held: FlatFunction, function: Callable[..., Any], what: str) -> Map:
    def call(vector: Any) -> Any:
        return _joined(held, [leaf for leaf in outputs(held, function, vector) if is_floating(leaf)], what)

    return call


def _joined(held: FlatFunction, leaves: list[Any], what: str) -> Any:
    """Outputs of a declared function as one vector.

    Raises:
        GradhookError: it returns other shapes than the function.
    """
    got, wanted = [np.shape(leaf) for leaf in leaves], [leaf.shape for leaf in held.outputs.leaves]
    if got != wanted:
        raise GradhookError(f"{what} returns arrays of the shapes {got}, the function {wanted}", "they must be alike")
    return held.outputs.join([jnp.asarray(leaf) for leaf in leaves])


def _ruled(held: FlatFunction, rule: Callable[..., Any], x: Any, vector: Any) -> list[Any]:
    """The tangent by a declared rule, which takes (primals, tangents), tuples like the arguments."""
    arguments = held.arguments
    primals, _ = arguments.rebuild(held.inputs.split(x))
    zeros = [jnp.zeros(np.shape(leaf)) if is_floating(leaf) else leaf for leaf in arguments.leaves]
    for place, part in zip(arguments.moved, held.inputs.split(vector), strict=True):
        zeros[place] = part
    tangents, _ = jax.tree.unflatten(arguments.treedef, zeros)
    return [leaf for leaf in jax.tree.leaves(rule(primals, tangents)) if is_floating(leaf)]


def _traces(function: Callable[..., Any], *arguments: Any) -> bool:
    try:
        jax.eval_shape(function, *arguments)
    except UNTRACEABLE:
        return False
    return True
