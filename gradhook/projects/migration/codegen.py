"""Write claims as source code, with the formatting of the test, and the file that holds them."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from gradhook.projects.migration.fragments import Call, Function, Status, TestFile, Translation
from gradhook.projects.migration.slicing import binds

_INDENT = "    "
_Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def title(call: Call) -> str:
    """A name for the claim, after the test's name."""
    words = re.sub(r"^test_?", "", call.functions[0].name) if call.functions else "claim"
    return words[:1].lower() + words[1:] if words.isidentifier() else f"claim_{words}"


def inputs(node: ast.expr, local: Sequence[ast.stmt], name: str, test: TestFile, taken: set[str]) -> tuple[str, str]:
    """The value of ``args=``, and the function that it names if it needs statements of the test."""
    tuple_ = _tuple(node, test)
    if not local and isinstance(node, (ast.Tuple, ast.List)):
        return tuple_, ""
    name = _numbered(name, taken)
    body = [*(source(statement, test) for statement in local), f"return {tuple_}"]
    return name, f"def {name}():\n" + textwrap.indent("\n".join(body), _INDENT)


def subject(node: ast.expr, local: Sequence[ast.stmt], title: str, words: str, test: TestFile, taken: set[str]) -> str:
    """The annotated function: the call form on a name, else a copy of the test's function."""
    last = local[-1] if local else None
    if isinstance(node, ast.Name) and isinstance(last, ast.FunctionDef) and last.name == node.id:
        return f"@gradcheck({words})\n" + _definition(last, local[:-1], _unused(_joined(title, node.id), taken), test)
    if isinstance(node, ast.Name) and isinstance(last, ast.Assign) and _is_only(last, node.id):
        node, local = last.value, local[:-1]
    if isinstance(node, ast.Lambda):
        return f"@gradcheck({words})\n" + _from_lambda(node, local, _unused(title, taken), test)
    if not local and isinstance(node, (ast.Name, ast.Attribute)):
        return f"gradcheck({words})({expression(node, test)})"
    name = _unused(title, taken)
    if not local:
        return f"{name} = gradcheck({words})({expression(node, test)})"
    body = [*(source(statement, test) for statement in local), f"return ({expression(node, test)})(*args)"]
    return f"@gradcheck({words})\ndef {name}(*args):\n" + textwrap.indent("\n".join(body), _INDENT)


def source(statement: ast.stmt, test: TestFile) -> str:
    """A statement as the test has it, moved to the margin; rewritten where that would change it."""
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    text = textwrap.dedent("\n".join(test.lines[first - 1 : statement.end_lineno]))
    return text if _says(text, statement) and not _has_long_text(statement) else ast.unparse(statement)


def expression(node: ast.expr, test: TestFile) -> str:
    """An expression as the test has it if it is on one line, else rewritten."""
    text = ast.get_source_segment(test.text, node) or "\n"
    return ast.unparse(node) if "\n" in text else text


def _tuple(node: ast.expr, test: TestFile) -> str:
    """The arguments as a tuple: ``check_grads`` takes any iterable, a claim only a tuple."""
    if isinstance(node, ast.Tuple):
        text = expression(node, test)
        return text if text.startswith("(") else f"({text})"
    if isinstance(node, ast.List):
        return expression(ast.Tuple(node.elts, ast.Load()), test) if node.elts else "()"
    return f"(*{expression(node, test)},)"


def _definition(node: Function, closure: Sequence[ast.stmt], name: str, test: TestFile) -> str:
    """The test's function under another name, with the variables of its closure inside."""
    text = source(node, test)
    text = re.sub(
        rf"^(async def|def)(\s+){re.escape(node.name)}\b", rf"\1\g<2>{name}", text, count=1, flags=re.MULTILINE
    )
    if not closure:
        return text
    moved = ast.parse(text).body[0]
    assert isinstance(moved, (ast.FunctionDef, ast.AsyncFunctionDef))
    first = moved.body[1 if ast.get_docstring(moved) is not None and len(moved.body) > 1 else 0]
    if first.lineno == moved.lineno:  # def f(x): return x
        text = ast.unparse(moved)
        first = ast.parse(text).body[0].body[0]  # type: ignore[attr-defined]
    lines = text.split("\n")
    indent = lines[first.lineno - 1][: first.col_offset]
    inside = textwrap.indent("\n".join(source(statement, test) for statement in closure), indent)
    return "\n".join([*lines[: first.lineno - 1], inside, *lines[first.lineno - 1 :]])


