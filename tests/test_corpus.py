"""Does every reduced real fault get the verdict that it deserves, and every right function too?

Each file of ``corpus`` says in ``EXPECT``, by the name of a function, which verdict must be reached and, where a cause
is known, the code and the leaf that some finding must name. "not fail" is a pass or an undecided with its cause, "not
pass" a fail or an undecided with its cause.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gradhook

pytest.importorskip("jax")

FOLDER = Path(__file__).parent / "corpus"
FILES = sorted(FOLDER.glob("*.py"))
ACCEPTED = {"not fail": {"pass", "undecided"}, "not pass": {"fail", "undecided"}}
REPORT = re.compile(r"\([^()]*\b[\w.-]+/[\w.-]+#\d+[^()]*\)\.$")
"""A docstring ends with the report that it is about."""

QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
"""Nearly all time is XLA's, which compiles programs that run once; the verdicts must not depend on how well."""

Wanted = tuple[str, ...]
Reports = dict[str, dict[str, Any]]


def expected(file: Path) -> dict[str, Wanted]:
    """What a file's ``EXPECT`` says, by ``module:function``; the file is read, not run."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPECT"]
    return {f"{file.stem}:{name}": wanted for node in named for name, wanted in ast.literal_eval(node.value).items()}


CASES = {name: wanted for file in FILES for name, wanted in expected(file).items()}


@pytest.fixture(scope="module")
def reports() -> Reports:
    """The targets of the JSON report of one run over the whole corpus; ``--dist loadfile`` keeps it one."""
    environ = {name: text for name, text in os.environ.items() if not name.startswith("GRADHOOK_")}
    environ["PYTHONPATH"] = str(Path(gradhook.__file__).parents[1])
    environ.setdefault("XLA_FLAGS", QUICK)
    command = [sys.executable, "-m", "gradhook", "check", str(FOLDER), "--python", sys.executable, "--timeout", "600"]
    done = subprocess.run(
        [*command, "--output-format", "json"],
        capture_output=True, text=True, encoding="utf-8", env=environ, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    return {target["target"]: target for target in json.loads(done.stdout)["targets"]}


def test_every_target_has_an_expectation_and_every_expectation_a_target(reports: Reports) -> None:
    assert reports.keys() == CASES.keys()
    assert len(CASES) == 87


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_and_its_cause(reports: Reports, name: str) -> None:
    verdict, *cause = CASES[name]
    report = reports[name]
    findings = [(f["code"], f["leaf"]) for f in report["findings"]]
    assert report["verdict"] in ACCEPTED.get(verdict, {verdict}), findings
    if cause:
        assert any(found[: len(cause)] == tuple(cause) for found in findings), findings
    if report["verdict"] == "undecided":
        assert any(code.startswith("GRD4") for code, _ in findings), "undecided without a cause"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_case_says_what_it_is_about_and_who_reported_it(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    said = {node.name: ast.get_docstring(node) or "" for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = [name.partition(":")[2] for name in expected(file)]
    assert names
    assert [name for name in names if not REPORT.search(said[name]) or "\n" in said[name]] == []
