"""Follow the statements of a module for decorators and bindings.

Statements are followed in their order, as an import would, function bodies after the module that they stand in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gradhook.scan.expressions import (
    NEVER_APPLIED,
    PASSED_ON,
    anonymous,
    arguments,
    new_use,
    options,
    parameters,
    record_unapplied,
    visit,
)
from gradhook.scan.modules import Module
from gradhook.scan.names import NameResolver, assigned_name, text
from gradhook.scan.records import Context, Decorator, ModuleScan, NameMeaning, Scope, bind, new_binding


def dead_branches(test: ast.expr) -> tuple[str, str]:
    """The reasons why no import executes the body and the ``else``; empty where one may."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            body, other = dead_branches(inner)
            return other, body
        case ast.BoolOp(op=ast.And(), values=values):
            return next(filter(None, (dead_branches(value)[0] for value in values)), ""), ""
        case ast.BoolOp(op=ast.Or(), values=values):
            return "", next(filter(None, (dead_branches(value)[1] for value in values)), "")
        case ast.Constant(value=value):
            reason = f"under a condition that is always {bool(value)}: never executed"
            return ("", reason) if value else (reason, "")
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return "under TYPE_CHECKING: only type checkers execute it", ""
        case ast.Compare(ops=[op], left=left, comparators=[right]) if "__name__" in map(_name, (left, right)):
            return _main(op, left, right)
    return "", ""


def _main(op: ast.cmpop, *sides: ast.expr) -> tuple[str, str]:
    if not any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides):
        return "", ""
    reason = 'under __name__ == "__main__": no import executes it'
    return ("", reason) if isinstance(op, ast.NotEq) else (reason, "") if isinstance(op, ast.Eq) else ("", "")


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


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


Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Walker:
    """The state that the whole walk shares; ``later`` are function bodies still to be walked."""

    found: ModuleScan
    names: NameResolver
    later: list[tuple[Sequence[ast.stmt], Context]] = field(default_factory=list)

    def visit(self, context: Context, *nodes: ast.AST | None) -> None:
        for node in nodes:
            visit(node, context, self.found, self.names)

    def value(self, node: ast.expr, context: Context) -> NameMeaning:
        return self.names.value(node, context.scope)

    def bind(self, name: str, node: ast.stmt | ast.expr, context: Context, value: NameMeaning = None) -> None:
        bind(new_binding(name, node, context), value, self.found)


def walk(found: ModuleScan, tree: ast.Module, names: NameResolver) -> ModuleScan:
    """Fill ``found``, which starts with the module's empty scope, from its syntax tree."""
    walker = _Walker(found, names)
    _block(tree.body, Context(found.scope), walker)
    while walker.later:
        body, context = walker.later.pop(0)
        _block(body, context, walker)
    return found


def module_scope(module: Module, tree: ast.Module) -> Scope:
    """The empty scope of a module."""
    return Scope("module", module, imported=frozenset(_imported(tree.body)))


def _imported(body: Iterable[ast.AST]) -> Iterable[str]:
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (a.asname or a.name.partition(".")[0] for a in node.names)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            yield from _imported(ast.iter_child_nodes(node))


def _block(body: Iterable[ast.stmt], context: Context, walk: _Walker) -> None:
    for node in body:
        _statement(node, context._replace(order=next(walk.found.counter)), walk)


def _statement(node: ast.stmt, context: Context, walk: _Walker) -> None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _function(node, context, walk)
        case ast.ClassDef():
            _class(node, context, walk)
        case ast.Import() | ast.ImportFrom():
            _import(node, context, walk)
        case ast.Assign(targets=targets, value=value):
            _assign(targets, value, context, walk)
        case ast.AnnAssign(target=target, annotation=hint, value=ast.expr() as value):
            _hints([hint], context, walk)
            _assign([target], value, context, walk)
        case ast.Delete(targets=targets):
            _delete(targets, context, walk)
        case ast.Expr(value=value) if isinstance(decorator := walk.value(value, context), Decorator):
            reason = NEVER_APPLIED if isinstance(value, ast.Call) else PASSED_ON
            record_unapplied(value, decorator, reason, context, walk.found)
            options(value, context, walk.found, walk.names)
        case _:
            _compound(node, context, walk)