def _from_lambda(node: ast.Lambda, closure: Sequence[ast.stmt], name: str, test: TestFile) -> str:
    body = [*(source(statement, test) for statement in closure), f"return {expression(node.body, test)}"]
    return f"def {name}({ast.unparse(node.args)}):\n" + textwrap.indent("\n".join(body), _INDENT)


def _is_only(statement: ast.Assign, name: str) -> bool:
    return (
        len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name) and statement.targets[0].id == name
    )


def names_in_use(test: TestFile) -> set[str]:
    """The names that a claim must not take: imports, functions and variables of the file."""
    imported = [
        a.asname or a.name for n in ast.walk(test.tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names
    ]
    bound = [name for statement in test.tree.body for name in binds(statement)]
    return {"gradcheck", *imported, *bound, *dir(builtins), *keyword.kwlist}


def _joined(title: str, name: str) -> str:
    return title if name in ("f", "fn", "fun", "func", title) else f"{title}_{name}"


def _unused(name: str, taken: set[str]) -> str:
    """The name, changed if it is taken."""
    return _numbered(name if name not in taken else f"{name}_claim", taken)


def _numbered(name: str, taken: set[str]) -> str:
    found = next(n for n in (name, *(f"{name}_{k}" for k in range(2, 10_000))) if n not in taken)
    taken.add(found)
    return found


def _says(text: str, statement: ast.stmt) -> bool:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return False
    return len(body) == 1 and _undocumented(body[0]) == _undocumented(statement)


def _undocumented(statement: ast.stmt) -> str:
    """The syntax tree of a statement without docstrings, which may be moved."""
    copied = ast.parse(ast.unparse(statement))
    for node in ast.walk(copied):
        if isinstance(node, _Documented) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.dump(copied)


def _has_long_text(statement: ast.stmt) -> bool:
    """Whether moving the lines would move the inside of a string that is no docstring."""
    texts = [n for n in ast.walk(statement) if isinstance(n, (ast.Constant, ast.JoinedStr))]
    owners = [node for node in ast.walk(statement) if isinstance(node, _Documented)]
    documented = {id(node.body[0].value) for node in owners if isinstance(node.body[0], ast.Expr)}
    return any(text.end_lineno != text.lineno and id(text) not in documented for text in texts)


_HEAD = '"""Claims translated by `gradhook migrate` from {name}; `gradhook check` checks them."""'


def claims_file(path: Path) -> Path:
    """``claims_losses.py`` beside ``test_losses.py``: a name that pytest does not collect."""
    stem = path.stem.removeprefix("test_").removesuffix("_test") or "module"
    return path.with_name(f"claims_{stem}.py")


def text_of(test: TestFile, translations: Sequence[Translation]) -> str:
    """The file's text: imports, shared statements, claims, suggestions as comments; may be empty."""
    claims = [translation for translation in translations if translation.status is Status.TRANSLATED]
    if all(translation.status is Status.LEFT_ALONE for translation in translations):
        return ""
    shared = {id(s): s for translation in claims for s in translation.shared}
    ordered = sorted(shared.values(), key=lambda statement: statement.lineno)
    blocks = [_HEAD.format(name=test.name), _imports(test, claims)]
    blocks += [source(statement, test) for statement in ordered]
    blocks += [_block(translation, test) for translation in translations if translation.status is not Status.LEFT_ALONE]
    return "\n\n".join(blocks[:2]) + "".join(f"\n\n\n{block}" for block in blocks[2:]) + "\n"


def _imports(test: TestFile, claims: Sequence[Translation]) -> str:
    lines = dict.fromkeys(line for translation in claims for line in translation.imports)
    future = [ast.unparse(s) for s in test.tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    plain = sorted(line for line in lines if line.startswith("import "))
    from_ = sorted({line for line in lines if not line.startswith(("import ", "from __future__"))})
    ours = "from gradhook import gradcheck"
    return "\n".join([*future, *plain, *sorted({*from_, ours})])


def _block(translation: Translation, test: TestFile) -> str:
    head = [f"# {test.name}: {translation.title}", *(f"# {note}" for note in translation.notes)]
    if translation.status is Status.TRANSLATED:
        return "\n".join([*head, translation.text])
    return "\n".join(
        [f"{head[0]}, to be finished: {translation.reason}", *(f"# {line}" for line in translation.text.split("\n"))]
    )
