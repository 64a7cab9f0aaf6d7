"""Which marks does an expression put on which functions?

Every mention of one of gradhook's decorators ends in a ``Use``: applied to something, or lost with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from gradhook.scan.names import Names, called_at, held_under, subject, text
from gradhook.scan.records import At, Found, Mark, Place, Scope, Use, bind, bound

HANDED = "handed to other code: the text does not tell which function it marks"
NEVER = "never applied to a function"


def visit(node: ast.AST | None, at: At, found: Found, names: Names) -> None:
    """Record every use of a mark in an expression."""
    waiting = [(node, at)]
    while waiting:  # no recursion for what needs none: sums and strings of a thousand terms occur
        node, here = waiting.pop()
        if node is not None and not _handled(node, here, found, names):
            inner = anonymous(here)
            waiting += [(child, inner) for child in reversed(list(ast.iter_child_nodes(node)))]


def _handled(node: ast.AST, at: At, found: Found, names: Names) -> bool:
    """Deal with the expressions that matter; the others only contain some."""
    match node:
        case ast.Call():
            _call(node, at, found, names)
        case ast.Name() | ast.Attribute():
            return _mention(node, at, found, names)
        case ast.Lambda():
            _lambda(node, at, found, names)
        case ast.NamedExpr(target=target, value=value):
            _walrus(target, value, at, found, names)
        case ast.Dict(keys=keys, values=values) if at.own and at.direct:
            _visit_all([key for key in keys if key], anonymous(at), found, names)
            for key, value in zip(keys, values, strict=True):
                visit(value, _entry(at, key), found, names)
        case ast.List(elts=values) | ast.Tuple(elts=values) if at.own and at.direct:
            for place, value in enumerate(values):
                visit(value, _entry(at, ast.Constant(place)), found, names)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            _visit_all(ast.iter_child_nodes(node), anonymous(at)._replace(scope=_comprehension(node, at)), found, names)
        case _:
            return False
    return True


def options(node: ast.expr, at: At, found: Found, names: Names) -> None:
    """Record the uses in the arguments of an expression that stands for a mark, not the mark itself."""
    if isinstance(node, ast.Call):
        options(node.func, at, found, names)
        rest = [a for a in node.args if not isinstance(names.value(a, at.scope), Mark)]
        _visit_all([*rest, *node.keywords], anonymous(at), found, names)


def lose(node: ast.expr, mark: Mark, reason: str, at: At, found: Found) -> None:
    """Record an annotation that never comes to a function; custom rules that do not are no rules yet."""
    if not mark.is_rule:
        found.uses.append(use(mark, node, at, at.prefix + text(_maker(node)), lost=reason))


def use(
    mark: Mark, node: ast.expr, at: At, qualname: str, *, made: Place | None = None, subject: str = "", lost: str = ""
) -> Use:
    """A use in an expression; ``made`` is where the annotation was called, if not just here."""
    place = made or mark.made or Place(at.scope.module.shown, node.lineno, node.col_offset)
    lines = frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return Use(mark, qualname, subject, node.lineno, place, lines, at, lost=lost)


def anonymous(at: At) -> At:
    """The same place, for an expression whose value gets no name and no mark from around it."""
    if at.own is None and at.direct and not at.group:
        return at
    return at._replace(own=None, direct=True, group=0)


def _visit_all(nodes: Iterable[ast.AST], at: At, found: Found, names: Names) -> None:
    for node in nodes:
        visit(node, at, found, names)


def _call(node: ast.Call, at: At, found: Found, names: Names) -> None:
    if isinstance(mark := names.value(node, at.scope), Mark):
        lose(node, mark, HANDED, at, found)
        options(node, at, found, names)
    elif isinstance(mark := names.value(node.func, at.scope), Mark):
        _apply(node, mark, at, found, names)
    else:
        _visit_all([node.func, *node.args[1:], *node.keywords], anonymous(at), found, names)
        _visit_all(node.args[:1], at._replace(direct=False), found, names)  # as in h = jax.jit(custom_jvp(g))


def _apply(node: ast.Call, mark: Mark, at: At, found: Found, names: Names) -> None:
    """A mark called on something: one use; what it is called on may be marked in turn."""
    marked = subject(node)
    at = at._replace(group=at.group or next(found.clock))
    innermost = _innermost(marked, at.scope, names)
    plain = _prefix(marked, at) + text(innermost)
    own = at.own if at.own and (at.direct or mark.is_rule) else None
    if own and "[" in own.name and (mark.is_rule or not isinstance(innermost, (ast.Lambda, ast.Call))):
        own = None  # an entry of a list or dictionary gives a name to what has none of its own
    qualname = at.prefix + own.name if own else plain
    made = mark.made or called_at(node, at.scope)
    one = use(mark, node, at._replace(own=own), qualname, made=made, subject=plain)
    means = names.value(marked, at.scope)
    found.uses.append(replace(one, means=means if isinstance(means, str) else ""))
    visit(marked, at, found, names)
    options(node.func, at, found, names)
    _visit_all([*node.args[1:], *(k for k in node.keywords if k.value is not marked)], anonymous(at), found, names)


def _innermost(node: ast.expr | None, scope: Scope, names: Names) -> ast.expr | None:
    """Under marks applied in a chain, the function itself."""
    while isinstance(node, ast.Call) and isinstance(names.value(node.func, scope), Mark) and subject(node):
        node = subject(node)
    return node


def _entry(at: At, key: ast.expr | None) -> At:
    """The place of an entry in a dictionary or list that gets a name."""
    if at.own is None or key is None:
        return anonymous(at)
    entry = held_under(ast.Subscript(ast.Name(at.own.name), key))
    return anonymous(at)._replace(own=replace(at.own, name=entry))


def _prefix(node: ast.expr | None, at: At) -> str:
    """The way to a name that the class or function around binds itself."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return at.prefix if isinstance(node, ast.Name) and node.id in at.scope.values else ""


