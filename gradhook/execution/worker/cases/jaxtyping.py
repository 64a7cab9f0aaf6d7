"""Derive inputs from the annotations of a function's parameters.

jaxtyping's annotations are recognised by their attributes (``dim_str``, ``dtypes``, ``leaftype``): the library is the
project's, and is not imported here. https://docs.kidger.site/jaxtyping/api/array/
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from gradhook.annotations.inputs import Spec, integers, key, normal
from gradhook.model.errors import GradhookError
from gradhook.numerics.function import fixed_names
from gradhook.numerics.jaxpr.source import signature, user_function

_FIRST = (3, 2)
"""The sizes of the first names; a small axis is enough, but one of size 1 would broadcast in silence."""
_FUNCTIONS = {"min": min, "max": max}


class Sizes(dict[str, int]):
    """The size of each name, chosen when it is first read; no two names have the same."""

    def __missing__(self, name: str) -> int:
        if name in _FUNCTIONS:
            raise KeyError(name)  # eval then looks the name up in its globals
        count = len(self)
        self[name] = _FIRST[count] if count < len(_FIRST) else count + 2
        return self[name]


def shape_of(dimensions: str, sizes: Sizes) -> tuple[int, ...] | None:
    """The sizes of all dimensions but ``...`` and ``*name``; ``None`` if one cannot be computed.

    https://docs.kidger.site/jaxtyping/api/array/#shape
    """
    shape = []
    for word in dimensions.split():
        marks, name = re.match(r"([#*?]*)(.*)", word).groups()  # type: ignore[union-attr]
        if name == "..." or "*" in marks:
            continue
        size = sizes[f"_{len(sizes)}"] if name.startswith("_") else _size(name.rpartition("=")[2], sizes)
        if size is None or size < 0:
            return None
        shape.append(size)
    return tuple(shape)


def _size(text: str, sizes: Sizes) -> int | None:
    try:
        found = eval(text, {"__builtins__": _FUNCTIONS}, sizes)
    except Exception:  # "{self.width}" is only known at the call
        return None
    return found if isinstance(found, int) else None


UNKNOWN = object()
_PREFERRED = ("float64", "complex128", "int32", "uint32")
"""Of the dtypes that an annotation allows, the first of these that is among them; else the widest."""
_PLAIN: Mapping[Any, Any] = {float: normal(), complex: normal(dtype="complex128"), int: 2, bool: True}
_REMEDY = 'write args=(normal(3), …), or annotate it by jaxtyping: Float[Array, "n d"]'


def inputs_from_annotations(
    function: Any, by_keyword: frozenset[str] = frozenset()
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments with specs in place of arrays; each dimension has its own size.

    Parameters with a default keep it, unless they are annotated as arrays; those that are given ``by_keyword``
    are left out.

    Raises:
        GradhookError: the annotation of a parameter without a default gives no shape.
    """
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise GradhookError("no inputs are given, and the function does not tell its parameters", _REMEDY) from error
    sizes, kept = Sizes(), fixed_names(function, len(parameters), ())
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for place, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.name in by_keyword:
            continue
        given = _given(parameter, function, sizes)
        if given is UNKNOWN:
            _needs_default(parameter)
        elif parameter.kind is parameter.KEYWORD_ONLY or len(args) < place:  # after one that keeps its default
            kwargs[parameter.name] = given
        else:
            args.append(_constant(given) if parameter.name in kept else given)
    if not args and not kwargs and not by_keyword:
        raise GradhookError("no inputs are given", _REMEDY)
    return tuple(args), kwargs


def _constant(given: Any) -> Any:
    """A Python number for a constant argument: functions often branch on those."""
    return 0.5 if given == normal() else given


