"""Find gradhook's decorators and JAX's custom rules in expressions.

Every mention of one of gradhook's decorators ends in a ``DecoratorUse``: applied to something, or lost with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from gradhook.scan.names import NameResolver, assigned_name, call_site_of, decorated_argument, text
from gradhook.scan.records import CallSite, Context, Decorator, DecoratorUse, ModuleScan, Scope, bind, new_binding

PASSED_ON = "handed to other code: the text does not tell which function it marks"
NEVER_APPLIED = "never applied to a function"


def visit(node: ast.AST | None, context: Context, found: ModuleScan, names: NameResolver) -> None:
    """Record every use of a decorator in an expression."""
    waiting = [(node, context)]
    while waiting:  # no recursion for what needs none: sums and strings of a thousand terms occur
        node, here = waiting.pop()
        if node is not None and not _visit_known(node, here, found, names):
            inner = anonymous(here)
            waiting += [(child, inner) for child in reversed(list(ast.iter_child_nodes(node)))]


def _visit_known(node: ast.AST, context: Context, found: ModuleScan, names: NameResolver) -> bool:
    """Record the uses in expressions of a known form; False for others, whose parts are visited."""
    match node:
        case ast.Call():
            _call(node, context, found, names)
        case ast.Name() | ast.Attribute():
            return _mention(node, context, found, names)
        case ast.Lambda():
            _lambda(node, context, found, names)
        case ast.NamedExpr(target=target, value=value):
            _walrus(target, value, context, found, names)
        case ast.Dict(keys=keys, values=values) if context.binding and context.direct:
            _visit_all([key for key in keys if key], anonymous(context), found, names)
            for key, value in zip(keys, values, strict=True):
                visit(value, _entry(context, key), found, names)
        case ast.List(elts=values) | ast.Tuple(elts=values) if context.binding and context.direct:
            for place, value in enumerate(values):
                visit(value, _entry(context, ast.Constant(place)), found, names)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            inside = anonymous(context)._replace(scope=_comprehension(node, context))
            _visit_all(ast.iter_child_nodes(node), inside, found, names)
        case _:
            return False
    return True


def options(node: ast.expr, context: Context, found: ModuleScan, names: NameResolver) -> None:
    """Record the uses in the arguments of an expression that is a decorator, not the decorator itself."""
    if isinstance(node, ast.Call):
        options(node.func, context, found, names)
        rest = [a for a in node.args if not isinstance(names.value(a, context.scope), Decorator)]
        _visit_all([*rest, *node.keywords], anonymous(context), found, names)


def record_unapplied(node: ast.expr, decorator: Decorator, reason: str, context: Context, found: ModuleScan) -> None:
    """Record a decorator of gradhook that reaches no function; unapplied custom rules are no rules yet."""
    if not decorator.is_rule:
        qualname = context.prefix + text(_without_options(node))
        found.uses.append(new_use(decorator, node, context, qualname, unapplied=reason))


def new_use(
    decorator: Decorator,
    node: ast.expr,
    context: Context,
    qualname: str,
    *,
    site: CallSite | None = None,
    subject: str = "",
    unapplied: str = "",
) -> DecoratorUse:
    """A use in an expression; ``site`` is where the decorator was called, if elsewhere."""
    place = site or decorator.site or CallSite(context.scope.module.shown, node.lineno, node.col_offset)
    lines = frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return DecoratorUse(decorator, qualname, subject, node.lineno, place, lines, context, unapplied=unapplied)


def anonymous(context: Context) -> Context:
    """The same context for an expression whose value gets no name and no decorator from outside."""
    if context.binding is None and context.direct and not context.group:
        return context
    return context._replace(binding=None, direct=True, group=0)


def _visit_all(nodes: Iterable[ast.AST], context: Context, found: ModuleScan, names: NameResolver) -> None:
    for node in nodes:
        visit(node, context, found, names)


def _call(node: ast.Call, context: Context, found: ModuleScan, names: NameResolver) -> None:
    if isinstance(decorator := names.value(node, context.scope), Decorator):
        record_unapplied(node, decorator, PASSED_ON, context, found)
        options(node, context, found, names)
    elif isinstance(decorator := names.value(node.func, context.scope), Decorator):
        _apply(node, decorator, context, found, names)
    else:
        _visit_all([node.func, *node.args[1:], *node.keywords], anonymous(context), found, names)
        _visit_all(node.args[:1], context._replace(direct=False), found, names)  # as in h = jax.jit(custom_jvp(g))


def _apply(node: ast.Call, decorator: Decorator, context: Context, found: ModuleScan, names: NameResolver) -> None:
    """Record a decorator that is called on something; its argument may be decorated in turn."""
    marked = decorated_argument(node)
    context = context._replace(group=context.group or next(found.counter))
    innermost = _innermost(marked, context.scope, names)
    plain = _prefix(marked, context) + text(innermost)
    binding = context.binding if context.binding and (context.direct or decorator.is_rule) else None
    if binding and "[" in binding.name and (decorator.is_rule or not isinstance(innermost, (ast.Lambda, ast.Call))):
        binding = None  # an entry of a list or dictionary gives a name to what has none of its own
    qualname = context.prefix + binding.name if binding else plain
    site = decorator.site or call_site_of(node, context.scope)
    one = new_use(decorator, node, context._replace(binding=binding), qualname, site=site, subject=plain)
    imported_name = names.value(marked, context.scope)
    found.uses.append(replace(one, imported_name=imported_name if isinstance(imported_name, str) else ""))
    visit(marked, context, found, names)
    options(node.func, context, found, names)
    _visit_all([*node.args[1:], *(k for k in node.keywords if k.value is not marked)], anonymous(context), found, names)


def _innermost(node: ast.expr | None, scope: Scope, names: NameResolver) -> ast.expr | None:
    """The function itself under decorators applied in a chain."""
    while (
        isinstance(node, ast.Call) and isinstance(names.value(node.func, scope), Decorator) and decorated_argument(node)
    ):
        node = decorated_argument(node)
    return node


def _entry(context: Context, key: ast.expr | None) -> Context:
    """The context of an entry in a dictionary or list that is bound to a name."""
    if context.binding is None or key is None:
        return anonymous(context)
    entry = assigned_name(ast.Subscript(ast.Name(context.binding.name), key))
    return anonymous(context)._replace(binding=replace(context.binding, name=entry))


def _prefix(node: ast.expr | None, context: Context) -> str:
    """The qualified-name prefix of a name that the enclosing class or function binds itself."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return context.prefix if isinstance(node, ast.Name) and node.id in context.scope.values else ""


