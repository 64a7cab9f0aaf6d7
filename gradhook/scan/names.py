"""What does an expression stand for, as far as imports and assignments tell?"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Protocol

from gradhook.scan.modules import Module
from gradhook.scan.records import Mark, Place, Scope, Value

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
    """What other modules of the project offer under a dotted name."""

    def __call__(self, dotted: str, near: Module) -> Value: ...


@dataclass(frozen=True)
class Names:
    """How names are resolved: ``follow`` are those that may mean a mark once they come from another module."""

    exports: Exports
    follow: frozenset[str] = frozenset()

    def resolve(self, dotted: str, near: Module) -> Value:
        """The mark that an imported name means, else the name itself."""
        if dotted in _KNOWN:
            return Mark(_KNOWN[dotted])
        return (self.worth(dotted) and self.exports(dotted, near)) or dotted

    def worth(self, dotted: str) -> bool:
        """Whether a name may mean a mark at all; others are not followed, which spares reading their modules."""
        last = dotted.rpartition(".")[2]
        return last in self.follow or _OURS(last) is not None

    def lookup(self, name: str, scope: Scope) -> Value:
        """What a name means in a scope; class bodies are not seen from within their functions."""
        here: Scope | None = scope
        while here is not None:
            if name in here.values and (here is scope or here.kind != "class"):
                return here.values[name]
            here = here.parent
        return self._starred(name, scope.outermost) if self.worth(name) else None

    def _starred(self, name: str, module: Scope) -> Value:
        """The mark that one of the module's star imports brings under the name."""
        values = (self.resolve(f"{source}.{name}", module.module) for source in reversed(module.stars))
        return next((value for value in values if isinstance(value, Mark)), None)

    def value(self, node: ast.expr | None, scope: Scope) -> Value:
        """What an expression stands for."""
        match node:
            case ast.Name(id=name):
                return self.lookup(name, scope)
            case ast.Attribute(value=inner, attr=attr):
                home = self.value(inner, scope)
                return self.resolve(f"{home}.{attr}", scope.module) if isinstance(home, str) else None
            case ast.Call():
                return self._called(node, scope)
        return None

    def _called(self, call: ast.Call, scope: Scope) -> Mark | None:
        """A call that gives a mark again: with options only, or ``functools.partial`` of one."""
        function = self.value(call.func, scope)
        if function in _PARTIALS and call.args:
            inner = self.value(call.args[0], scope)
            return inner if isinstance(inner, Mark) else None
        if isinstance(function, Mark) and function.made is None and subject(call) is None:
            return Mark(function.kind, called_at(call, scope))
        return None


def subject(call: ast.Call) -> ast.expr | None:
    """What a mark is applied to in a call."""
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "fun"), None)


def called_at(call: ast.Call, scope: Scope) -> Place:
    """The line that the called function sees in its caller's frame.

    The first line of the call, except that Python (3.11 on) gives a method call the line of the attribute, and takes
    for a method every attribute but that of a name which the module imports.
    """
    line = call.lineno
    if isinstance(call.func, ast.Attribute) and _is_method_call(call, call.func, scope):
        line = call.func.end_lineno or line
    return Place(scope.module.shown, line, call.col_offset)


def _is_method_call(call: ast.Call, function: ast.Attribute, scope: Scope) -> bool:
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    imported = isinstance(function.value, ast.Name) and function.value.id in scope.outermost.imported
    return not (starred or imported)


def held_under(node: ast.expr) -> str:
    """The name that an assignment gives, with that of an entry in double quotes: ``LOSSES["l2"]``."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=str(key))) if '"' not in key:
            return f'{text(value)}["{key}"]'
    return text(node)


def text(node: ast.expr | None, limit: int = 60) -> str:
    """An expression as a reader knows it: dotted, or shortened source."""
    if node is None:
        return "<nothing>"
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    source = " ".join(ast.unparse(node).split())
    return source if len(source) <= limit else source[: limit - 3] + "..."