def _needs_default(parameter: inspect.Parameter) -> None:
    if parameter.default is not inspect.Parameter.empty:
        return
    empty = parameter.annotation is inspect.Parameter.empty
    says = "has no annotation" if empty else f"is annotated {_shown(parameter.annotation)}, which says no shape"
    raise GradhookError(f"no inputs are given, and the parameter `{parameter.name}` {says}", _REMEDY)


def _shown(annotation: Any) -> str:
    return (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation)).rpartition(".")[2]
    )


def _given(parameter: inspect.Parameter, function: Any, sizes: Sizes) -> Any:
    hint = _hint(parameter.annotation, function)
    union = any(_is_array(member) for member in typing.get_args(hint))
    drawn = parameter.default is parameter.empty or _is_array(hint) or (union and parameter.default is not None)
    return described(hint, sizes) if drawn else UNKNOWN


def _hint(annotation: Any, function: Any) -> Any:
    """The annotation as an object; ``None`` if it cannot be evaluated."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, getattr(user_function(function), "__globals__", {}))
    except Exception:  # names under TYPE_CHECKING, and whatever else the text does
        return None


def described(hint: Any, sizes: Sizes) -> Any:
    """The spec, number or tree that an annotation describes; ``UNKNOWN`` if it gives no shape."""
    if _is_array(hint):
        return _array(hint, sizes)
    if isinstance(hint, type) and hint in _PLAIN:
        return _PLAIN[hint]
    if getattr(hint, "leaftype", None) is not None:
        return described(hint.leaftype, sizes)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return next((d for h in inner if (d := described(h, sizes)) is not UNKNOWN), UNKNOWN)
    if origin is typing.Annotated:
        return described(inner[0], sizes)
    if origin is typing.Literal:
        return inner[0]
    return _container(origin, inner, sizes) if origin in (tuple, list, dict) else _record(hint, sizes)


def _container(origin: Any, inner: tuple[Any, ...], sizes: Sizes) -> Any:
    """A tuple of the annotated length, or a container with two entries."""
    if origin is tuple and Ellipsis not in inner:
        parts = [described(hint, sizes) for hint in inner]
    else:
        parts = [described(inner[1] if origin is dict else inner[0], sizes)] * 2
    if any(part is UNKNOWN for part in parts):
        return UNKNOWN
    return dict(zip("ab", parts, strict=True)) if origin is dict else origin(parts)


def _record(hint: Any, sizes: Sizes) -> Any:
    """A named tuple or dataclass, field by field; one with defaults keeps them."""
    is_tuple = isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")
    if not (is_tuple or (isinstance(hint, type) and dataclasses.is_dataclass(hint))):
        return UNKNOWN
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
        names = hint._fields if is_tuple else [f.name for f in dataclasses.fields(hint) if f.init]
        fields = {name: described(hints[name], sizes) for name in names if name in hints}
        known = {name: value for name, value in fields.items() if value is not UNKNOWN}
        return hint(**known)
    except Exception:  # the constructor needs other arguments: the author must give the value
        return UNKNOWN


def _is_array(hint: Any) -> bool:
    return isinstance(getattr(hint, "dim_str", None), str) and hasattr(hint, "dtypes")


def _array(hint: Any, sizes: Sizes) -> Any:
    shape = shape_of(hint.dim_str, sizes)
    if shape is None:
        return UNKNOWN
    allowed = hint.dtypes if isinstance(hint.dtypes, (tuple, list)) else _PREFERRED
    if "prng_key" in allowed:
        return key() if shape == () else UNKNOWN
    return _of_dtype(next((d for d in _PREFERRED if d in allowed), allowed[-1]), shape)


def _of_dtype(dtype: str, shape: tuple[int, ...]) -> Spec:
    """Whole numbers are 0 or 1: so they are an index into every axis, too."""
    if "bool" in dtype:
        return integers(*shape, low=0, high=2, dtype="bool")
    if "int" in dtype:
        return integers(*shape, low=0, high=2, dtype=dtype)
    return normal(*shape, dtype=None if dtype == "float64" else dtype)
