"""Is every file found that an import of a file reads?"""

from __future__ import annotations

from pathlib import Path

import pytest

from gradhook.scan.imports import file_of, import_closure

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/losses.py": "from . import tables\nfrom .deep.solve import root\nimport os, json.decoder\n",
    "src/shop/tables.py": "import shop.losses\n",  # in a circle
    "src/shop/deep/__init__.py": "from ..units import metre\n",
    "src/shop/deep/solve.py": "def root():\n    import helper\n",
    "src/shop/units.py": "",
    "src/shop/alone.py": "",
    "helper.py": "x = (\n",
    "claims.py": "from shop.losses import huber as h\nfrom shop import *\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("src/shop/alone.py", {"src/shop/alone.py"}),
        ("helper.py", {"helper.py"}),
        ("claims.py", set(FILES) - {"src/shop/alone.py"}),
        ("src/shop/deep/solve.py", {"src/shop/deep/solve.py", "helper.py"}),
    ],
)
def test_reached(root: Path, name: str, reached: set[str]) -> None:
    assert {path.relative_to(root).as_posix() for path in import_closure(root)(root / name)} == reached


def test_the_file_of_a_module(root: Path) -> None:
    assert file_of("shop.deep", root) == root / "src/shop/deep/__init__.py"
    assert file_of("optax", root) is None
