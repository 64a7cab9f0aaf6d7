"""Evaluate texts of the configuration: input expressions, literals, importable names."""

from __future__ import annotations

import ast
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import gradhook
from gradhook.model.errors import GradhookError

SPECS: dict[str, Callable[..., Any]] = {
    name: getattr(gradhook, name)
    for name in (
        "normal", "uniform", "positive", "integers", "zeros", "ones", "full", "spd", "orthogonal", "simplex", "key",
    )
}  # fmt: skip
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "True": True, "False": False, "None": None}


def evaluate(value: Any) -> Any:
    """A TOML value as an argument: texts are expressions, lists of numbers arrays, tables dictionaries.

    Raises:
        GradhookError: a text is neither an input expression, nor a Python literal, nor ``module:name``.
    """
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {name: evaluate(item) for name, item in value.items()}
    if isinstance(value, list):
        return np.asarray(value) if _numeric(value) else tuple(evaluate(item) for item in value)
    return value


def reference(value: Any) -> Any:
    """The object that ``"pkg.mod:name"`` names; other values are returned as they are.

    Raises:
        GradhookError: nothing of that name can be imported.
    """
    if not isinstance(value, str):
        return value
    module, _, name = value.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError, TypeError) as error:  # TypeError: a name that begins with a dot
        raise GradhookError(f"{value!r} cannot be imported: {error}", 'write it as "package.module:name"') from error
    return found


def _numeric(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_numeric(item) for item in value)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(text: str) -> Any:
    try:
        return _node(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError) as error:
        if ":" in text and not text.lstrip().startswith(("{", "[", "'", '"')):
            return reference(text)
        raise GradhookError(
            f"{text!r} is no input: {error}",
            f'write a number, a literal such as "\'relu\'", "module:name", or one of {", ".join(SPECS)}',
        ) from error


def _node(node: ast.expr) -> Any:
    """Evaluate an expression of input specs, numbers and containers; no other call is made."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in SPECS:
            return SPECS[name](*map(_node, args), **{k.arg: _node(k.value) for k in keywords if k.arg})
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_node(operand)
        case ast.Tuple(elts=items):
            return tuple(map(_node, items))
        case ast.List(elts=items):
            return [_node(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_node(k): _node(v) for k, v in zip(keys, values, strict=True) if k is not None}
        case ast.Constant(value=value):
            return value
    raise ValueError(f"{ast.unparse(node)} is not known here")
