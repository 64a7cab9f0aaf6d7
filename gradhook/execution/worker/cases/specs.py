"""Read ``jax.ShapeDtypeStruct`` as specs, and apply ``domain=``.

Parameters of any library can so be given as ``jax.eval_shape(init, key)``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from gradhook.annotations import inputs
from gradhook.annotations.inputs import Spec
from gradhook.execution.worker.cases.methods import lacks_instance
from gradhook.model.errors import GradhookError
from gradhook.numerics.case import CheckCase
from gradhook.numerics.jaxpr.source import signature

WORDS: Mapping[str, Callable[..., Spec]] = {
    "positive": inputs.positive,
    "unit": inputs.uniform,
    "simplex": inputs.simplex,
    "orthogonal": lambda *shape: inputs.orthogonal(shape[-1], *shape[:-2]),
    "spd": lambda *shape: inputs.spd(shape[-1], *shape[:-2]),
}
_REMEDY = f'write domain={{"x": "positive"}}, with {", ".join(WORDS)} or a pair of bounds (low, high)'


def specs(tree: Any) -> Any:
    """The tree with a spec in the place of every ``ShapeDtypeStruct``."""
    return jax.tree.map(_spec, tree, is_leaf=lambda leaf: isinstance(leaf, (Spec, jax.ShapeDtypeStruct)))


def _spec(leaf: Any) -> Any:
    if not isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return inputs.key()
    name = str(leaf.dtype)
    if jnp.issubdtype(leaf.dtype, jnp.inexact):
        return inputs.normal(leaf.shape, dtype=name)
    return inputs.integers(leaf.shape, low=0, high=2, dtype=name)


def with_domain(found: list[CheckCase], domain: Any, function: Any) -> list[CheckCase]:
    """The cases, with the inputs of ``normal`` drawn from the domain of their argument.

    Raises:
        GradhookError: ``domain`` is no mapping of arguments to domains, or none of an argument's values is drawn.
    """
    if domain is None:
        return found
    if not isinstance(domain, Mapping):
        raise GradhookError(f"domain= is a {type(domain).__name__}", _REMEDY)
    unused = set(domain)
    made = [_confined(one, domain, function, unused) if one.error is None else one for one in found]
    if unused:
        raise GradhookError(*_complaint(min(unused), function))
    return made


def _confined(one: CheckCase, domain: Mapping[str, Any], function: Any, unused: set[str]) -> CheckCase:
    def within(name: str, value: Any) -> Any:
        if name not in domain:
            return value
        leaves, treedef = jax.tree.flatten(value, is_leaf=lambda leaf: isinstance(leaf, Spec))
        new = [_within(name, domain[name], leaf) if _is_free(leaf) else leaf for leaf in leaves]
        unused.difference_update({name} if any(map(_is_free, leaves)) else ())
        return jax.tree.unflatten(treedef, new)

    known = _names(function)[1:] if lacks_instance(function, one) else _names(function)
    names = [*known, *(f"arg[{k}]" for k in range(len(one.args)))]
    args = tuple(within(name, value) for name, value in zip(names, one.args, strict=False))
    return replace(one, args=args, kwargs={name: within(name, value) for name, value in one.kwargs.items()})


def _is_free(leaf: Any) -> bool:
    return isinstance(leaf, Spec) and leaf.kind == "normal"


def _names(function: Any) -> list[str]:
    try:
        return list(signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _within(name: str, domain: Any, leaf: Spec) -> Spec:
    try:
        if isinstance(domain, str):
            made = WORDS[domain](*leaf.shape)
        else:
            low, high = domain
            made = inputs.uniform(leaf.shape, low=float(low), high=float(high))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise GradhookError(f"domain={domain!r} is none for `{name}`", _REMEDY) from error
    if made.shape != leaf.shape:
        raise GradhookError(f"`{name}` has the shape {leaf.shape}: it cannot be {domain}", "the matrix must be square")
    return made._replace(dtype=leaf.dtype)


def _complaint(name: str, function: Any) -> tuple[str, str]:
    known = _names(function)
    if name in known:
        return f"domain= speaks of `{name}`, which is not drawn", "give it as normal(…) or by its annotation"
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"domain= speaks of `{name}`, which is no argument", f"the arguments are {', '.join(known)}{hint}"
