"""Find the branches of a condition that no import executes."""

from __future__ import annotations

import ast


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
