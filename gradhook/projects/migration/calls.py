"""Find calls of ``check_grads`` and its like, and read their arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gradhook.projects.migration.fragments import Call, CannotMigrate, TestFile

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


_POSITIONS = {
    "check_grads": ("f", "args", "order", "modes", "atol", "rtol", "eps"),
    "check_jvp": ("f", "rule", "args", "atol", "rtol", "eps", "err_msg"),
    "check_vjp": ("f", "rule", "args", "atol", "rtol", "eps", "err_msg"),
    "assert_numerical_grads": ("f", "args", "order", "atol", "modes", "rtol", "eps"),
}
_RENAMED = {"f_args": "args", "f_jvp": "rule", "f_vjp": "rule"}
_MODES = {"check_jvp": ("fwd",), "check_vjp": ("rev",)}
_PLAIN_RULE = {"check_jvp": "jax.jvp", "check_vjp": "jax.vjp"}


@dataclass(frozen=True)
class CallArguments:
    """The arguments of a call by name."""

    by_name: Mapping[str, ast.expr]

    @property
    def function(self) -> ast.expr:
        """The function that is differentiated."""
        return self.by_name["f"]

    @property
    def inputs(self) -> ast.expr:
        """The inputs at which it is differentiated."""
        return self.by_name["args"]


def arguments(call: Call) -> CallArguments:
    """The arguments of the call.

    Raises:
        CannotMigrate: they are not all written out.
    """
    assert isinstance(call.node, ast.Call)
    names = _POSITIONS[call.kind]
    if any(isinstance(a, ast.Starred) for a in call.node.args) or any(k.arg is None for k in call.node.keywords):
        raise CannotMigrate("its arguments are handed on with `*` or `**`")
    by_name = dict(zip(names, call.node.args, strict=False))
    by_name |= {_RENAMED.get(k.arg, k.arg): k.value for k in call.node.keywords if k.arg}
    if missing := [name for name in ("f", "args") if name not in by_name]:
        raise CannotMigrate(f"it has no argument {missing[0]!r}")
    return CallArguments(by_name)


def options(call: Call, arguments: CallArguments, *, tolerances: bool) -> tuple[list[str], list[str]]:
    """The claim's keywords without its inputs, and notes about those left out.

    Raises:
        CannotMigrate: an order or a mode is computed.
    """
    order = _literal(call, arguments, "order", 1)
    modes = _MODES.get(call.kind) or _modes(call, arguments)
    words = [f"modes={_tuple(modes)}"] if order == 1 else [f"order={order}", f"modes={_tuple(modes)}"]
    given = [name for name in ("atol", "rtol", "eps") if _is_given(arguments, name)]
    close = {name: ast.unparse(arguments.by_name[name]) for name in given}
    if tolerances:
        return [*words, *(f"{name}={value}" for name, value in close.items())], []
    return words, [_left_out(close)] if close else []


def needs_no_rule(call: Call, arguments: CallArguments, rule: ast.expr | None, imported: Mapping[str, str]) -> bool:
    """Whether the rule that is checked is the one that JAX derives for the function."""
    match rule:
        case ast.Call(func=function, args=[way, subject]) if dotted(function, imported) == "functools.partial":
            same = ast.dump(subject) == ast.dump(arguments.function)
            return same and dotted(way, imported) in (
                _PLAIN_RULE[call.kind],
                f"jax._src.api.{_PLAIN_RULE[call.kind][4:]}",
            )
    return False


def _modes(call: Call, arguments: CallArguments) -> tuple[str, ...]:
    """The modes of a call.

    ``["rev"]`` and ``"rev"`` are both accepted, because ``"rev" in "rev"``; ``"lin"`` is a forward mode.
    """
    given = _literal(call, arguments, "modes", ("fwd", "rev"))
    wanted = tuple(mode for mode in ("fwd", "rev") if mode in given or (mode == "fwd" and "lin" in given))
    if not wanted:
        raise CannotMigrate(f"modes={given!r} names no mode")
    return wanted


def _literal(call: Call, arguments: CallArguments, name: str, default: Any) -> Any:
    node = arguments.by_name.get(name)
    if node is None:
        return default
    if isinstance(node, ast.Name):
        node = assigned(node.id, call) or node
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise CannotMigrate(f"{name}={ast.unparse(node)} is computed") from None


def assigned(name: str, call: Call) -> ast.expr | None:
    """The value of a name that one assignment around the call, or in the module, gives it."""
    for scope in reversed(call.around):
        found = [node for node in getattr(scope, "body", []) if isinstance(node, ast.Assign) and _names_it(node, name)]
        if found:
            return found[0].value if len(found) == 1 else None
    return None


def _names_it(node: ast.Assign, name: str) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


def _is_given(arguments: CallArguments, name: str) -> bool:
    node = arguments.by_name.get(name)
    return node is not None and not (isinstance(node, ast.Constant) and node.value is None)


def _left_out(close: Mapping[str, str]) -> str:
    return "left out: " + ", ".join(f"{name}={value}" for name, value in close.items())


def _tuple(modes: tuple[str, ...]) -> str:
    inner = ", ".join(f'"{mode}"' for mode in modes)
    return f"({inner},)" if len(modes) == 1 else f"({inner})"
