"""Judge every case of ``tests/corpus``, and ask ``check_grads`` about it.

The files are projects' code with annotations; ``EXPECT`` in each says by function which verdict is right.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
from jax.test_util import check_grads

from gradhook.annotations import Claim, registered
from gradhook.execution.worker.cases.case_options import check_cases, check_options
from gradhook.model.results import CheckSettings
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.function_probe import FunctionProbe

FOLDER = Path(__file__).parent.parent / "tests" / "corpus"
ACCEPTED = {"not fail": ("pass", "undecided"), "not pass": ("fail", "undecided")}


def run(pattern: str) -> bool:
    """Print a line for each case and what each of the two missed or accused wrongly; whether all are as expected."""
    files = sorted(FOLDER.glob("*.py"))
    if not files:
        print("\ncorpus: there is no tests/corpus, skipped")
        return True
    wanted = {name: verdict for file in files for name, verdict in _expected(file) if re.search(pattern, name)}
    ours, theirs = _reports(), _check_grads(files, set(wanted))
    print(f"\n{'case':52} {'expected':10} {'gradhook':10} {'check_grads':11} as expected")
    for name, verdict in wanted.items():
        good = ours[name] in ACCEPTED.get(verdict, (verdict,))
        print(f"{name:52} {verdict:10} {ours[name]:10} {theirs[name]:11} {'yes' if good else 'NO'}")
    for tool, answers in (("gradhook", ours), ("check_grads", theirs)):
        missed = sum(answers[n] == "pass" for n, v in wanted.items() if v in ("fail", "not pass"))
        accused = sum(answers[n] == "fail" for n, v in wanted.items() if v in ("pass", "not fail"))
        print(f"{tool}: {missed} faults passed, {accused} right functions failed, of {len(wanted)} cases")
    return all(ours[name] in ACCEPTED.get(verdict, (verdict,)) for name, verdict in wanted.items())


def _expected(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPECT":
            yield from ((f"{file.stem}:{name}", said[0]) for name, said in ast.literal_eval(node.value).items())


def _reports() -> dict[str, str]:
    command = [sys.executable, "-m", "gradhook", "check", str(FOLDER), "--output-format", "json", "--timeout", "600"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    return {target["target"]: target["verdict"] for target in json.loads(done.stdout)["targets"]}


def _check_grads(files: list[Path], names: set[str]) -> dict[str, str]:
    sys.path.insert(0, str(FOLDER))
    answers = {}
    for file in files:
        before = len(registered())
        with jax.enable_x64(True):
            module = importlib.import_module(file.stem)
            for claim in registered()[before:]:
                for name in names & {
                    f"{file.stem}:{key}" for key, value in vars(module).items() if value is claim.subject
                }:
                    answers[name] = _answer(claim)
    return {name: answers.get(name, "-") for name in names}


def _answer(claim: Claim) -> str:
    """Pass or fail, with the orders and modes that are claimed."""
    wanted = check_options(claim.options, CheckSettings())
    for check_case in check_cases(claim.options, configured=False):
        if check_case.error is not None:
            continue
        held = FunctionProbe(claim.subject, check_case, wanted, "check_grads", Clock()).held
        try:
            check_grads(held.call, (held.point,), order=wanted.order, modes=wanted.modes or ("fwd", "rev"))
        except Exception:
            return "fail"
    return "pass"
