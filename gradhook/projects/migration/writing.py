"""Compose the file of claims of a test file."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from gradhook.projects.migration.codegen import source
from gradhook.projects.migration.fragments import Status, TestFile, Translation

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
