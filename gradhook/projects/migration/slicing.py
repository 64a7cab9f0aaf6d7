"""Find the statements of a test that an expression depends on, as a backward slice.

From the call upwards through the blocks around it, then through the module. What is only known at run time (a fixture,
a loop's variable, ``self``) raises ``CannotMigrate`` with the reason.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from itertools import pairwise

from gradhook.projects.migration.fragments import Call, CannotMigrate, Fragments, TestFile

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


_BEFORE = ("setUp", "setup_method", "setup")
_Given = ast.Assign | ast.AnnAssign
_SELF = 'self = type("Self", (), {})()'


def set_up(owner: ast.ClassDef, users: Iterable[ast.AST]) -> list[ast.stmt]:
    """The statements that set the attributes of ``self`` that the users read.

    Raises:
        CannotMigrate: it is not the method that runs before each test that gives it, in so many words.
    """
    method = next((node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name in _BEFORE), None)
    body = method.body if method else []
    given = {name for statement in body if isinstance(statement, _Given) for name in _own(statement, ast.Store)}
    read = {name for user in (*users, *body) for name in _own(user, ast.Load)}
    if missing := read - given:
        raise CannotMigrate(f"it needs the test's `self.{min(missing)}`")
    return [*ast.parse(_SELF).body, *body]


def _own(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """The attributes of ``self`` that a piece of code reads, or writes."""
    found = (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, context))
    return {n.attr for n in found if isinstance(n.value, ast.Name) and n.value.id == "self"}


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BUILT_IN = frozenset(dir(builtins))
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def fragments_of(expressions: Iterable[ast.expr], call: Call, test: TestFile) -> Fragments:
    """The statements that the expressions of a call depend on.

    Raises:
        CannotMigrate: something is only known when the test runs.
    """
    wanted = tuple(expressions)
    local, needed = _upwards(wanted, call)
    found, lost = _module(needed, test.tree)
    if lost:
        raise CannotMigrate(f"`{min(lost)}` is not defined in the file")
    imports = [line for statement in (*found, *local) for line in _imported(statement, needed | _names(found, local))]
    return Fragments(_plain(local), _plain(found), tuple(dict.fromkeys(imports)))


def _upwards(wanted: tuple[ast.expr, ...], call: Call) -> tuple[list[ast.stmt], set[str]]:
    """The needed statements before the call, in order, and the names that are still undefined."""
    needed = {name for expression in wanted for name in free(expression)}
    taken: list[ast.stmt] = []
    around = (*call.around, call.node)
    in_function = bool(call.functions)
    for outer, inner in reversed(list(pairwise(around))):
        if isinstance(outer, ast.Module) and in_function:
            break
        before = _before(outer, inner)
        if isinstance(outer, ast.ClassDef):
            before = set_up(outer, (*wanted, *taken)) if "self" in needed else []
        for statement in reversed(before):
            needed = _take(statement, needed, taken)
        _cross(outer, needed, in_class=_is_method(outer, around))
    return taken[::-1], needed


def _is_method(outer: ast.AST, around: tuple[ast.AST, ...]) -> bool:
    return any(isinstance(owner, ast.ClassDef) and outer in owner.body for owner in around)


def _before(outer: ast.AST, inner: ast.AST) -> list[ast.stmt]:
    """The statements of a block before one of them."""
    for field in _BLOCKS:
        block = getattr(outer, field, None)
        if isinstance(block, list) and any(statement is inner for statement in block):
            return block[: next(n for n, statement in enumerate(block) if statement is inner)]
    return []


def _take(statement: ast.stmt, needed: set[str], taken: list[ast.stmt]) -> set[str]:
    """Keep the statement if it binds or changes a needed name; return what is needed above it."""
    bound = binds(statement)
    changed = _changed(statement)
    if not needed & (bound | changed):
        return needed
    if not isinstance(statement, (*_SIMPLE, ast.Import, ast.ImportFrom)) and bound & needed:
        name, kind = min(bound & needed), type(statement).__name__.lower()
        raise CannotMigrate(f"`{name}` comes from the `{kind}` on line {statement.lineno}")
    taken.append(statement)
    keeps = isinstance(statement, ast.AugAssign) or not bound
    return (needed if keeps else needed - bound) | free(statement) - (bound if _defines(statement) else set())


def _defines(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _changed(statement: ast.stmt) -> set[str]:
    """The names that a statement may change in place.

    ``x[0] = …``, ``rng.seed(0)``, ``@f.defjvp``; reads in assertions do not count.
    """
    match statement:
        case ast.FunctionDef(decorator_list=marks):
            return {_root(mark) for mark in marks if isinstance(mark, ast.Attribute) and _is_change(mark)}
        case ast.Assign(targets=targets):
            return {root for target in targets for root in _inside(target)}
        case ast.AnnAssign(target=ast.Attribute() | ast.Subscript() as target) | ast.AugAssign(target=target):
            return {_root(target)}
        case ast.Expr(value=ast.Call(func=ast.Attribute() as function)) if _is_change(function):
            return {_root(function)}
    return set()


def _is_change(function: ast.Attribute) -> bool:
    inside = isinstance(function.value, ast.Name) and function.attr in ("append", "update")
    return inside or function.attr == "seed" or function.attr.startswith("def")


def _inside(target: ast.expr) -> set[str]:
    """The names whose item or attribute a target changes."""
    return {_root(n) for n in ast.walk(target) if isinstance(n, (ast.Attribute, ast.Subscript)) and _is_stored(n)}


def _is_stored(node: ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _cross(outer: ast.AST, needed: set[str], *, in_class: bool) -> None:
    """Refuse names that a block around the call provides at run time."""
    match outer:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            _parameters(outer, needed - {"self"} if in_class else needed)
        case ast.For(target=target) | ast.AsyncFor(target=target) | ast.comprehension(target=target):
            _given(target, needed, f"the variable of the loop on line {target.lineno}")
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    _given(item.optional_vars, needed, f"given by the `with` on line {item.context_expr.lineno}")
        case ast.ListComp(generators=loops) | ast.SetComp(generators=loops) | ast.GeneratorExp(generators=loops):
            for loop in loops:
                _given(loop.target, needed, f"the variable of the loop on line {loop.target.lineno}")


def _given(target: ast.expr, needed: set[str], how: str) -> None:
    names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)} & needed
    if names:
        raise CannotMigrate(f"`{min(names)}` is {how}")


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, needed: set[str]) -> None:
    name = next((name for name in parameters(function.args) if name in needed), "")
    if not name:
        return
    whose = f"`{function.name}`" if not isinstance(function, ast.Lambda) else "a lambda"
    marks = "" if isinstance(function, ast.Lambda) else " ".join(map(ast.unparse, function.decorator_list))
    if "param" in marks.lower():
        raise CannotMigrate(f"`{name}` comes from the parametrization of {whose}: write one case for each value")
    raise CannotMigrate(f"`{name}` is a parameter of {whose}")


def _module(needed: set[str], tree: ast.Module) -> tuple[list[ast.stmt], set[str]]:
    """The module's statements that the names need, in order, and the names without a definition."""
    meanings = [(statement, binds(statement) | _changed(statement)) for statement in tree.body]
    found: set[int] = set()
    todo, done = set(needed), set[str]()
    while todo := todo - done:
        name = min(todo)
        done.add(name)
        for number, (statement, bound) in enumerate(meanings):
            if name in bound and number not in found:
                if name in binds(statement):
                    _refuse_compound(statement, name)
                found.add(number)
                todo |= free(statement) if not isinstance(statement, (ast.Import, ast.ImportFrom)) else set()
    explained = {name for number in found for name in meanings[number][1]}
    lost = done - explained - _BUILT_IN
    stars = {n for n, (s, _) in enumerate(meanings) if isinstance(s, ast.ImportFrom) and s.names[0].name == "*"}
    if lost and stars:
        return [meanings[n][0] for n in sorted(found | stars)], set()
    return [meanings[n][0] for n in sorted(found)], lost


def _refuse_compound(statement: ast.stmt, name: str) -> None:
    if not isinstance(statement, (*_SIMPLE, ast.Import, ast.ImportFrom)):
        raise CannotMigrate(f"`{name}` comes from the `{type(statement).__name__.lower()}` on line {statement.lineno}")


def _names(*groups: list[ast.stmt]) -> set[str]:
    return {
        name for group in groups for s in group if not isinstance(s, (ast.Import, ast.ImportFrom)) for name in free(s)
    }


def _imported(statement: ast.stmt, needed: set[str]) -> list[str]:
    """Each needed import of a statement as a line of its own."""
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return []
    wanted = [a for a in statement.names if a.name == "*" or (a.asname or a.name.partition(".")[0]) in needed]
    return [_one_import(statement, alias) for alias in wanted]


def _one_import(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(statement, ast.Import):
        return ast.unparse(ast.Import([alias]))
    return ast.unparse(ast.ImportFrom(statement.module, [alias], statement.level))


def _plain(statements: list[ast.stmt]) -> tuple[ast.stmt, ...]:
    return tuple(s for s in statements if not isinstance(s, (ast.Import, ast.ImportFrom)))
