"""Which claim says what a call says, and what is left for somebody to do where the text does not tell?"""

from __future__ import annotations

import ast
import re

from gradhook.projects.migration import call_arguments, codegen
from gradhook.projects.migration.call_arguments import Asked
from gradhook.projects.migration.calls import imports
from gradhook.projects.migration.fragments import Answer, Call, Status, Stuck, Test
from gradhook.projects.migration.slicing import pieces

_CHEX = "chex replaces stop_gradient by ones during the check; here it stays what it is"
_REFUSES = re.compile(r"\b(raises|assertRaises\w*)\b")
_NOT_RUN = re.compile(r"\b(skip|xfail|expectedFailure)\b")


def translate(call: Call, test: Test, taken: set[str], *, tolerances: bool) -> Answer:
    """What the call comes to; names that are given away are added to ``taken``."""
    if reason := call.foreign or _pointless(call):
        return Answer(call.node.lineno, call.title, Status.LEFT_ALONE, reason)
    try:
        asked = call_arguments.asked(call)
    except Stuck as stuck:
        return Answer(call.node.lineno, call.title, Status.BY_HAND, str(stuck), "gradcheck(args=(...,))(...)")
    try:
        return _claim(call, asked, test, taken, tolerances)
    except Stuck as stuck:
        return Answer(call.node.lineno, call.title, Status.BY_HAND, str(stuck), _suggestion(call, asked, tolerances))


def _pointless(call: Call) -> str:
    """Why the call asks for no claim: it is meant to fail, or is never run."""
    for node in call.around:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            if any(_REFUSES.search(ast.unparse(item.context_expr)) for item in node.items):
                return f"the test expects it to fail (line {node.lineno})"
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            if mark := next((mark for mark in marks if _NOT_RUN.search(mark) and "skip_on" not in mark), ""):
                return f"the test is marked `{mark}`"
    return ""


def _claim(call: Call, asked: Asked, test: Test, taken: set[str], tolerances: bool) -> Answer:
    """The claim as code.

    Raises:
        Stuck: it depends on what only running the test would tell.
    """
    words, notes = call_arguments.options(call, asked, tolerances=tolerances)
    if "rule" in asked.said:
        _refuse_rule(call, asked, test)
    wanted = [asked.said[name] for name in ("atol", "rtol", "eps") if tolerances and name in asked.said]
    subject = pieces([asked.function], call, test)
    inputs = pieces([asked.inputs], call, test)
    close = pieces(wanted, call, test)
    if close.local:
        raise Stuck("a tolerance is computed in the test")
    shared = (*subject.shared, *inputs.shared, *close.shared)
    title = codegen.title(call)
    given, before = codegen.inputs(asked.inputs, inputs.local, f"{title}_args", test, taken)
    text = codegen.subject(asked.function, subject.local, title, ", ".join([f"args={given}", *words]), test, taken)
    text = f"{before}\n\n\n{text}" if before else text
    imported = (*subject.imports, *inputs.imports, *close.imports)
    notes += [_CHEX] * (call.kind == "assert_numerical_grads")
    return Answer(call.node.lineno, call.title, Status.TRANSLATED, "", text, tuple(notes), shared, imported)


def _refuse_rule(call: Call, asked: Asked, test: Test) -> None:
    rule = asked.said["rule"]
    if isinstance(rule, ast.Name):
        rule = call_arguments.assigned(rule.id, call) or rule
    if not call_arguments.needs_no_rule(call, asked, rule, imports(test.tree)):
        raise Stuck(
            f"it checks a rule of its own, `{ast.unparse(asked.said['rule'])}`: give it to jax.custom_{call.kind[-3:]}"
        )


def _suggestion(call: Call, asked: Asked, tolerances: bool) -> str:
    """One line that parses, in which the unknown names still stand."""
    try:
        words, _ = call_arguments.options(call, asked, tolerances=tolerances)
    except Stuck:
        words = [f"{name}={ast.unparse(asked.said[name])}" for name in ("order", "modes") if name in asked.said]
    function = ast.unparse(asked.function)
    applied = f"({function})" if not isinstance(asked.function, ast.Starred) else "(...)"
    return f"gradcheck({', '.join([f'args={ast.unparse(asked.inputs)}', *words])}){applied}"
