"""What stands in the file of claims of a test file, and what is it called?"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from gradhook.projects.migration.codegen import source
from gradhook.projects.migration.fragments import Answer, Status, Test

_HEAD = '"""Claims translated by `gradhook migrate` from {name}; `gradhook check` checks them."""'


def claims_file(path: Path) -> Path:
    """``claims_losses.py`` beside ``test_losses.py``: no name that pytest collects."""
    stem = path.stem.removeprefix("test_").removesuffix("_test") or "module"
    return path.with_name(f"claims_{stem}.py")


def text_of(test: Test, answers: Sequence[Answer]) -> str:
    """The file: imports, what the claims share, the claims, the suggestions as comments; empty without either."""
    claims = [answer for answer in answers if answer.status is Status.TRANSLATED]
    if all(answer.status is Status.LEFT_ALONE for answer in answers):
        return ""
    shared = {id(s): s for answer in claims for s in answer.shared}
    ordered = sorted(shared.values(), key=lambda statement: statement.lineno)
    blocks = [_HEAD.format(name=test.name), _imports(test, claims)]
    blocks += [source(statement, test) for statement in ordered]
    blocks += [_block(answer, test) for answer in answers if answer.status is not Status.LEFT_ALONE]
    return "\n\n".join(blocks[:2]) + "".join(f"\n\n\n{block}" for block in blocks[2:]) + "\n"


def _imports(test: Test, claims: Sequence[Answer]) -> str:
    lines = dict.fromkeys(line for answer in claims for line in answer.imports)
    future = [ast.unparse(s) for s in test.tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    plain = sorted(line for line in lines if line.startswith("import "))
    from_ = sorted({line for line in lines if not line.startswith(("import ", "from __future__"))})
    ours = "from gradhook import gradcheck"
    return "\n".join([*future, *plain, *sorted({*from_, ours})])


def _block(answer: Answer, test: Test) -> str:
    head = [f"# {test.name}: {answer.title}", *(f"# {note}" for note in answer.notes)]
    if answer.status is Status.TRANSLATED:
        return "\n".join([*head, answer.text])
    return "\n".join(
        [f"{head[0]}, to be finished: {answer.reason}", *(f"# {line}" for line in answer.text.split("\n"))]
    )
