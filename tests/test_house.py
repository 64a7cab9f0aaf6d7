"""Files are short, docstrings state what things are or do, and a name has one meaning."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import gradhook

HOME = Path(gradhook.__file__).parent
FILES = sorted(HOME.rglob("*.py"))
MOST_LINES = 400
BANNED = re.compile(r"\b(who|whom|somebody|someone|nobody|anybody|said|told|tells|heard|hears?)\b", re.IGNORECASE)
"""Words for people, and what only people do; programs report, read, receive, state."""
COMMANDS = HOME / "cli"
"""Docstrings of commands are help texts, which address the user."""


def _name(file: Path) -> str:
    return file.relative_to(HOME).as_posix()


def _summaries(file: Path) -> list[str]:
    """The first line of each docstring in a file."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    documented = (node for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    return [text.splitlines()[0] for node in documented if (text := ast.get_docstring(node))]


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_a_file_is_short_and_documented(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    assert ast.get_docstring(ast.parse(text)) or not text.strip()


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_docstrings_are_statements(file: Path) -> None:
    riddles = [line for line in _summaries(file) if line.rstrip().endswith("?") or BANNED.search(line)]
    assert not riddles


def test_a_riddle_would_be_found(tmp_path: Path) -> None:
    file = tmp_path / "riddle.py"
    file.write_text('"""Who asks whom?"""\ndef f():\n    """Return what nobody heard."""\n', encoding="utf-8")
    assert [bool(BANNED.search(line)) for line in _summaries(file)] == [True, True]


def test_a_class_has_one_meaning() -> None:
    places = defaultdict(list)
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(_name(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_module_has_one_meaning() -> None:
    places = defaultdict(list)
    for file in FILES:
        if file.name != "__init__.py":
            places[file.stem].append(_name(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_top_level_is_a_dozen_packages() -> None:
    entries = {path.name for path in HOME.iterdir()} - {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
    assert len(entries) <= 12, sorted(entries)
