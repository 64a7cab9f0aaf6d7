"""Find calls of ``check_grads`` and its like, under whatever name they were imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from gradhook.projects.migration.fragments import Call, TestFile

NAMES = ("check_grads", "check_jvp", "check_vjp", "assert_numerical_grads")
_HOMES = ("jax.test_util", "jax._src.test_util", "jax._src.public_test_util")
KNOWN = {f"{home}.{name}": name for home in _HOMES for name in NAMES[:3]} | {
    f"{home}.{NAMES[3]}": NAMES[3] for home in ("chex", "chex._src.asserts")
}


def calls(test: TestFile) -> list[Call]:
    """Every use of one of the names, in the order of the file; foreign functions are marked."""
    imported, own = imports(test.tree), _own(test.tree)
    found = list(_walk(test.tree, (), imported, own))
    return sorted(found, key=lambda call: (call.node.lineno, call.node.col_offset))


def imports(tree: ast.Module) -> dict[str, str]:
    """The dotted name behind each name that an import of the file binds, at any depth."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {
                a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0]
                for a in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            home = "." * node.level + (node.module or "")
            known |= {a.asname or a.name: f"{home}.{a.name}" for a in node.names}
    return known


def dotted(node: ast.expr, imported: Mapping[str, str]) -> str:
    """The dotted name of an expression; empty where imports do not show it."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, "")
    if isinstance(node, ast.Attribute):
        home = dotted(node.value, imported)
        return f"{home}.{node.attr}" if home else ""
    return ""


def _own(tree: ast.Module) -> dict[str, int]:
    """The lines on which the file itself binds one of the names."""
    lines: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in NAMES:
            lines[node.name] = node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMES:
            lines[node.id] = node.lineno
    return lines


def _walk(
    node: ast.AST, around: tuple[ast.AST, ...], imported: Mapping[str, str], own: Mapping[str, int]
) -> Iterator[Call]:
    inside = (*around, node)
    if isinstance(node, ast.Call) and _mentioned(node.func, imported):
        yield _call(node, node.func, around, imported, own)
        children = [*node.args, *node.keywords]
    elif isinstance(node, (ast.Name, ast.Attribute)) and KNOWN.get(dotted(node, imported)):
        yield Call(node, "", around, "it is handed on, not called, here")
        return
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _walk(child, inside, imported, own)


def _mentioned(function: ast.expr, imported: Mapping[str, str]) -> bool:
    last = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    return last in NAMES or dotted(function, imported) in KNOWN


def _call(
    node: ast.Call, function: ast.expr, around: tuple[ast.AST, ...], imported: Mapping[str, str], own: Mapping[str, int]
) -> Call:
    name = ast.unparse(function)
    means = dotted(function, imported)
    if isinstance(function, ast.Name) and function.id in own:
        return Call(node, "", around, f"`{name}` is the file's own (line {own[name]})")
    if means in KNOWN:
        return Call(node, KNOWN[means], around)
    return Call(node, "", around, f"it is `{means}`" if means else f"`{name}` is neither JAX's nor chex's")
