"""Turn a function of trees, or values that the author gives, into a function from R^n to R^m.

``jax.custom_jvp`` and ``jax.custom_vjp`` name them in ``nondiff_argnums``, ``jax.jit`` in ``static_argnums`` and
``static_argnames``. All three find an argument that is given by keyword through the signature, so a parameter is known
here by its name. equinox differentiates the first argument of a ``filter_custom_vjp`` only, and no argument of a
``filter_custom_jvp`` that is given by keyword: https://docs.kidger.site/equinox/api/transformations/
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.annotations.inputs import Spec
from gradhook.model.errors import GradhookError
from gradhook.numerics.finite_difference.richardson import Array
from gradhook.numerics.flatten import FlatLayout, is_array, is_floating, leaf_of, vector_of
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.source import arity, equinox_rule, parameter_names
from gradhook.numerics.sampling import sample

Wrt = int | str | Sequence[int | str] | None


@dataclass(frozen=True)
class BoundArguments:
    """Drawn arguments: all leaves, the differentiated ones, and the tree that holds them."""

    leaves: tuple[Any, ...]
    moved: tuple[int, ...]
    treedef: Any
    space: FlatLayout
    point: Array

    def rebuild(self, moved: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments with other values for the differentiated leaves."""
        leaves = list(self.leaves)
        for place, value in zip(self.moved, moved, strict=True):
            leaves[place] = value
        args, kwargs = jax.tree.unflatten(self.treedef, leaves)
        return args, kwargs

    def at(self, point: Array) -> BoundArguments:
        """The same arguments with other numbers in the differentiated leaves."""
        leaves = list(self.leaves)
        for place, value in zip(self.moved, self.space.split(jnp.asarray(point)), strict=True):
            leaves[place] = value
        return replace(self, leaves=tuple(leaves), point=point)


@dataclass(frozen=True)
class FlatFunction:
    """A function of vectors: ``call`` maps R^n to R^m; ``inputs`` and ``outputs`` label the numbers.

    ``of_leaves`` is the same function of the list of differentiated leaves, ``to_leaves`` the one from that list to the
    list of floating output leaves; in both, stopped values move even if the author declares them constant.
    """

    call: Callable[[Any], Any]
    of_leaves: Callable[[list[Any]], Any]
    to_leaves: Callable[[list[Any]], list[Any]]
    arguments: BoundArguments
    outputs: FlatLayout
    traceable: bool

    @property
    def inputs(self) -> FlatLayout:
        """The differentiated leaves."""
        return self.arguments.space

    @property
    def point(self) -> Array:
        """The point (n,) at which the function is held."""
        return self.arguments.point

    @cached_property
    def jaxpr(self) -> Any:
        """The equations of ``call``, traced once for all that read them; only where it is traceable."""
        return jax.make_jaxpr(self.call)(self.point)

    @cached_property
    def leaf_jaxpr(self) -> Any:
        """The equations of ``to_leaves``, traced once for all that read them; only where it is traceable."""
        return jax.make_jaxpr(self.to_leaves)(self.inputs.structs())

    @cached_property
    def replayed(self) -> FlatFunction:
        """The same function, run from its equations instead of the user's Python code; where it is traceable.

        Rules are still the user's code. What an equation raises lacks the user's lines: ask the function itself then.
        """
        whole, leaves = traverse.function_of(self.jaxpr), traverse.function_of(self.leaf_jaxpr)
        made = replace(
            self,
            call=lambda vector: whole(vector)[0],
            of_leaves=lambda moved: self.outputs.join(leaves(*moved)),
            to_leaves=lambda moved: leaves(*moved),
        )
        made.__dict__.update(jaxpr=self.jaxpr, leaf_jaxpr=self.leaf_jaxpr)
        return made

    def at(self, point: Array) -> FlatFunction:
        """The same function held at another point; a traceable one has the same equations there."""
        made = replace(self, arguments=self.arguments.at(point))
        made.__dict__.update({"jaxpr": self.jaxpr} if self.traceable else {})
        return made


