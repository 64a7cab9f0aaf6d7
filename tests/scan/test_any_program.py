"""No annotation that stands in a file is left out, whatever the program around it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent

from hypothesis import given, settings
from hypothesis import strategies as st

from gradhook.scan import scan

NAMES = ["gradcheck", "gc", "gh.gradcheck", "gradhook.annotations.gradcheck", "surrogate", "gh.surrogate", "pc"]
HEAD = """\
import gradhook
import gradhook.annotations
import gradhook as gh
from functools import partial
from gradhook import gradcheck, gradcheck as gc, surrogate
pc = partial(gradcheck, order=2)
"""
name = st.sampled_from(NAMES)
functions = st.sampled_from(["f", "g", "h"])
forms = st.sampled_from(
    [
        "@{a}(args=())\ndef {f}(x): ...",
        "@{a}(\n    args=(),\n)\n@other\nasync def {f}(x): ...",
        "{f} = {a}(args=())({f})",
        "{a}(args=())({f})",
        "{a}({f}, args=())",
        "{f} = [{a}(args=())({f}), 1]",
        "x, {f} = 1, {a}(args=())(lambda x: x)",
        "print({a}(args=())({f}))",
        "if (y := {a}(args=())({f})): pass",
        "{f} = {a}(args=())",
        "{a}(args=())",
        "apply({a}(args=()), {f})",
        "table['k'] = {a}(args=())",
        "for {f} in [{a}(args=())({f})]: pass",
        "{f} = lambda: {a}(args=())({f})",
        "{f} = {{k: {a}(args=())(k) for k in z}}",
        "with {a}(args=())({f}) as y: pass",
        "assert {a}(args=())({f}), 'text'",
        "def {f}(x={a}(args=())(g)): ...",
        "class {f}(base, key={a}(args=())(g)): ...",
        "{f} = {a}(args=())({a}(args=())({f}))",
        "@{a}(args=())\nclass {f}: ...",
        "{f}.attribute += {a}(args=())(g)",
        "del {f}",
        "from other import {f}",
    ]
)
leaf = st.builds(lambda form, a, f: form.format(a=a, f=f), forms, name, functions)
WRAPPERS = [
    "class {f}:\n{body}",
    "def {f}(x):\n{body}",
    "if x:\n{body}\nelse:\n{body2}",
    "try:\n{body}\nexcept E:\n{body2}\nfinally:\n    pass",
    "for y in x:\n{body}\nelse:\n{body2}",
    "if TYPE_CHECKING:\n{body}",
    "while x:\n{body}",
    "match x:\n  case 1:\n{body}\n  case _:\n{body2}",
    "with x as y:\n{body}",
]


def wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map("\n".join).map(lambda text: indent(text, "    "))
    return st.builds(
        lambda wrapper, f, one, two: wrapper.format(f=f, body=one, body2=two),
        st.sampled_from(WRAPPERS), functions, body, body,
    )  # fmt: skip


programs = st.lists(st.recursive(leaf, wrapped, max_leaves=6), min_size=1, max_size=4).map("\n".join)


@settings(max_examples=200, deadline=None)
@given(programs)
def test_every_annotation_is_a_target(program):
    text = HEAD + program
    with TemporaryDirectory() as folder:
        (Path(folder) / "mod.py").write_text(text)
        found = scan(Path(folder), [Path(folder)]).targets
    marked = Counter(target.mark for target in found)
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    written = Counter(call.lineno for call in calls if any(keyword.arg == "args" for keyword in call.keywords))
    assert written <= marked, text
