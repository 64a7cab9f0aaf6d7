"""Does the whole way work: files, scan, worker, JAX, report, exit code? And what does the light side never load?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import gradhook as package

REPOSITORY = Path(package.__file__).parents[1]
SCHEMA = json.loads((REPOSITORY / "docs" / "report.schema.json").read_text(encoding="utf-8"))
SOURCE = """
import jax
import jax.numpy as jnp
from gradhook import gradcheck, normal

@gradcheck(args=(normal(3),))
def smooth(x):
    return jnp.sum(jnp.sin(x))

@gradcheck(args=(normal(3),), modes=("rev",))
@jax.custom_vjp
def wrong(x):
    return jnp.sum(x * x)

wrong.defvjp(lambda x: (wrong(x), x), lambda x, g: (2.5 * g * x,))
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", env=environ, check=False
    )


def test_a_right_and_a_wrong_function(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "losses.py").write_text(SOURCE, encoding="utf-8")
    done = python("-m", "gradhook", "check", "losses.py", "--python", sys.executable, "--output-format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    smooth, wrong = document["targets"]
    assert (smooth["target"], smooth["verdict"]) == ("losses:smooth", "pass")
    assert (wrong["target"], wrong["verdict"]) == ("losses:wrong", "fail")
    assert wrong["findings"][0]["code"] == "GRD102"
    assert wrong["findings"][0]["path"] == "losses.py"


LOADED = """
import sys
from gradhook.cli.main import run
code = run({arguments})
print(*sorted(sys.modules))
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        (
            ["--help"],
            {"jax", "numpy", "subprocess", "gradhook.execution.session", "gradhook.execution.runner", "traceback"},
        ),
        (["check", "--help"], {"jax", "numpy", "subprocess", "gradhook.execution.session"}),
        (["list"], {"jax", "numpy"}),
        (["check"], {"jax", "numpy", "gradhook.execution.runner", "gradhook.execution.supervisor.pool"}),
    ],
)
def test_what_is_not_loaded(tmp_path: Path, arguments: list[str], without: set[str]) -> None:
    (tmp_path / "m.py").write_text("x = 1\n", encoding="utf-8")
    done = python("-c", LOADED.format(arguments=arguments))
    assert done.returncode == 0
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "gradhook.cli.check" in loaded
    assert not loaded & without