def bind_arguments(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], wrt: Wrt, random: np.random.Generator
) -> BoundArguments:
    """Draw the specs among the arguments, promote floats to float64, and select the differentiated leaves.

    What the function itself holds fixed (``nondiff_argnums``, ``static_argnames``) is handed over as it is.

    Raises:
        GradhookError: ``wrt`` names no argument, or nothing is left to differentiate.
    """
    names = parameter_names(function, len(args))
    kept = fixed_names(function, len(args), kwargs)
    chosen = _chosen(wrt, names, kwargs, kept)
    flat, treedef = jax.tree_util.tree_flatten_with_path(
        _sealed(args, kwargs, names, kept), is_leaf=lambda leaf: isinstance(leaf, Spec)
    )
    leaves, moved, described = [], [], []
    for place, (path, given) in enumerate(flat):
        spec = given if isinstance(given, Spec) else None
        top = _top(path, names)
        still = top not in chosen
        value = _value(given, still, random)
        leaves.append(value)
        if is_floating(value) and not still:
            moved.append(place)
            described.append(leaf_of(top + jax.tree_util.keystr(path[2:]), value, spec, top))
    if not moved:
        raise GradhookError(
            "none of the arguments is a floating number or array, so there is nothing to differentiate",
            shape_remedy(args, kwargs) or "give floats (1.0, normal(3), …), or name them with wrt=",
        )
    space = FlatLayout(tuple(described))
    return BoundArguments(tuple(leaves), tuple(moved), treedef, space, vector_of(space, [leaves[p] for p in moved]))


def differentiated(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], wrt: Wrt) -> Wrt:
    """``wrt``; if it is None and the function holds arguments fixed, all other arguments."""
    kept = fixed_names(function, len(args), kwargs)
    if wrt is not None or not kept:
        return wrt
    names = parameter_names(function, len(args))
    return [*(k for k, name in enumerate(names) if name not in kept), *(k for k in kwargs if k not in kept)]


def _sealed(args: tuple[Any, ...], kwargs: Mapping[str, Any], names: Sequence[str], kept: Collection[str]) -> Any:
    """The arguments with those that are held fixed as one leaf each."""
    return (
        tuple(OpaqueArgument(value) if name in kept else value for name, value in zip(names, args, strict=True)),
        {name: OpaqueArgument(value) if name in kept else value for name, value in kwargs.items()},
    )


def _value(given: Any, still: bool, random: np.random.Generator) -> Any:
    """The value that is passed for a leaf; arrays that are held fixed are promoted too."""
    if isinstance(given, OpaqueArgument):
        value = sample_fixed(given.value, random)
        return _promote(value) if hasattr(value, "dtype") and hasattr(value, "shape") else value
    # A number that is not differentiated stays one: an array, even a constant one, cannot be branched on in a jit.
    if still and isinstance(given, (int, float, complex)):
        return given
    return _promote(sample(given, random) if isinstance(given, Spec) else given)


