"""Find the free and the bound names of a piece of code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_Loops = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_Scopes = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | _Loops
_None = frozenset[str]()


def free(node: ast.AST) -> set[str]:
    """The names that a node reads and does not define in a scope of its own."""
    return set(_reads(node, _None))


def binds(statement: ast.AST) -> set[str]:
    """The names that a statement binds in its own scope."""
    return set(_stores(statement))


def parameters(given: ast.arguments) -> list[str]:
    """The names of all parameters of a function."""
    every = (*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg)
    return [argument.arg for argument in every if argument]


def _reads(node: ast.AST, own: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Name(id=name):
            if not isinstance(node.ctx, ast.Store) and name not in own:
                yield name
        case ast.AugAssign(target=ast.Name(id=name)):
            yield from {name} - own
            yield from _reads(node.value, own)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outside = [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
            yield from _all(outside, own)
            yield from _all(node.body, own | {*parameters(node.args), *_all_stores(node.body), node.name})
        case ast.Lambda():
            yield from _reads(node.args, own)
            yield from _reads(node.body, own | {*parameters(node.args)})
        case ast.ClassDef():
            yield from _all([*node.bases, *node.keywords, *node.decorator_list], own)
            yield from _all(node.body, own | _all_stores(node.body) | {node.name})
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            yield from _all(ast.iter_child_nodes(node), own | _all_stores(loop.target for loop in node.generators))
        case _:
            yield from _all(ast.iter_child_nodes(node), own)


def _all(nodes: Iterable[ast.AST], own: frozenset[str] | set[str]) -> Iterator[str]:
    for node in nodes:
        yield from _reads(node, frozenset(own))


def _stores(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.ExceptHandler(name=str(name)):
            yield name
            yield from _all_stores(node.body)
        case _ if not isinstance(node, _Scopes):
            for child in ast.iter_child_nodes(node):
                yield from _stores(child)


def _all_stores(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for node in nodes for name in _stores(node)}
