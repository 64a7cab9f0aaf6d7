"""Decide from the text whether a function's annotations may give the shapes of its arguments."""

from __future__ import annotations

import ast

from gradhook.scan.records import Scope

_SHAPELESS = frozenset({"jax", "numpy", "typing", "collections"})
"""Packages whose types say no shape: ``jax.Array``, ``numpy.ndarray``."""


def annotates_shapes(node: ast.arguments, scope: Scope) -> bool:
    """Whether each parameter without a default is annotated, and one by more than ``jax.Array``."""
    positional = [*node.posonlyargs, *node.args]
    optional = [k for k, default in zip(node.kwonlyargs, node.kw_defaults, strict=True) if default]
    given = positional[: len(positional) - len(node.defaults)]
    needed = [*given, *(k for k in node.kwonlyargs if k not in optional)]
    annotations = [parameter.annotation for parameter in needed]
    return bool(needed) and None not in annotations and any(_has_shape(a, scope) for a in annotations if a)


def _has_shape(annotation: ast.expr, scope: Scope) -> bool:
    """A text in brackets, as in jaxtyping, a name that the project gives to a type, or a plain number."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and any(_is_text(part) for part in ast.walk(node.slice)):
            return True
        if isinstance(node, ast.Name) and _is_own(node.id, scope):
            return True
    return _is_text(annotation)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_own(name: str, scope: Scope) -> bool:
    if name in ("float", "complex"):
        return True
    values = scope.outermost.values
    value = values.get(name)
    return name in values and not (isinstance(value, str) and value.partition(".")[0] in _SHAPELESS)