def shape_remedy(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """A hint for whole numbers in a tuple that look like a shape; empty where there are none."""
    shape = next((value for value in (*args, *kwargs.values()) if _is_shape(value)), None)
    return f"did you mean normal({', '.join(map(str, shape))}), an array of the shape {shape}?" if shape else ""


def _is_shape(value: Any) -> bool:
    """Whether a value is a tuple of sizes, where an array of that shape may be meant."""
    return isinstance(value, tuple) and len(value) > 0 and all(type(size) is int and size > 0 for size in value)


def flatten_function(function: Callable[..., Any], arguments: BoundArguments) -> FlatFunction:
    """Flatten a function at its arguments; evaluated eagerly where it cannot be traced."""

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
    space = FlatLayout(tuple(leaf_of(name, leaf) for name, leaf in zip(names, outputs, strict=True)))

    def to_leaves(moved: list[Any]) -> list[Any]:
        return [jnp.asarray(leaf) for _, leaf in floating_outputs(moved)]

    def of_leaves(moved: list[Any]) -> Any:
        return space.join([leaf for _, leaf in floating_outputs(moved)])

    call = lambda vector: of_leaves(arguments.space.split(vector))  # noqa: E731
    return FlatFunction(call, of_leaves, to_leaves, arguments, space, traceable)


def _promote(value: Any) -> Any:
    if not is_floating(value):
        return jnp.asarray(value) if is_array(value) and isinstance(value, np.ndarray) else value
    given = value if hasattr(value, "dtype") else np.asarray(value)
    wide = jnp.promote_types(given.dtype, jnp.float64)
    return jnp.asarray(given if given.dtype == wide else np.asarray(given).astype(wide))


def _top(path: tuple[Any, ...], names: Sequence[str]) -> str:
    """The name of the argument to which a leaf belongs."""
    return names[path[1].idx] if path[0].idx == 0 else str(path[1].key)


def _chosen(wrt: Wrt, names: Sequence[str], kwargs: Mapping[str, Any], kept: Collection[str]) -> set[str]:
    """The names of the arguments that are differentiated."""
    if wrt is None:
        return {*names, *kwargs} - {*kept}
    chosen = {_meant(which, names, kwargs) for which in ([wrt] if isinstance(wrt, (int, str)) else wrt)}
    for name in sorted(chosen.intersection(kept)):
        raise GradhookError(
            f"wrt names `{name}`, which the function holds fixed (nondiff_argnums, static_argnums or static_argnames)",
            "leave it out of wrt, or let the function differentiate it",
        )
    return chosen


def _meant(which: int | str, names: Sequence[str], kwargs: Mapping[str, Any]) -> str:
    if isinstance(which, int) and -len(names) <= which < len(names):
        return names[which]
    known = [*names, *kwargs]
    if which in known:
        return str(which)
    near = difflib.get_close_matches(str(which), known, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise GradhookError(f"wrt names no argument: {which!r}", f"{hint}the arguments are {', '.join(known)}")


def vector(value: Any, size: int, what: str) -> Any:
    """Given numbers as one vector of the outputs' size; a scalar stands for every element."""
    parts = [np.asarray(leaf) for leaf in jax.tree.leaves(value)]
    flat = np.concatenate(
        [np.concatenate([p.real.ravel(), p.imag.ravel()] if np.iscomplexobj(p) else [p.ravel()]) for p in parts]
    )
    flat = np.broadcast_to(flat, (size,)) if flat.size == 1 else flat
    if flat.size != size:
        raise GradhookError(
            f"{what} holds {flat.size} numbers, the function returns {size}", "give one number for each"
        )
    return flat.astype(np.float64)


def jacobian(derivative: Any, held: FlatFunction) -> Any:
    """A given gradient or Jacobian as one matrix (m, n): leaves in the order outputs, then inputs."""
    leaves = [np.asarray(leaf, dtype=np.float64) for leaf in jax.tree.leaves(derivative)]
    outs, ins = held.outputs.leaves, held.inputs.leaves
    shapes = [(o.size, i.size) for o in outs for i in ins]
    if len(leaves) != len(shapes) or any(leaf.size != a * b for leaf, (a, b) in zip(leaves, shapes, strict=True)):
        wanted = ", ".join(str((*o.shape, *i.shape)) for o in outs for i in ins)
        got = ", ".join(str(leaf.shape) for leaf in leaves)
        raise GradhookError(
            f"the given derivative has the shapes {got}; expected {wanted}",
            "give one array for each pair of output and differentiated argument: output's shape, then argument's",
        )
    blocks = [leaf.reshape(shape) for leaf, shape in zip(leaves, shapes, strict=True)]
    rows = [np.concatenate(blocks[k : k + len(ins)], axis=1) for k in range(0, len(blocks), len(ins))]
    return np.concatenate(rows, axis=0)


_DEEPEST = 20


@dataclass(frozen=True)
class OpaqueArgument:
    """An argument treated as one leaf: its parts are not visited."""

    value: Any


def fixed_names(function: Any, count: int, keywords: Collection[str]) -> frozenset[str]:
    """The names, among ``count`` positional and the keyword arguments, that the function holds fixed."""
    found = {name for layer in _layers(function) for name in _of(layer, count, keywords)}
    return frozenset(found.intersection({*parameter_names(function, count), *keywords}))


def sample_fixed(value: Any, random: np.random.Generator) -> Any:
    """A fixed argument with its specs drawn; a scalar becomes a Python number, which can be hashed."""
    leaves, treedef = jax.tree.flatten(value, is_leaf=lambda leaf: isinstance(leaf, Spec))
    if not any(isinstance(leaf, Spec) for leaf in leaves):
        return value
    return jax.tree.unflatten(treedef, [_drawn(leaf, random) if isinstance(leaf, Spec) else leaf for leaf in leaves])


def _drawn(spec: Spec, random: np.random.Generator) -> Any:
    found = sample(spec, random)
    return found.item() if isinstance(found, (np.ndarray, np.generic)) and found.shape == () else found


def _layers(function: Any) -> Iterator[Any]:
    """The function and what it wraps, from the outermost one to the innermost one."""
    for _ in range(_DEEPEST):
        if function is None:
            return
        function = getattr(function, "__func__", function)  # a bound method counts from its function's first parameter
        yield function
        function = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)


def _of(layer: Any, count: int, keywords: Collection[str]) -> Iterator[str]:
    """The names that one layer holds fixed."""
    rule = equinox_rule(layer)
    if rule is not None:
        yield from (*parameter_names(layer, count)[1:], *keywords) if rule == "filter_custom_vjp" else keywords
    numbers: tuple[int, ...] = ()
    if isinstance(layer, (jax.custom_jvp, jax.custom_vjp)):
        numbers = tuple(getattr(layer, "nondiff_argnums", ()))
    # No public attribute of a jitted function lists its static arguments; without this one, none are found.
    info = getattr(layer, "_jit_info", None)
    numbers += tuple(getattr(info, "static_argnums", None) or ())
    yield from getattr(info, "static_argnames", None) or ()
    names = parameter_names(layer, max(count, arity(layer), *(number + 1 for number in numbers))) if numbers else []
    yield from (names[number] for number in numbers if -len(names) <= number)
