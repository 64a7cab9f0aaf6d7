"""Does the action do its work in a repository of somebody else, whatever the code there prints and is called?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

WORKFLOW = """
on: push
permissions: {}
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd
      - id: gradhook
        continue-on-error: true
        uses: somebody/gradhook@v1
        with:
          working-directory: research
          args: |
            --timeout
            50
          junit: ../junit.xml
          sarif: gradhook.sarif
      - shell: bash
        run: test -s junit.xml && test -s research/gradhook.sarif && test -z "$(git status --porcelain -- '*.py')"
"""
RIGHT = """
from gradhook import gradcheck, normal
import jax.numpy as jnp

@gradcheck(args=(normal(3),))
def energy(x):
    return jnp.sum(x * x)
"""
HOSTILE = r"""
import os, sys, traceback
from gradhook import gradcheck, normal, case
import jax, jax.numpy as jnp

NAMES = {
    "\x1b[31mred": (4.5,), "::error::case": (1.5,), "`tick` | pipe": (2.5,), "</details><h1>html</h1>": (0.5,),
    "line\nbreak": (3.5,),
}

def shout():
    print("::error::printed by user code")
    print("  ::warning file=x.py::indented")
    print("text ##[error]in a line")
    print("::set-output name=exit-code::0")
    print("::add-mask::gradhook")
    print("::stop-commands::mine\n::mine::")
    print("```\n</details>\n# heading")
    sys.stdout.flush()
    os.write(1, b"\xff\xfe invalid \x80\n")
    print("x" * 2_000_000)
    try:
        raise ValueError("in a traceback")
    except ValueError:
        traceback.print_exc()
    print("::error::the last line")

@gradcheck(cases=NAMES)
@jax.custom_jvp
def wrong(x):
    return x * x

@wrong.defjvp
def rule(primals, tangents):
    shout()
    return wrong(primals[0]), 3.0 * tangents[0]

class Odd(Exception):
    pass

Odd.__name__ = Odd.__qualname__ = "::error::Odd`|`<b>\n##[error]x"

@gradcheck(args=(normal(2),))
def raises(x):
    shout()
    raise Odd("::error::message\n::warning::second line ##[error]third | `x` </details>")

@gradcheck(args=(normal(2),))
def leaves(x):
    shout()
    os.environ["GITHUB_OUTPUT"] = "/nowhere"
    secret = ("GITHUB_", "RUNNER_", "ACTIONS_")
    assert [name for name in os.environ if name.startswith(secret)] == ["GITHUB_OUTPUT"]
    return jnp.sum(x)
"""


@pytest.fixture
def consumer(tmp_path: Path, git: Callable[..., Any]) -> Path:
    """A repository that uses the action, with one good file and one that does what it can to spoil the report."""
    root = tmp_path / "consumer"
    files = {
        ".github/workflows/ci.yml": WORKFLOW,
        "research/pyproject.toml": "[tool.gradhook]\n",
        "research/right.py": RIGHT,
        "research/we,ird%25`|`'x.py": HOSTILE,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    return root


def test_hostile_text_changes_nothing(act: Any, consumer: Path, checkout: Path) -> None:
    pytest.importorskip("jax")
    act.stands_for["somebody/gradhook@v1"] = checkout
    run = act.run(consumer)
    assert run.code == 0, run.text[-3000:]
    outputs = run.outputs("check", "gradhook")
    assert {name: outputs[name] for name in ("exit-code", "verdict", "checks", "passed", "failed", "errors")} == {
        "exit-code": "2", "verdict": "error", "checks": "4", "passed": "2", "failed": "1", "errors": "1",
    }  # fmt: skip
    assert run.outcome("check", "gradhook") == "failure"
    marks = run.annotations("check")
    assert {mark["file"] for mark in marks} == {"research/we,ird%25`|`'x.py"}
    assert {mark["level"] for mark in marks} == {"error"}
    assert min(mark["title"] for mark in marks).startswith("GRD101 wrong")
    _page_is_whole(run.summary("check", "gradhook"))
    _log_is_quoted(run)


def _page_is_whole(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [t.content for t in tokens if t.type == "html_block" and "summary" in t.content] == [
        "<details><summary>Passed</summary>\n", "<details><summary>Environment</summary>\n",
    ]  # fmt: skip
    assert [t.tag for t in tokens if t.type == "heading_open"] == ["h2", "h3", "h3"]
    assert "\x1b" not in text
    assert len(text) < 50_000
    assert re.search(r"^\| jax \| `\d", text, re.MULTILINE)


def _log_is_quoted(run: Any) -> None:
    """All that the code printed is in the log, behind a bar, between the two lines that stop and resume commands."""
    said = [r for r in run.job("check") if r.get("command") in ("stop-commands", "set-output", "add-mask")]
    assert not [r for r in said if r["command"] == "add-mask"]
    log = run.log("check")
    assert "| ::error::the last line" in log
    assert "\\x1b[31mred" in log
    assert not re.search(r"^\s*(::(error|warning|set-output|add-mask)|File \")", log, re.MULTILINE)
    assert len(log) < 100_000


def test_outputs_are_not_forged(act: Any, consumer: Path, checkout: Path) -> None:
    """A name that is a delimiter and a value in one: the report's path is the only output that users choose."""
    (consumer / ".github/workflows/ci.yml").write_text(
        WORKFLOW.replace("junit: ../junit.xml", "paths: right.py\n          report: a=b<<EOF.json"), encoding="utf-8"
    )
    pytest.importorskip("jax")
    act.stands_for["somebody/gradhook@v1"] = checkout
    outputs = act.run(consumer).outputs("check", "gradhook")
    assert outputs["exit-code"] == "0"
    assert outputs["report"].endswith("/research/a=b<<EOF.json")
    assert json.dumps(outputs)