def _mention(node: ast.Name | ast.Attribute, context: Context, found: ModuleScan, names: NameResolver) -> bool:
    if not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(decorator := names.value(node, context.scope), Decorator):
        record_unapplied(node, decorator, PASSED_ON, context, found)
    elif isinstance(node, ast.Attribute):  # gradcheck.__doc__ marks nothing
        return isinstance(names.value(node.value, context.scope), Decorator)
    return True


def _lambda(node: ast.Lambda, context: Context, found: ModuleScan, names: NameResolver) -> None:
    _visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults)], anonymous(context), found, names)
    scope = Scope("function", context.scope.module, context.scope, dict.fromkeys(parameters(node.args)))
    dead = context.dead or "nested in a lambda: no import reaches it"
    visit(node.body, anonymous(context)._replace(scope=scope, dead=dead), found, names)


def parameters(node: ast.arguments) -> list[str]:
    """The names of all parameters."""
    return [a.arg for a in arguments(node)]


def arguments(node: ast.arguments) -> list[ast.arg]:
    """All parameters."""
    extra = [a for a in (node.vararg, node.kwarg) if a]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *extra]


def _comprehension(node: ast.AST, context: Context) -> Scope:
    """A scope in which the loop variables of a comprehension have no known meaning."""
    loop_variables = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return Scope("comprehension", context.scope.module, context.scope, dict.fromkeys(loop_variables))


def _walrus(target: ast.Name, value: ast.expr, context: Context, found: ModuleScan, names: NameResolver) -> None:
    binding = new_binding(target.id, target, context)
    known = names.value(value, context.scope)
    if isinstance(known, Decorator):
        found.stored.append(new_use(known, value, context, context.prefix + target.id, unapplied=NEVER_APPLIED))
        options(value, context, found, names)
    else:
        visit(value, context if context.binding else context._replace(binding=binding), found, names)
    bind(binding, known, found)


def _without_options(node: ast.expr) -> ast.expr:
    """The decorator without its options."""
    return _without_options(node.func) if isinstance(node, ast.Call) else node
