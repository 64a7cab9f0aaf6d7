"""Translate a gradient check to a claim, or to a suggestion where the text is not enough."""

from __future__ import annotations

import ast
import re

from gradhook.projects.migration import codegen
from gradhook.projects.migration.calls import CallArguments, assigned, imports, needs_no_rule, options
from gradhook.projects.migration.calls import arguments as arguments_of
from gradhook.projects.migration.fragments import Call, CannotMigrate, Status, TestFile, Translation
from gradhook.projects.migration.slicing import fragments_of

_CHEX = "chex replaces stop_gradient by ones during the check; here it stays what it is"
_REFUSES = re.compile(r"\b(raises|assertRaises\w*)\b")
_NOT_RUN = re.compile(r"\b(skip|xfail|expectedFailure)\b")


def translate(call: Call, test: TestFile, taken: set[str], *, tolerances: bool) -> Translation:
    """The translation of a call; names that it uses are added to ``taken``."""
    if reason := call.foreign or _why_not_checked(call):
        return Translation(call.node.lineno, call.title, Status.LEFT_ALONE, reason)
    try:
        arguments = arguments_of(call)
    except CannotMigrate as error:
        return Translation(call.node.lineno, call.title, Status.BY_HAND, str(error), "gradcheck(args=(...,))(...)")
    try:
        return _claim(call, arguments, test, taken, tolerances)
    except CannotMigrate as error:
        return Translation(
            call.node.lineno, call.title, Status.BY_HAND, str(error), _suggestion(call, arguments, tolerances)
        )


def _why_not_checked(call: Call) -> str:
    """The reason why the call needs no claim: it is meant to fail, or is never run; else empty."""
    for node in call.around:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            if any(_REFUSES.search(ast.unparse(item.context_expr)) for item in node.items):
                return f"the test expects it to fail (line {node.lineno})"
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            if mark := next((mark for mark in marks if _NOT_RUN.search(mark) and "skip_on" not in mark), ""):
                return f"the test is marked `{mark}`"
    return ""


def _claim(call: Call, arguments: CallArguments, test: TestFile, taken: set[str], tolerances: bool) -> Translation:
    """The claim as code.

    Raises:
        CannotMigrate: it depends on something that is only known at run time.
    """
    words, notes = options(call, arguments, tolerances=tolerances)
    if "rule" in arguments.by_name:
        _refuse_rule(call, arguments, test)
    wanted = [arguments.by_name[name] for name in ("atol", "rtol", "eps") if tolerances and name in arguments.by_name]
    subject = fragments_of([arguments.function], call, test)
    inputs = fragments_of([arguments.inputs], call, test)
    close = fragments_of(wanted, call, test)
    if close.local:
        raise CannotMigrate("a tolerance is computed in the test")
    shared = (*subject.shared, *inputs.shared, *close.shared)
    title = codegen.title(call)
    given, before = codegen.inputs(arguments.inputs, inputs.local, f"{title}_args", test, taken)
    text = codegen.subject(arguments.function, subject.local, title, ", ".join([f"args={given}", *words]), test, taken)
    text = f"{before}\n\n\n{text}" if before else text
    imported = (*subject.imports, *inputs.imports, *close.imports)
    if call.kind == "assert_numerical_grads":
        notes.append(_CHEX)
    return Translation(call.node.lineno, call.title, Status.TRANSLATED, "", text, tuple(notes), shared, imported)


def _refuse_rule(call: Call, arguments: CallArguments, test: TestFile) -> None:
    rule = arguments.by_name["rule"]
    if isinstance(rule, ast.Name):
        rule = assigned(rule.id, call) or rule
    if not needs_no_rule(call, arguments, rule, imports(test.tree)):
        own = ast.unparse(arguments.by_name["rule"])
        raise CannotMigrate(f"it checks a rule of its own, `{own}`: give it to jax.custom_{call.kind[-3:]}")


def _suggestion(call: Call, arguments: CallArguments, tolerances: bool) -> str:
    """One line of valid Python in which the unknown names remain."""
    try:
        words, _ = options(call, arguments, tolerances=tolerances)
    except CannotMigrate:
        given = {name: arguments.by_name[name] for name in ("order", "modes") if name in arguments.by_name}
        words = [f"{name}={ast.unparse(value)}" for name, value in given.items()]
    function = ast.unparse(arguments.function)
    applied = f"({function})" if not isinstance(arguments.function, ast.Starred) else "(...)"
    return f"gradcheck({', '.join([f'args={ast.unparse(arguments.inputs)}', *words])}){applied}"
