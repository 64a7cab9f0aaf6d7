"""Does ``gradhook migrate`` show, write, count, and never change what is there?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TEST = """\
import jax.numpy as jnp
from jax.test_util import check_grads


def test_sine():
    check_grads(jnp.sin, (0.3,), order=1, rtol=0.1)


def test_cosine(x):
    check_grads(jnp.cos, (x,), order=1)
"""
CLAIMS = '''\
"""Claims translated by `gradhook migrate` from test_a.py; `gradhook check` checks them."""

import jax.numpy as jnp
from gradhook import gradcheck


# test_a.py: test_sine
# left out: rtol=0.1
gradcheck(args=(0.3,), modes=("fwd", "rev"))(jnp.sin)


# test_a.py: test_cosine, to be finished: `x` is a parameter of `test_cosine`
# gradcheck(args=(x,), modes=("fwd", "rev"))(jnp.cos)
'''


@pytest.fixture(autouse=True)
def _tests(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(TEST, encoding="utf-8")
    (tmp_path / "tests" / "test_b.py").write_text("check = 1\n", encoding="utf-8")


def test_it_shows_and_writes_nothing(gradhook, tmp_path: Path) -> None:
    said = gradhook("migrate", "tests")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"# tests/claims_a.py\n{CLAIMS}")
    assert said.out.splitlines()[-8:] == [
        "# tests/test_a.py",
        "#      6  test_sine  translated (left out: rtol=0.1)",
        "#     10  test_cosine  by hand: `x` is a parameter of `test_cosine`",
        "#",
        "# atol, rtol and eps were left out: the differences of gradhook know their own error. Where a derivative is",
        "# approximate on purpose, say rtol= (for each element, never multiplied by a size), or use --keep-tolerances.",
        "#",
        "# 2 calls in 2 files: 1 translated, 1 by hand, 0 left alone",
    ]
    ast.parse(said.out)
    assert sorted(path.name for path in (tmp_path / "tests").iterdir()) == ["test_a.py", "test_b.py"]


def test_it_writes_once(gradhook, tmp_path: Path) -> None:
    claims = tmp_path / "tests" / "claims_a.py"
    assert gradhook("migrate", "--write").out.startswith("wrote tests/claims_a.py\n\ntests/test_a.py\n")
    assert claims.read_text(encoding="utf-8") == CLAIMS
    said = gradhook("migrate", "--write")
    assert (said.code, said.out.splitlines()[0]) == (0, "tests/claims_a.py is there already")
    assert claims.read_text(encoding="utf-8") == CLAIMS
    assert (tmp_path / "tests" / "test_a.py").read_text(encoding="utf-8") == TEST


def test_it_overwrites_nothing(gradhook, tmp_path: Path) -> None:
    claims = tmp_path / "tests" / "claims_a.py"
    claims.write_text("mine = 1\n", encoding="utf-8")
    said = gradhook("migrate", "--write", "tests")
    assert said.code == 2
    assert "tests/claims_a.py differs from what would be written now, and stays as it is" in said.err
    assert claims.read_text(encoding="utf-8") == "mine = 1\n"


def test_nothing_to_translate(gradhook) -> None:
    assert gradhook("migrate", "tests/test_b.py").out == "# no gradient tests in 1 file\n"


def test_a_terminal_gets_no_commands(gradhook, tmp_path: Path) -> None:
    (tmp_path / "tests" / "test_a.py").write_text(TEST.replace("0.3", "'\x1b[2J'"), encoding="utf-8")
    assert "\x1b" not in gradhook("migrate", "tests").out