def _mention(node: ast.Name | ast.Attribute, at: At, found: Found, names: Names) -> bool:
    if not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(mark := names.value(node, at.scope), Mark):
        lose(node, mark, HANDED, at, found)
    elif isinstance(node, ast.Attribute):  # gradcheck.__doc__ marks nothing
        return isinstance(names.value(node.value, at.scope), Mark)
    return True


def _lambda(node: ast.Lambda, at: At, found: Found, names: Names) -> None:
    _visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults)], anonymous(at), found, names)
    scope = Scope("function", at.scope.module, at.scope, dict.fromkeys(parameters(node.args)))
    dead = at.dead or "nested in a lambda: no import reaches it"
    visit(node.body, anonymous(at)._replace(scope=scope, dead=dead), found, names)


def parameters(node: ast.arguments) -> list[str]:
    """The names of all parameters."""
    return [a.arg for a in arguments(node)]


def arguments(node: ast.arguments) -> list[ast.arg]:
    """All parameters."""
    extra = [a for a in (node.vararg, node.kwarg) if a]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *extra]


def _comprehension(node: ast.AST, at: At) -> Scope:
    """A scope in which the loop variables of a comprehension mean nothing known."""
    bound = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return Scope("comprehension", at.scope.module, at.scope, dict.fromkeys(bound))


def _walrus(target: ast.Name, value: ast.expr, at: At, found: Found, names: Names) -> None:
    own = bound(target.id, target, at)
    known = names.value(value, at.scope)
    if isinstance(known, Mark):
        found.stored.append(use(known, value, at, at.prefix + target.id, lost=NEVER))
        options(value, at, found, names)
    else:
        visit(value, at if at.own else at._replace(own=own), found, names)
    bind(own, known, found)


def _maker(node: ast.expr) -> ast.expr:
    """The decorator without its options."""
    return _maker(node.func) if isinstance(node, ast.Call) else node
