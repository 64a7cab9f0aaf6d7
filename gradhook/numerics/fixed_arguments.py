"""Find the arguments that a function itself holds fixed: not differentiated, and passed on unchanged.

``jax.custom_jvp`` and ``jax.custom_vjp`` name them in ``nondiff_argnums``, ``jax.jit`` in ``static_argnums`` and
``static_argnames``. All three find an argument that is given by keyword through the signature, so a parameter is known
here by its name. equinox differentiates the first argument of a ``filter_custom_vjp`` only, and no argument of a
``filter_custom_jvp`` that is given by keyword: https://docs.kidger.site/equinox/api/transformations/
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from gradhook.annotations.inputs import Spec
from gradhook.numerics.jaxpr.source import arity, equinox_rule, parameter_names
from gradhook.numerics.sampling import sample

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
