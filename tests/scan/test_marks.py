"""The marks of the scan are the lines that the executed annotation remembers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """\
import functools
import gradhook
import gradhook as gh
import gradhook.annotations
from gradhook import gradcheck, surrogate

def jit(f):
    return f

@gradcheck(args=(1.0,))
def one(x): ...

@jit
@gradcheck(
    args=(1.0,),
    order=2,
)
@surrogate(
    forward=one,
)
@gradcheck
def stacked(x): ...

class A:
    @staticmethod
    @gradcheck(
        args=())
    def static(x): ...

    class B:
        @gh.gradcheck
        def inner(self): ...

    called = gradcheck(
        args=(),
    )(
        one
    )

gradcheck(args=())(one)
h = gradcheck(one,
    args=())
table = [
    gradcheck(args=())(one),
    gradcheck(
        args=())(lambda x: x),
]
mark = gradcheck(
    args=())

@mark
def stored(x): ...

k = mark(
    one)
m = (gh
     .gradcheck(args=())(one))
n = (gradhook
     .annotations
     .gradcheck(
         args=())(one))
o = (gradhook
     .annotations.
     gradcheck(*(), **{})(one))

@(
    gh.
    gradcheck
)
def wrapped(x): ...

@functools.partial(gradcheck,
    order=2)
def partly(x): ...

p = functools.partial(
    gradcheck, order=2)(
    one)
alias = gradhook
q = (alias
     .gradcheck(args=())(one))
r = [gradcheck(args=())(f)
     for f in (one,)]
"""
EXECUTE = """
import json, runpy, sys
runpy.run_path(sys.argv[1])
from gradhook.annotations import registered
print(json.dumps([claim.line for claim in registered()]))
"""


@pytest.mark.parametrize(
    "python", dict.fromkeys([sys.executable, *filter(None, os.environ.get("TEST_PYTHONS", "").split(":"))])
)
def test_marks_are_the_lines_that_python_reports(project, python):
    file = project.write("mod.py", SOURCE)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [python, "-c", EXECUTE, str(file)]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = project.scan().targets
    assert sorted(t.mark for t in found) == sorted(json.loads(answer.stdout))
    assert [t.unreachable for t in found] == [""] * len(found)
