"""Compare gradhook and ``jax.test_util.check_grads`` on real faults and on right functions.

    python benchmarks/peers.py [-k NAME] [--seed N]

Every case of ``tests/corpus`` goes through ``gradhook check`` (one process) and through ``check_grads`` (in this one,
in float64, with its own tolerances and the claimed order and modes; order 1 for surrogates, which claim none).
``check_grads`` passes, fails (its comparison does not hold) or raises (anything else, which counts as failed). A fault
that is not failed is a miss, a right function that is not passed a false alarm. Where no derivative exists, either
answer of ``check_grads`` is a mistake. The exit status is 1 if gradhook is mistaken.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import jax
from jax.test_util import check_grads

from gradhook.annotations import Claim, registered

FOLDER = Path(__file__).parent.parent / "tests" / "corpus"
ACCEPTED = {
    "pass": {"pass"}, "not fail": {"pass", "undecided"}, "undecided": {"undecided"},
    "fail": {"fail", "raises"}, "not pass": {"fail", "raises", "undecided"},
}  # fmt: skip
GROUPS = {
    "faults not failed (misses)": ("fail", "not pass"),
    "right functions not passed (false alarms)": ("pass", "not fail"),
    "decided though no derivative exists": ("undecided",),
}


@dataclass(frozen=True)
class Row:
    """One case: the verdict that it deserves, and what each checker says."""

    name: str
    wanted: str
    ours: str
    theirs: str


def main() -> int:
    """Print the table and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", metavar="NAME", default="", help="only cases that match this expression")
    parser.add_argument("--seed", type=int, default=0, help="what gradhook draws its directions from")
    options = parser.parse_args()
    ours = _gradhook(options.seed)
    wanted = {name: verdict for file in _files() for name, verdict in _expected(file).items()}
    claims = [(name, claim) for name, claim in _claims() if re.search(options.k, name)]
    rows = [Row(name, wanted[name], ours[name], _check_grads(claim)) for name, claim in claims]
    _table(rows)
    return 0 if _totals(rows) else 1


def _files() -> list[Path]:
    return sorted(FOLDER.glob("*.py"))


def _expected(file: Path) -> dict[str, str]:
    """The verdicts of a file's ``EXPECT``."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPECT"]
    return {f"{file.stem}:{name}": verdict[0] for n in named for name, verdict in ast.literal_eval(n.value).items()}


def _gradhook(seed: int) -> dict[str, str]:
    """The verdicts of ``gradhook check``."""
    command = [sys.executable, "-m", "gradhook", "check", str(FOLDER), "--python", sys.executable]
    options = ["--seed", str(seed), "--timeout", "600", "--output-format", "json"]
    done = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, check=False)
    return {target["target"]: target["verdict"] for target in json.loads(done.stdout)["targets"]}


def _claims() -> list[tuple[str, Claim]]:
    """The claims of the corpus, executed, each with its name."""
    for file in _files():
        spec = importlib.util.spec_from_file_location(f"corpus_{file.stem}", file)
        assert spec is not None and spec.loader is not None
        with jax.enable_x64(True):
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return [(f"{Path(claim.path).stem}:{claim.subject.__name__}", claim) for claim in registered()]


def _check_grads(claim: Claim) -> str:
    """What ``check_grads`` says of a claim."""
    options = claim.options
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check_grads(claim.subject, options["args"], order=options.get("order", 1), modes=options["modes"])
        except AssertionError:
            return "fail"
        except Exception:
            return "raises"
    return "pass"


def _table(rows: list[Row]) -> None:
    width = max(len(row.name) for row in rows)
    print(f"{'case':{width}}  {'wanted':9}  {'gradhook':11}  check_grads")
    for row in rows:
        ours, theirs = (_marked(row.wanted, said) for said in (row.ours, row.theirs))
        print(f"{row.name:{width}}  {row.wanted:9}  {ours:11}  {theirs}")


def _marked(wanted: str, said: str) -> str:
    return said if said in ACCEPTED[wanted] else f"{said} *"


def _totals(rows: list[Row]) -> bool:
    """Print how often each is mistaken; whether gradhook never is."""
    print(f"\n{'mistaken (*)':42} {'of':>3} {'gradhook':>9} {'check_grads':>12}")
    for title, verdicts in GROUPS.items():
        group = [row for row in rows if row.wanted in verdicts]
        ours, theirs = (sum(said not in ACCEPTED[w] for w, said in pairs) for pairs in _pairs(group))
        print(f"{title:42} {len(group):3} {ours:9} {theirs:12}")
    return all(row.ours in ACCEPTED[row.wanted] for row in rows)


def _pairs(rows: list[Row]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The verdict that is wanted beside what each checker says."""
    return [(row.wanted, row.ours) for row in rows], [(row.wanted, row.theirs) for row in rows]


if __name__ == "__main__":
    sys.exit(main())