def _compound(node: ast.stmt, context: Context, walk: _Walker) -> None:
    """Walk a statement with blocks, or a plain one of which only the expressions matter."""
    match node:
        case ast.If(test=test) | ast.While(test=test):
            walk.visit(context, test)
            body, other = dead_branches(test)
            _branch(node, "body", node.body, context._replace(dead=context.dead or body), walk)
            _branch(node, "else", node.orelse, context._replace(dead=context.dead or other), walk)
        case ast.For() | ast.AsyncFor():
            walk.visit(context, node.iter)
            _bind_targets([node.target], context, walk)
            _branch(node, "body", node.body, context, walk)
            _branch(node, "else", node.orelse, context, walk)
        case ast.With() | ast.AsyncWith():
            walk.visit(context, *(item.context_expr for item in node.items))
            _bind_targets([item.optional_vars for item in node.items if item.optional_vars], context, walk)
            _block(node.body, context, walk)
        case ast.Try() | ast.TryStar():
            _try(node, context, walk)
        case ast.Match():
            _match(node, context, walk)
        case ast.Return(value=ast.expr() as value):
            walk.found.returned.add((context.prefix, text(value) if isinstance(value, ast.Name) else value.lineno))
            walk.visit(anonymous(context), value)
        case _:
            walk.visit(anonymous(context), *ast.iter_child_nodes(node))


def _branch(node: ast.AST, which: str, body: Iterable[ast.stmt], context: Context, walk: _Walker) -> None:
    _block(body, context._replace(branch=(*context.branch, (id(node), which))), walk)


def _try(node: ast.Try | ast.TryStar, context: Context, walk: _Walker) -> None:
    _branch(node, "body", node.body, context, walk)
    for number, handler in enumerate(node.handlers):
        walk.visit(context, handler.type)
        _branch(node, f"except {number}", handler.body, context, walk)
    _branch(node, "body", node.orelse, context, walk)
    _block(node.finalbody, context, walk)


def _match(node: ast.Match, context: Context, walk: _Walker) -> None:
    walk.visit(context, node.subject)
    for number, case in enumerate(node.cases):
        walk.visit(context, case.guard)
        _branch(node, f"case {number}", case.body, context, walk)


def _function(node: Function, context: Context, walk: _Walker) -> None:
    binding = new_binding(node.name, node, context, node.decorator_list)
    _decorators(node, context._replace(binding=binding), walk)
    walk.visit(context, *node.args.defaults, *node.args.kw_defaults)
    hints = (arg.annotation for arg in arguments(node.args))
    _hints([*hints, node.returns, *getattr(node, "type_params", ())], context, walk)
    bind(binding, None, walk.found)
    name = context.prefix + node.name
    if annotates_shapes(node.args, context.scope):
        walk.found.shaped.add(name)
    scope = Scope("function", context.scope.module, context.scope, dict.fromkeys(parameters(node.args)))
    dead = context.dead or f"nested in the function {name}: no import reaches it"
    walk.later.append((node.body, Context(scope, f"{name}.<locals>.", dead=dead)))


def _hints(nodes: Iterable[ast.AST | None], context: Context, walk: _Walker) -> None:
    """Visit type hints: a decorator in one may be meant as a type, but a call is executed."""
    called = (node for node in nodes if node and any(isinstance(inner, ast.Call) for inner in ast.walk(node)))
    walk.visit(anonymous(context), *called)


def _class(node: ast.ClassDef, context: Context, walk: _Walker) -> None:
    binding = new_binding(node.name, node, context, node.decorator_list)
    _decorators(node, context._replace(binding=binding), walk)
    walk.visit(context, *node.bases, *node.keywords)
    scope = Scope("class", context.scope.module, context.scope)
    classes = (*context.class_bindings, binding)
    inside = Context(scope, f"{context.prefix}{node.name}.", dead=context.dead, class_bindings=classes)
    _block(node.body, inside, walk)
    bind(binding, None, walk.found)


