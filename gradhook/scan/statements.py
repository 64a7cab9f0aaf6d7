"""Which marks does a module put on which functions, and which names does it bind again?

Statements are followed in their order, as an import would, function bodies after the module that they stand in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gradhook.scan.branches import dead_branches
from gradhook.scan.expressions import HANDED, NEVER, anonymous, arguments, lose, options, parameters, use, visit
from gradhook.scan.modules import Module
from gradhook.scan.names import Names, held_under, text
from gradhook.scan.parameters import says_shapes
from gradhook.scan.records import At, Found, Mark, Scope, Value, bind, bound

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Walk:
    """What all of the walk shares; ``later`` are function bodies still to be walked."""

    found: Found
    names: Names
    later: list[tuple[Sequence[ast.stmt], At]] = field(default_factory=list)

    def visit(self, at: At, *nodes: ast.AST | None) -> None:
        for node in nodes:
            visit(node, at, self.found, self.names)

    def value(self, node: ast.expr, at: At) -> Value:
        return self.names.value(node, at.scope)

    def bind(self, name: str, node: ast.stmt | ast.expr, at: At, value: Value = None) -> None:
        bind(bound(name, node, at), value, self.found)


def walk(found: Found, tree: ast.Module, names: Names) -> Found:
    """Fill ``found``, which starts with the empty scope of the module, from its syntax tree."""
    walk_ = _Walk(found, names)
    _block(tree.body, At(found.scope), walk_)
    while walk_.later:
        body, at = walk_.later.pop(0)
        _block(body, at, walk_)
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


def _block(body: Iterable[ast.stmt], at: At, walk: _Walk) -> None:
    for node in body:
        _statement(node, at._replace(order=next(walk.found.clock)), walk)


def _statement(node: ast.stmt, at: At, walk: _Walk) -> None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _function(node, at, walk)
        case ast.ClassDef():
            _class(node, at, walk)
        case ast.Import() | ast.ImportFrom():
            _import(node, at, walk)
        case ast.Assign(targets=targets, value=value):
            _assign(targets, value, at, walk)
        case ast.AnnAssign(target=target, annotation=hint, value=ast.expr() as value):
            _hints([hint], at, walk)
            _assign([target], value, at, walk)
        case ast.Delete(targets=targets):
            _delete(targets, at, walk)
        case ast.Expr(value=value) if isinstance(mark := walk.value(value, at), Mark):
            lose(value, mark, NEVER if isinstance(value, ast.Call) else HANDED, at, walk.found)
            options(value, at, walk.found, walk.names)
        case _:
            _compound(node, at, walk)


def _compound(node: ast.stmt, at: At, walk: _Walk) -> None:
    """A statement with blocks in it, or a plain one in which only the expressions matter."""
    match node:
        case ast.If(test=test) | ast.While(test=test):
            walk.visit(at, test)
            body, other = dead_branches(test)
            _branch(node, "body", node.body, at._replace(dead=at.dead or body), walk)
            _branch(node, "else", node.orelse, at._replace(dead=at.dead or other), walk)
        case ast.For() | ast.AsyncFor():
            walk.visit(at, node.iter)
            _bind_targets([node.target], at, walk)
            _branch(node, "body", node.body, at, walk)
            _branch(node, "else", node.orelse, at, walk)
        case ast.With() | ast.AsyncWith():
            walk.visit(at, *(item.context_expr for item in node.items))
            _bind_targets([item.optional_vars for item in node.items if item.optional_vars], at, walk)
            _block(node.body, at, walk)
        case ast.Try() | ast.TryStar():
            _try(node, at, walk)
        case ast.Match():
            _match(node, at, walk)
        case ast.Return(value=ast.expr() as value):
            walk.found.returned.add((at.prefix, text(value) if isinstance(value, ast.Name) else value.lineno))
            walk.visit(anonymous(at), value)
        case _:
            walk.visit(anonymous(at), *ast.iter_child_nodes(node))


def _branch(node: ast.AST, which: str, body: Iterable[ast.stmt], at: At, walk: _Walk) -> None:
    _block(body, at._replace(branch=(*at.branch, (id(node), which))), walk)


def _try(node: ast.Try | ast.TryStar, at: At, walk: _Walk) -> None:
    _branch(node, "body", node.body, at, walk)
    for number, handler in enumerate(node.handlers):
        walk.visit(at, handler.type)
        _branch(node, f"except {number}", handler.body, at, walk)
    _branch(node, "body", node.orelse, at, walk)
    _block(node.finalbody, at, walk)


def _match(node: ast.Match, at: At, walk: _Walk) -> None:
    walk.visit(at, node.subject)
    for number, case in enumerate(node.cases):
        walk.visit(at, case.guard)
        _branch(node, f"case {number}", case.body, at, walk)


def _function(node: Function, at: At, walk: _Walk) -> None:
    own = bound(node.name, node, at, node.decorator_list)
    _decorators(node, at._replace(own=own), walk)
    walk.visit(at, *node.args.defaults, *node.args.kw_defaults)
    hints = (arg.annotation for arg in arguments(node.args))
    _hints([*hints, node.returns, *getattr(node, "type_params", ())], at, walk)
    bind(own, None, walk.found)
    name = at.prefix + node.name
    if says_shapes(node.args, at.scope):
        walk.found.shaped.add(name)
    scope = Scope("function", at.scope.module, at.scope, dict.fromkeys(parameters(node.args)))
    dead = at.dead or f"nested in the function {name}: no import reaches it"
    walk.later.append((node.body, At(scope, f"{name}.<locals>.", dead=dead)))


def _hints(nodes: Iterable[ast.AST | None], at: At, walk: _Walk) -> None:
    """Type hints: a decorator in one may be meant as a type, but a call is executed."""
    called = (node for node in nodes if node and any(isinstance(inner, ast.Call) for inner in ast.walk(node)))
    walk.visit(anonymous(at), *called)


def _class(node: ast.ClassDef, at: At, walk: _Walk) -> None:
    own = bound(node.name, node, at, node.decorator_list)
    _decorators(node, at._replace(own=own), walk)
    walk.visit(at, *node.bases, *node.keywords)
    scope = Scope("class", at.scope.module, at.scope)
    inside = At(scope, f"{at.prefix}{node.name}.", dead=at.dead, bounds=(*at.bounds, own))
    _block(node.body, inside, walk)
    bind(own, None, walk.found)


def _decorators(node: Function | ast.ClassDef, at: At, walk: _Walk) -> None:
    """One use for each decorator that is a mark; they share a group."""
    at = at._replace(group=next(walk.found.clock))
    for decorator in node.decorator_list:
        mark = walk.value(decorator, at)
        if isinstance(mark, Mark):
            one = use(mark, decorator, at, at.prefix + node.name, subject=at.prefix + node.name)
            walk.found.uses.append(replace(one, line=node.lineno, lines=one.lines | {node.lineno}, decorates=True))
            options(decorator, at, walk.found, walk.names)
        else:
            walk.visit(anonymous(at), decorator)


def _import(node: ast.Import | ast.ImportFrom, at: At, walk: _Walk) -> None:
    module = at.scope.module
    home = "" if isinstance(node, ast.Import) else module.absolute(node.module or "", node.level)
    for alias in node.names:
        if isinstance(node, ast.Import):
            top = alias.name.partition(".")[0]
            walk.bind(alias.asname or top, node, at, alias.name if alias.asname else top)
        elif alias.name == "*":
            at.scope.stars.append(home)
        else:
            walk.bind(alias.asname or alias.name, node, at, walk.names.resolve(f"{home}.{alias.name}", module))


def _assign(targets: Sequence[ast.expr], value: ast.expr, at: At, walk: _Walk) -> None:
    known = walk.value(value, at)
    if isinstance(known, Mark):
        _store(targets, value, known, at, walk)
    elif (pairs := _pairs(targets, value)) is not None:
        for target, part in pairs:
            _assign([target], part, at, walk)
        return
    else:
        name = next((held_under(t) for t in targets if isinstance(t, (ast.Name, ast.Attribute, ast.Subscript))), None)
        own = bound(name, value, at) if name else None
        if name and at.scope.kind == "module" and not at.dead and isinstance(value, ast.Call):
            walk.found.products.append((text(value.func), name))
        walk.visit(at._replace(own=own), value)
    _bind_targets(targets, at, walk, known, value)


def _pairs(targets: Sequence[ast.expr], value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """``a, b = f, g`` name by name; ``None`` where the text does not say what goes where."""
    match targets, value:
        case [ast.Tuple(elts=names) | ast.List(elts=names)], ast.Tuple(elts=parts) | ast.List(elts=parts):
            plain = len(names) == len(parts) and not any(isinstance(n, ast.Starred) for n in (*names, *parts))
            return list(zip(names, parts, strict=True)) if plain else None
    return None


def _store(targets: Sequence[ast.expr], value: ast.expr, mark: Mark, at: At, walk: _Walk) -> None:
    """A decorator put under a name: an alias, or one to be applied later."""
    if not isinstance(targets[0], ast.Name):
        lose(value, mark, HANDED, at, walk.found)
    elif mark.made and isinstance(value, ast.Call):
        walk.found.stored.append(use(mark, value, at, at.prefix + targets[0].id, lost=NEVER))
    options(value, at, walk.found, walk.names)


def _bind_targets(
    targets: Iterable[ast.expr], at: At, walk: _Walk, value: Value = None, source: ast.expr | None = None
) -> None:
    for target in targets:
        match target:
            case ast.Name(id=name):
                bind(bound(name, target, at, [source] if source else []), value, walk.found)
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                _bind_targets(inner, at, walk, None, source)
            case ast.Starred(value=starred):
                _bind_targets([starred], at, walk, None, source)
            case _:
                walk.visit(anonymous(at), *ast.iter_child_nodes(target))


def _delete(targets: Iterable[ast.expr], at: At, walk: _Walk) -> None:
    for target in targets:
        match target:
            case ast.Name(id=name):
                bind(bound(name, target, at, deleted=True), None, walk.found)
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                _delete(inner, at, walk)
            case _:
                walk.visit(anonymous(at), *ast.iter_child_nodes(target))
