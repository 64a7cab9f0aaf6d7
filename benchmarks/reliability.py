"""Count how often each promise of ``docs/reliability.md`` was tried, and how often it was broken.

    python benchmarks/reliability.py            the table
    python benchmarks/reliability.py --write    the table, into docs/reliability.md

Runs ``tests/reliability`` with its large counts (``RELIABILITY=full``), about fifteen minutes on two cores. Most runs
are of the real command with a real worker whose examiner needs no JAX, so that thousands of them are possible; those
of ``test_faults_jax.py`` and ``test_secrets.py`` load JAX.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reliability.md"
START, END = "<!-- measured -->", "<!-- end -->"
Row = dict[str, Any]


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.jsonl"
        environ = {**os.environ, "RELIABILITY": "full", "RELIABILITY_TALLY": str(tally)}
        command = [sys.executable, "-m", "pytest", "-n", "0", "tests/reliability"]
        code = subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode
        rows = [json.loads(line) for line in tally.read_text(encoding="utf-8").splitlines()]
    table = "\n".join(["| promise | test | tried | lost |", "|---|---|---|---|", *map(_line, _merged(rows))])
    print(table)
    if "--write" in arguments:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        text = f"{before}{START}\n{table}\n{END}{rest.partition(END)[2]}"
        PAGE.write_text(text, encoding="utf-8")
    return code


def _merged(rows: list[Row]) -> list[Row]:
    """A row for each promise: those that tests counted themselves, and the others with their cases as counts."""
    counted = {(row["file"], row["test"]) for row in rows if "promise" in row}
    merged: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        key = (row["file"], row["test"])
        if "promise" not in row and key in counted:
            continue
        if "promise" not in row:
            row = _case(row)
        total = merged.setdefault((*key, row["promise"]), {**row, "tried": 0, "lost": 0})
        total["tried"] += row["tried"]
        total["lost"] += row["lost"]
    return list(merged.values())


def _case(row: Row) -> Row:
    promise = row["test"].removeprefix("test_").replace("_", " ")
    return {
        **row,
        "promise": promise,
        "tried": int(row["outcome"] != "skipped"),
        "lost": int(row["outcome"] == "failed"),
    }


def _line(row: Row) -> str:
    file = re.sub(r"^tests/reliability/", "", row["file"])
    return f"| {row['promise']} | `{file}::{row['test']}` | {row['tried']:,} | {row['lost']} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
