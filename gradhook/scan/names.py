"""Resolve names and expressions through imports and assignments."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Protocol

from gradhook.scan.modules import Module
from gradhook.scan.records import CallSite, Decorator, NameMeaning, Scope

WORDS = ("gradcheck", "surrogate", "custom_jvp", "custom_vjp", "custom_gradient")
_CLAIMS = {"gradcheck": "exact", "surrogate": "surrogate"}
_KNOWN = {f"{home}.{name}": kind for home in ("gradhook", "gradhook.annotations") for name, kind in _CLAIMS.items()} | {
    f"{home}.{rule}": rule
    for home in ("jax", "jax.custom_derivatives", "jax._src.custom_derivatives")
    for rule in WORDS[2:]
}
_OURS = re.compile("|".join(WORDS)).search
_PARTIALS = frozenset({"functools.partial", "jax.tree_util.Partial"})


class Exports(Protocol):
    """A lookup of the names that other modules of the project offer."""

    def __call__(self, dotted: str, near: Module) -> NameMeaning: ...


@dataclass(frozen=True)
class NameResolver:
    """Resolve names; ``follow`` are those that may mean a decorator once imported from another module."""

    exports: Exports
    follow: frozenset[str] = frozenset()

    def resolve(self, dotted: str, near: Module) -> NameMeaning:
        """The decorator that an imported name means, else the name itself."""
        if dotted in _KNOWN:
            return Decorator(_KNOWN[dotted])
        return (self.may_be_decorator(dotted) and self.exports(dotted, near)) or dotted

    def may_be_decorator(self, dotted: str) -> bool:
        """Whether a name may mean a decorator; other names are not followed, which saves reading modules."""
        last = dotted.rpartition(".")[2]
        return last in self.follow or _OURS(last) is not None

    def lookup(self, name: str, scope: Scope) -> NameMeaning:
        """The meaning of a name in a scope; class bodies are not visible from their functions."""
        here: Scope | None = scope
        while here is not None:
            if name in here.values and (here is scope or here.kind != "class"):
                return here.values[name]
            here = here.parent
        return self._starred(name, scope.outermost) if self.may_be_decorator(name) else None

    def _starred(self, name: str, module: Scope) -> NameMeaning:
        """The decorator that one of the module's star imports binds to the name."""
        values = (self.resolve(f"{source}.{name}", module.module) for source in reversed(module.stars))
        return next((value for value in values if isinstance(value, Decorator)), None)

    def value(self, node: ast.expr | None, scope: Scope) -> NameMeaning:
        """The meaning of an expression."""
        match node:
            case ast.Name(id=name):
                return self.lookup(name, scope)
            case ast.Attribute(value=inner, attr=attr):
                home = self.value(inner, scope)
                return self.resolve(f"{home}.{attr}", scope.module) if isinstance(home, str) else None
            case ast.Call():
                return self._called(node, scope)
        return None

    def _called(self, call: ast.Call, scope: Scope) -> Decorator | None:
        """The decorator that a call returns: one with options only, or ``functools.partial`` of one."""
        function = self.value(call.func, scope)
        if function in _PARTIALS and call.args:
            inner = self.value(call.args[0], scope)
            return inner if isinstance(inner, Decorator) else None
        if isinstance(function, Decorator) and function.site is None and decorated_argument(call) is None:
            return Decorator(function.kind, call_site_of(call, scope))
        return None


def decorated_argument(call: ast.Call) -> ast.expr | None:
    """The argument that a decorator is applied to in a call."""
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "fun"), None)


def call_site_of(call: ast.Call, scope: Scope) -> CallSite:
    """The line that the called function sees in its caller's frame.

    The first line of the call, except that Python (3.11 on) gives a method call the line of the attribute, and takes
    for a method every attribute but that of a name which the module imports.
    """
    line = call.lineno
    if isinstance(call.func, ast.Attribute) and _is_method_call(call, call.func, scope):
        line = call.func.end_lineno or line
    return CallSite(scope.module.shown, line, call.col_offset)


def _is_method_call(call: ast.Call, function: ast.Attribute, scope: Scope) -> bool:
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    imported = isinstance(function.value, ast.Name) and function.value.id in scope.outermost.imported
    return not (starred or imported)


def assigned_name(node: ast.expr) -> str:
    """The target of an assignment, with the key of an entry in double quotes: ``LOSSES["l2"]``."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=str(key))) if '"' not in key:
            return f'{text(value)}["{key}"]'
    return text(node)


def text(node: ast.expr | None, limit: int = 60) -> str:
    """An expression for display: its dotted name or shortened source."""
    if node is None:
        return "<nothing>"
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    source = " ".join(ast.unparse(node).split())
    return source if len(source) <= limit else source[: limit - 3] + "..."