def _decorators(node: Function | ast.ClassDef, context: Context, walk: _Walker) -> None:
    """Record one use for each decorator on the same function; they share a group."""
    context = context._replace(group=next(walk.found.counter))
    for expression in node.decorator_list:
        decorator = walk.value(expression, context)
        if isinstance(decorator, Decorator):
            name = context.prefix + node.name
            one_use = new_use(decorator, expression, context, name, subject=name)
            lines = one_use.lines | {node.lineno}
            walk.found.uses.append(replace(one_use, line=node.lineno, lines=lines, decorates=True))
            options(expression, context, walk.found, walk.names)
        else:
            walk.visit(anonymous(context), expression)


def _import(node: ast.Import | ast.ImportFrom, context: Context, walk: _Walker) -> None:
    module = context.scope.module
    home = "" if isinstance(node, ast.Import) else module.absolute(node.module or "", node.level)
    for alias in node.names:
        if isinstance(node, ast.Import):
            top = alias.name.partition(".")[0]
            walk.bind(alias.asname or top, node, context, alias.name if alias.asname else top)
        elif alias.name == "*":
            context.scope.stars.append(home)
        else:
            walk.bind(alias.asname or alias.name, node, context, walk.names.resolve(f"{home}.{alias.name}", module))


def _assign(targets: Sequence[ast.expr], value: ast.expr, context: Context, walk: _Walker) -> None:
    known = walk.value(value, context)
    if isinstance(known, Decorator):
        _store(targets, value, known, context, walk)
    elif (pairs := _pairs(targets, value)) is not None:
        for target, part in pairs:
            _assign([target], part, context, walk)
        return
    else:
        named = (target for target in targets if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)))
        name = next(map(assigned_name, named), None)
        binding = new_binding(name, value, context) if name else None
        if name and context.scope.kind == "module" and not context.dead and isinstance(value, ast.Call):
            walk.found.factory_calls.append((text(value.func), name))
        walk.visit(context._replace(binding=binding), value)
    _bind_targets(targets, context, walk, known, value)


def _pairs(targets: Sequence[ast.expr], value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """The pairs of ``a, b = f, g``; ``None`` where targets and values cannot be paired."""
    match targets, value:
        case [ast.Tuple(elts=names) | ast.List(elts=names)], ast.Tuple(elts=parts) | ast.List(elts=parts):
            plain = len(names) == len(parts) and not any(isinstance(n, ast.Starred) for n in (*names, *parts))
            return list(zip(names, parts, strict=True)) if plain else None
    return None


def _store(targets: Sequence[ast.expr], value: ast.expr, decorator: Decorator, context: Context, walk: _Walker) -> None:
    """Record a decorator bound to a name: an alias, or one to be applied later."""
    if not isinstance(targets[0], ast.Name):
        record_unapplied(value, decorator, PASSED_ON, context, walk.found)
    elif decorator.site and isinstance(value, ast.Call):
        name = context.prefix + targets[0].id
        walk.found.stored.append(new_use(decorator, value, context, name, unapplied=NEVER_APPLIED))
    options(value, context, walk.found, walk.names)


def _bind_targets(
    targets: Iterable[ast.expr],
    context: Context,
    walk: _Walker,
    value: NameMeaning = None,
    source: ast.expr | None = None,
) -> None:
    for target in targets:
        match target:
            case ast.Name(id=name):
                bind(new_binding(name, target, context, [source] if source else []), value, walk.found)
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                _bind_targets(inner, context, walk, None, source)
            case ast.Starred(value=starred):
                _bind_targets([starred], context, walk, None, source)
            case _:
                walk.visit(anonymous(context), *ast.iter_child_nodes(target))


def _delete(targets: Iterable[ast.expr], context: Context, walk: _Walker) -> None:
    for target in targets:
        match target:
            case ast.Name(id=name):
                bind(new_binding(name, target, context, deleted=True), None, walk.found)
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                _delete(inner, context, walk)
            case _:
                walk.visit(anonymous(context), *ast.iter_child_nodes(target))
