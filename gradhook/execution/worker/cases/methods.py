"""Supply the instance for a method, and the dtypes and shapes in which a custom rule is claimed to work."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from gradhook.annotations.inputs import Spec
from gradhook.model.errors import GradhookError
from gradhook.numerics.case import CheckCase
from gradhook.numerics.flatten import is_array
from gradhook.numerics.jaxpr.source import signature, user_function

_DRAWN = {"full": "full(…)"}


def bound_to_instance(function: Callable[..., Any], check_case: CheckCase) -> Callable[..., Any]:
    """The function, bound to an instance of its class if it is a method and the arguments have none.

    Raises:
        GradhookError: its class cannot be built without arguments.
    """
    return partial(function, _instance(function, check_case.args)) if lacks_instance(function, check_case) else function


def on_instance(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, bound to an instance of its class if it is a method without any arguments.

    Raises:
        GradhookError: its class cannot be built without arguments.
    """
    return function if owner(function) is None else partial(function, _instance(function, ()))


def lacks_instance(function: Any, check_case: CheckCase) -> bool:
    """Whether only the instance is missing in a method's arguments; it is no array and no number."""
    args = check_case.args
    if owner(function) is None or not _binds(function, (None, *args), check_case):
        return False
    is_number = bool(args) and (isinstance(args[0], Spec) or is_array(args[0]))
    return is_number or not _binds(function, args, check_case)


def owner(function: Any) -> type | None:
    """The class of a plain method; ``None`` for static, class and bound methods and functions."""
    inner = user_function(function)
    *outer, name = str(getattr(inner, "__qualname__", "")).split(".")
    found: Any = sys.modules.get(str(getattr(inner, "__module__", "")))
    for part in outer:
        found = inspect.getattr_static(found, part, None)
    if not outer or not inspect.isclass(found) or _is_bound(function):
        return None
    return None if isinstance(inspect.getattr_static(found, name, None), (staticmethod, classmethod)) else found


def _is_bound(function: Any) -> bool:
    while function is not None:
        if inspect.ismethod(function) or isinstance(function, partial):
            return True
        function = getattr(function, "__wrapped__", None)
    return False


def _binds(function: Any, args: tuple[Any, ...], check_case: CheckCase) -> bool:
    try:
        signature(function).bind(*args, **check_case.kwargs)
    except (TypeError, ValueError):
        return False
    return True


def _instance(function: Any, args: tuple[Any, ...]) -> Any:
    kind = owner(function)
    assert kind is not None
    try:
        return kind()
    except Exception as error:
        shown = ", ".join([f"{kind.__name__}(…)", *map(_shown, args)] if args else [f"{kind.__name__}(…)", "normal(3)"])
        raise GradhookError(
            f"`{user_function(function).__qualname__}` is a method: its args have no {kind.__name__} for "
            f"`{next(iter(signature(function).parameters), 'self')}`, and {kind.__name__}() cannot be built without "
            "arguments",
            f"write args=lambda: ({shown})",
        ) from error


def _shown(value: Any) -> str:
    """An argument as its author wrote it, or nearly so."""
    if isinstance(value, Spec):
        return _DRAWN.get(value.kind, f"{value.kind}({', '.join(map(str, value.shape))})")
    return repr(value) if isinstance(value, (bool, int, float, complex, str)) else "…"


DTYPES = ("float16", "bfloat16", "float32", "float64")
SHAPES = ("any",)


def dtypes(given: Any) -> tuple[str, ...]:
    """The names of dtypes, which may be given as such or as ``jnp.bfloat16``.

    Raises:
        GradhookError: something else is given.
    """
    items = given.split(",") if isinstance(given, str) else given if isinstance(given, (list, tuple)) else [given]
    names = [item.strip() if isinstance(item, str) else getattr(item, "__name__", str(item)) for item in items]
    if given is not None and (not names or not set(names) <= set(DTYPES)):
        text = f'dtypes names some of {", ".join(DTYPES)}, for example dtypes=("float32", "bfloat16")'
        raise GradhookError(f"dtypes={given!r}", text)
    return () if given is None else tuple(names)
