"""Find the function that the user wrote under decorators, its parameters, and the user's frame in a traceback."""

from __future__ import annotations

import inspect
import sysconfig
from collections.abc import Iterable
from functools import lru_cache, partial
from inspect import unwrap
from pathlib import Path
from typing import Any

import jax
import jax.custom_derivatives

from gradhook.model.errors import INSTALLED

OURS = str(Path(__file__).parents[2])
JAX = str(Path(jax.__file__).parent)
CUSTOM_GRADIENT = jax.custom_derivatives.custom_gradient.__code__.co_filename
"""The file that defines the wrapper of ``custom_gradient``; since JAX 0.12 it has the name of the user's function."""
_STANDARD = sysconfig.get_path("stdlib")
_EQUINOX_RULES = ("filter_custom_jvp", "filter_custom_vjp")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

Place = tuple[str, int]


def of_jax(path: str) -> bool:
    """Whether a file is part of JAX."""
    return path.startswith(JAX)


@lru_cache(maxsize=4096)
def is_installed(path: str) -> bool:
    """Whether a file came with an installed library or with Python itself."""
    return not INSTALLED.isdisjoint(Path(path).parts) or path.startswith(_STANDARD)


def users(places: Iterable[Place]) -> Place:
    """The first place that is the user's, else the first of a library but JAX, else nowhere: ("", 0)."""
    others = [place for place in places if not place[0].startswith((OURS, JAX, "<")) and place[0]]
    return next((place for place in others if not is_installed(place[0])), others[0] if others else ("", 0))


def user_function(function: Any) -> Any:
    """The innermost function; that of ``custom_gradient`` is found in the wrapper's closure."""
    found = unwrap(function)
    while isinstance(found, partial) or equinox_rule(found) is not None:
        found = unwrap(found.func if isinstance(found, partial) else _under(found))
    code = getattr(found, "__code__", None)
    if code is None or code.co_filename != CUSTOM_GRADIENT or "fun" not in code.co_freevars:
        return found
    return user_function(found.__closure__[code.co_freevars.index("fun")].cell_contents)


def signature(function: Any) -> inspect.Signature:
    """The parameters that a caller sees.

    Raises:
        TypeError, ValueError: the function has no signature.
    """
    seen = inspect.signature(function)
    kinds = {parameter.kind for parameter in seen.parameters.values()}
    hidden = kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return inspect.signature(user_function(function)) if hidden or equinox_rule(unwrap(function)) is not None else seen


def parameter_names(function: Any, count: int) -> list[str]:
    """The names of ``count`` positional arguments, as far as the signature gives them."""
    names = [p.name for p in _parameters(function) if p.kind in _POSITIONAL]
    rest = next((p.name for p in _parameters(function) if p.kind is inspect.Parameter.VAR_POSITIONAL), "arg")
    return [names[i] if i < len(names) else f"{rest}[{i - len(names)}]" for i in range(count)]


def arity(function: Any) -> int:
    """The number of positional parameters with a name."""
    return sum(p.kind in _POSITIONAL for p in _parameters(function))


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def equinox_rule(found: Any) -> str | None:
    """``filter_custom_jvp`` or ``filter_custom_vjp`` for a rule of equinox; else None."""
    kind = type(found)
    is_equinox = kind.__module__.partition(".")[0] == "equinox"
    return kind.__name__ if is_equinox and kind.__name__ in _EQUINOX_RULES else None


def _under(rule: Any) -> Any:
    """The function that a rule of equinox is made of; a ``filter_custom_jvp`` alone holds it in a closure."""
    inner = rule.fn
    code = inner.fun.__code__ if isinstance(inner, jax.custom_derivatives.custom_jvp) else None
    if code is None or "fn" not in code.co_freevars:
        return inner
    return inner.fun.__closure__[code.co_freevars.index("fn")].cell_contents
