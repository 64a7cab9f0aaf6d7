"""Read the attributes that a test class sets up on ``self``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradhook.projects.migration.fragments import CannotMigrate

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
