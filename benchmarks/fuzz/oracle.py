"""Which annotations does a module certainly make? Written apart from the scanner, and in another way: no scopes.

Only what nobody can dispute is counted: a name that the module itself imports from gradhook at its top level, that
nothing else in the file binds, called or used as a decorator below the import.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

CLAIMS = ("gradcheck", "surrogate")
_HOMES = ("gradhook", "gradhook.annotations")


def annotations(tree: ast.Module) -> list[frozenset[int]]:
    """For each annotation the lines on one of which it has to be reported."""
    imported = _imported(tree)
    bound = Counter(_bindings(tree))
    certain = {name: found for name, found in imported.items() if bound[name] == len(found)}
    return [lines for lines, name, line in _uses(tree, certain) if line > max(n for n, _ in certain[name])]


def lost(tree: ast.Module, reported: Iterable[int]) -> list[frozenset[int]]:
    """The annotations for which there is no report left; ``reported`` are the lines of all reports."""
    left = Counter(reported)
    missing = []
    for lines in sorted(annotations(tree), key=len):  # those with a choice last
        line = next((n for n in sorted(lines) if left[n]), None)
        if line is None:
            missing.append(lines)
        else:
            left[line] -= 1
    return missing


def _imported(tree: ast.Module) -> dict[str, list[tuple[int, bool]]]:
    """Name to the line of each import of it, and whether it is the module (else a decorator)."""
    found: dict[str, list[tuple[int, bool]]] = {}
    for node in tree.body:
        line = node.end_lineno or 0
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in _HOMES and (alias.asname or alias.name == "gradhook"):
                    found.setdefault(alias.asname or alias.name, []).append((line, True))
        elif isinstance(node, ast.ImportFrom) and node.module in _HOMES and not node.level:
            for alias in node.names:
                if alias.name in CLAIMS:
                    found.setdefault(alias.asname or alias.name, []).append((line, False))
    return {name: uses for name, uses in found.items() if len({is_module for _, is_module in uses}) == 1}


def _bindings(tree: ast.AST) -> Iterator[str]:
    """Every name that anything in the file binds, once for each time."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.alias(name=whole, asname=short):
                yield short or whole.partition(".")[0]
            case _:
                yield from _type_parameter(node)


def _type_parameter(node: ast.AST) -> Iterator[str]:
    """``def f[T]`` of Python 3.12."""
    if type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple"):
        yield str(getattr(node, "name", ""))


def _uses(tree: ast.AST, certain: dict[str, list[tuple[int, bool]]]) -> Iterator[tuple[frozenset[int], str, int]]:
    for node in ast.walk(tree):
        decorators = getattr(node, "decorator_list", [])
        heads = [d for d in decorators if not isinstance(d, ast.Call)]
        heads += [node.func] if isinstance(node, ast.Call) else []
        for head in heads:
            name = _name(head, certain)
            if name is not None:
                first = node.lineno if isinstance(node, ast.Call) else head.lineno
                yield frozenset({first, head.end_lineno or first}), name, head.lineno


def _name(head: ast.expr, certain: dict[str, list[tuple[int, bool]]]) -> str | None:
    match head:
        case ast.Name(id=name) if name in certain and not certain[name][0][1]:
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in certain and certain[name][0][1]:
            return name if attr in CLAIMS else None
    return None
