"""How does a function of trees, held at some arguments, become a function from R^n to R^m?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.errors import GradhookError
from gradhook.inputs import Spec
from gradhook.numerics.drawing import draw
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.trees import Space, is_array, is_floating, leaf_of, vector_of
from gradhook.numerics.written import signature

Wrt = int | str | Sequence[int | str] | None


@dataclass(frozen=True)
class Arguments:
    """Arguments of a function, drawn: all leaves, which of them are differentiated, and how to put them together."""

    leaves: tuple[Any, ...]
    moved: tuple[int, ...]
    treedef: Any
    space: Space
    point: Array

    def rebuild(self, moved: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments with other values for the differentiated leaves."""
        leaves = list(self.leaves)
        for place, value in zip(self.moved, moved, strict=True):
            leaves[place] = value
        args, kwargs = jax.tree.unflatten(self.treedef, leaves)
        return args, kwargs

    def at(self, point: Array) -> Arguments:
        """The same arguments with other numbers in the differentiated leaves."""
        leaves = list(self.leaves)
        for place, value in zip(self.moved, self.space.split(jnp.asarray(point)), strict=True):
            leaves[place] = value
        return replace(self, leaves=tuple(leaves), point=point)


@dataclass(frozen=True)
class Held:
    """A function of vectors: ``call`` maps R^n to R^m, ``inputs`` and ``outputs`` name the numbers on both sides.

    ``of_leaves`` is the same function of the list of differentiated leaves, ``to_leaves`` the one from that list to the
    list of floating output leaves; in both, stopped values that the author wants held move.
    """

    call: Callable[[Any], Any]
    of_leaves: Callable[[list[Any]], Any]
    to_leaves: Callable[[list[Any]], list[Any]]
    arguments: Arguments
    outputs: Space
    traceable: bool

    @property
    def inputs(self) -> Space:
        """The differentiated leaves."""
        return self.arguments.space

    @property
    def point(self) -> Array:
        """Where the function is held, (n,)."""
        return self.arguments.point

    @cached_property
    def jaxpr(self) -> Any:
        """The equations of ``call``, traced once for all that read them; only where it is traceable."""
        return jax.make_jaxpr(self.call)(self.point)

    def at(self, point: Array) -> Held:
        """The same function held at another point; a traceable one has the same equations there."""
        made = replace(self, arguments=self.arguments.at(point))
        made.__dict__.update({"jaxpr": self.jaxpr} if self.traceable else {})
        return made


def gather(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], wrt: Wrt, random: np.random.Generator
) -> Arguments:
    """Draw the specs among the arguments, promote floating leaves to float64, and select those to differentiate.

    Raises:
        GradhookError: ``wrt`` names no argument, or nothing is left to differentiate.
    """
    names = _parameter_names(function, len(args))
    flat, treedef = jax.tree_util.tree_flatten_with_path((args, dict(kwargs)), is_leaf=lambda x: isinstance(x, Spec))
    chosen = _chosen(wrt, names, kwargs)
    leaves, moved, described = [], [], []
    for place, (path, given) in enumerate(flat):
        spec = given if isinstance(given, Spec) else None
        top = _top(path, names)
        fixed = chosen is not None and top not in chosen
        # A number that is not differentiated stays one: an array, even a constant one, cannot be branched on in a jit.
        keep = fixed and isinstance(given, (int, float, complex))
        value = given if keep else _promote(draw(spec, random) if spec else given)
        leaves.append(value)
        if is_floating(value) and not fixed:
            moved.append(place)
            described.append(leaf_of(top + jax.tree_util.keystr(path[2:]), value, spec, top))
    if not moved:
        raise GradhookError(
            "none of the arguments is a floating number or array, so there is nothing to differentiate",
            "give floats (1.0, normal(3), …), or name them with wrt=",
        )
    space = Space(tuple(described))
    return Arguments(tuple(leaves), tuple(moved), treedef, space, vector_of(space, [leaves[p] for p in moved]))


def hold(function: Callable[..., Any], arguments: Arguments) -> Held:
    """Hold a function at arguments; falls back to eager evaluation where it cannot be traced."""

    def floating_outputs(moved: list[Any]) -> list[tuple[str, Any]]:
        args, kwargs = arguments.rebuild(moved)
        flat, _ = jax.tree_util.tree_flatten_with_path(function(*args, **kwargs))
        return [("out" + jax.tree_util.keystr(path), leaf) for path, leaf in flat if is_floating(leaf)]

    names: list[str] = []

    def shapes(vector: Any) -> list[Any]:
        found = floating_outputs(arguments.space.split(vector))
        names[:] = [name for name, _ in found]
        return [jnp.asarray(leaf) for _, leaf in found]

    try:
        outputs, traceable = jax.eval_shape(shapes, arguments.point), True
    except Exception:  # what is wrong with the function itself is raised again; what tracing alone does not like is not
        outputs, traceable = shapes(jnp.asarray(arguments.point)), False
    space = Space(tuple(leaf_of(name, leaf) for name, leaf in zip(names, outputs, strict=True)))

    def to_leaves(moved: list[Any]) -> list[Any]:
        return [jnp.asarray(leaf) for _, leaf in floating_outputs(moved)]

    def of_leaves(moved: list[Any]) -> Any:
        return space.join([leaf for _, leaf in floating_outputs(moved)])

    call = lambda vector: of_leaves(arguments.space.split(vector))  # noqa: E731
    return Held(call, of_leaves, to_leaves, arguments, space, traceable)


def _promote(value: Any) -> Any:
    if not is_floating(value):
        return jnp.asarray(value) if is_array(value) and isinstance(value, np.ndarray) else value
    return jnp.asarray(value).astype(jnp.promote_types(jnp.asarray(value).dtype, jnp.float64))


def _parameter_names(function: Any, count: int) -> list[str]:
    """The names of the positional parameters, as far as the function tells them."""
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in positional]
    rest = next((p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), "arg")
    return [names[i] if i < len(names) else f"{rest}[{i - len(names)}]" for i in range(count)]


def _top(path: tuple[Any, ...], names: Sequence[str]) -> str:
    """The name of the argument to which a leaf belongs."""
    return names[path[1].idx] if path[0].idx == 0 else str(path[1].key)


def _chosen(wrt: Wrt, names: Sequence[str], kwargs: Mapping[str, Any]) -> set[str] | None:
    if wrt is None:
        return None
    chosen = set()
    for which in [wrt] if isinstance(wrt, (int, str)) else wrt:
        if isinstance(which, int) and -len(names) <= which < len(names):
            chosen.add(names[which])
        elif which in names or which in kwargs:
            chosen.add(str(which))
        else:
            raise GradhookError(
                f"wrt names no argument: {which!r}", f"the arguments are {', '.join([*names, *kwargs])}"
            )
    return chosen
