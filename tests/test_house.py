"""Every file of the package opens with the question that it answers, and is short enough to be read at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gradhook

HOME = Path(gradhook.__file__).parent
FILES = sorted(HOME.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(HOME).as_posix())
def test_a_file_is_short_and_says_what_it_is_for(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    assert ast.get_docstring(ast.parse(text)) or not text.strip()
