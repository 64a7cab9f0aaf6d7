"""Comments and layout recheck nothing; whatever may hear of them does."""

from __future__ import annotations

from typing import Any

import pytest

from gradhook.execution.cache.syntax import NONE, asks_for_lines, shape

TARGET = "from gradhook import gradcheck\nfrom low import g\n\n\n@gradcheck(args=(1.0,))\ndef f(x):\n    return {}\n"
LOW = '"""Helpers."""\n\n\ndef g(x):\n    return (x + 1.0) * 2.0\n'
LAYOUT = {
    "a comment below": LOW + "# see above\n",
    "a comment above": "# Helpers.\n" + LOW,
    "a comment at the end of a line": LOW.replace("2.0\n", "2.0  # twice\n"),
    "blank lines": LOW.replace("\n\n\n", "\n\n\n\n\n"),
    "parentheses": LOW.replace("(x + 1.0) * 2.0", "((x + 1.0) * (2.0))"),
    "line breaks": LOW.replace("(x + 1.0) * 2.0", "(\n        x + 1.0\n    ) * 2.0"),
    "quotes": LOW.replace('"""', "'''"),
    "how a number is written": LOW.replace("2.0", "2.00"),
    "line ends": LOW.replace("\n", "\r\n"),
    "a coding line": "# -*- coding: utf-8 -*-\n" + LOW,
}
CODE = {
    "a number": LOW.replace("2.0", "2.5"),
    "an operator": LOW.replace("+", "-"),
    "a docstring": LOW.replace("Helpers", "More helpers"),
    "a name": LOW.replace("x", "y"),
    "an annotation": LOW.replace("(x)", "(x: float)", 1),
    "the order": LOW.replace("(x + 1.0)", "(1.0 + x)"),
    "an integer": LOW.replace("2.0", "2"),
    "another coding": "# -*- coding: latin-1 -*-\n" + LOW.replace("Helpers", "Hélpers"),
}


def test_shape_of_layout() -> None:
    for name, text in LAYOUT.items():
        assert shape(text.encode())[0] == shape(LOW.encode())[0] != "", name
    same_lines = {name for name, text in LAYOUT.items() if shape(text.encode()) == shape(LOW.encode())}
    assert same_lines == {
        "a comment below", "a comment at the end of a line", "quotes", "how a number is written",
        "line ends",
    }  # fmt: skip


def test_shape_of_code() -> None:
    shapes = [shape(text.encode()) for text in (*CODE.values(), LOW.replace("Helpers", "Hélpers"))]
    assert len({tree for tree, _ in shapes} | {shape(LOW.encode())[0]}) == len(shapes) + 1


@pytest.mark.parametrize("data", [b"def", b"\0", b"x = " + b"(" * 5000 + b"1" + b")" * 5000, b"\xff\xfe"])
def test_what_is_no_python_has_no_shape(data: bytes) -> None:
    assert shape(data) == NONE


@pytest.fixture
def warm(project: Any) -> Any:
    project.write({"low.py": LOW, "a.py": TARGET.format("g(x)")})
    assert project.check() == {"a:f": "pass"}
    return project


@pytest.mark.parametrize("how", LAYOUT)
def test_layout_rechecks_nothing(warm: Any, how: str) -> None:
    warm.write({"low.py": LAYOUT[how]})
    assert warm.check() == {"a:f": "cached"}
    assert len(warm.starts) == 1


@pytest.mark.parametrize("how", ["a number", "a docstring"])
def test_code_is_checked_again(warm: Any, how: str) -> None:
    warm.write({"low.py": CODE[how]})
    assert warm.check() == {"a:f": "pass"}


def test_the_target_has_moved(warm: Any) -> None:
    warm.write({"a.py": "# one\n# two\n" + TARGET.format("g(x)  # three")})
    (report,) = warm.report().targets
    assert report.cached
    assert (report.target.line, report.target.mark) == (8, 7)


def test_what_names_lines_moves_with_none(project: Any) -> None:
    """A failure may name lines in any file, in its text as well."""
    text = TARGET.format("g(x) < 0")
    project.write({"low.py": LOW, "a.py": text})
    assert project.check() == {"a:f": "fail"}
    project.write({"a.py": text + "# a comment below\n"})
    assert project.check() == {"a:f": "cached"}
    project.write({"low.py": "# a comment above\n" + LOW})
    assert project.check() == {"a:f": "fail"}
    assert project.check() == {"a:f": "cached"}


def test_a_note_that_names_a_line(project: Any) -> None:
    project.write({"low.py": LOW, "a.py": TARGET.format("'held at low.py:4'")})
    assert project.check() == {"a:f": "pass"}
    project.write({"low.py": "# a comment above\n" + LOW})
    assert project.check() == {"a:f": "pass"}


READING = {
    "its source": "import inspect\n    return len(inspect.getsource(g))",
    "its line": "import sys\n    return sys._getframe().f_lineno + g.__code__.co_firstlineno",
    "its text": "import pathlib\n    return len(pathlib.Path('low.py').read_bytes())",
    "its loader": "import low\n    return len(low.__loader__.get_source('low'))",
    "its loader's bytes": "import low\n    return len(low.__loader__.get_data('low.py'))",
}


@pytest.mark.parametrize("what", READING)
def test_code_that_asks_for(project: Any, what: str) -> None:
    text = TARGET.replace("    return {}", f"    {READING[what]}")
    project.write({"low.py": LOW, "a.py": text})
    first = project.report().targets[0].outcomes[0].note
    project.write({"low.py": LOW.replace("def g(x):", "# a comment above\ndef g(x):  # and inside")})
    (report,) = project.report().targets
    assert not report.cached
    assert report.outcomes[0].note != first


def test_a_loader_that_may_heed_comments(project: Any) -> None:
    hook = """
import importlib.machinery, importlib.util, sys

class Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimization=-1):
        return super().source_to_code(data.replace(b"# off", b"return 0.0  #"), path)

class Finder:
    def find_spec(self, name, path=None, target=None):
        loader = Loader(name, "low.py")
        return importlib.util.spec_from_file_location(name, "low.py", loader=loader) if name == "low" else None

sys.meta_path.insert(0, Finder())
"""
    project.write({"hook.py": hook, "low.py": LOW, "a.py": "import hook\n" + TARGET.format("g(x)")})
    assert project.check() == {"a:f": "pass"}
    project.write({"low.py": LOW.replace("def g(x):", "def g(x):\n    # off")})
    assert project.check() == {"a:f": "pass"}


def test_names_by_which_code_asks_for_lines() -> None:
    assert asks_for_lines(b"sys._getframe(1).f_lineno") and asks_for_lines(b"f.__code__.co_firstlineno")
    assert not asks_for_lines(b"jnp.stack(lines)")


def test_shapes_are_worked_out_once(warm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradhook.execution.cache import syntax

    asked: list[bytes] = []

    def counted(data: bytes) -> syntax.Shape:
        asked.append(data)
        return shape(data)

    monkeypatch.setattr(syntax, "shape", counted)
    warm.write({"low.py": CODE["a number"]})
    assert warm.check() == {"a:f": "pass"}
    assert asked == [CODE["a number"].encode()]
