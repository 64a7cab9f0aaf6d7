"""No file makes the scanner crash, and no annotation in it is lost; the oracle that says so is not blind."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from fuzz import scanning
from fuzz.oracle import annotations, lost
from fuzz.sources import hostile
from hypothesis import given, settings
from hypothesis import strategies as st

COUNT = 400


def test_broken_pieces_of_real_files() -> None:
    counts, wrong = scanning.run(COUNT, seed=20)
    assert not wrong, "\n".join(wrong[:5])
    assert counts["inputs"] == COUNT and counts["scanned"] > COUNT / 4 and counts["annotations"] > COUNT / 2


@settings(max_examples=100)
@given(
    st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
)
def test_anything(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "mod.py"
    path.write_bytes(b"import gradhook\n" + text)
    fates = list(scanning.judged(path.read_bytes(), path))
    assert not [fate for fate in fates if fate.startswith(("crashed", "lost", "refused"))]


def test_the_same_seed_gives_the_same_input() -> None:
    one, other = (hostile(random.Random("1/7")) for _ in range(2))
    assert one == other


def test_a_scanner_that_loses_one_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "mod.py"
    path.write_text("import gradhook as gh\n@gh.gradcheck(args=())\ndef f(x): ...\ngh.gradcheck(f)\n")
    assert list(scanning.judged(path.read_bytes(), path)) == ["inputs", "scanned", "annotations", "annotations"]
    monkeypatch.setattr(scanning, "targets", lambda *arguments: ())
    assert sum(fate.startswith("lost") for fate in scanning.judged(path.read_bytes(), path)) == 2


@pytest.mark.parametrize(
    "text, lines",
    [
        ("import gradhook as g\n@g.gradcheck\ndef f(): 0\n", [{2}]),
        ("import gradhook as g\ng.surrogate(\n)(f)\n", [{2}]),
        ("from gradhook import gradcheck as c\nc(f)\nc(g)\n", [{2}, {3}]),
        ("c(f)\nfrom gradhook import gradcheck as c\n", []),
        ("from gradhook import gradcheck as c\ndel c\nc(f)\n", []),
        ("from gradhook import gradcheck as c\ndef f(c): c(f)\n", []),
        ("if x:\n    from gradhook import gradcheck as c\nc(f)\n", []),
        ("from gradhook import normal as c\nc(f)\n", []),
    ],
)
def test_the_oracle_counts_what_nobody_can_dispute(text: str, lines: list[set[int]]) -> None:
    tree = ast.parse(text)
    assert sorted(map(sorted, annotations(tree))) == sorted(map(sorted, lines))
    assert len(lost(tree, [])) == len(lines) and not lost(tree, [line for found in lines for line in found])
