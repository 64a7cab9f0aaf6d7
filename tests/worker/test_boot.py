"""A worker sees gradhook, where its boot script lies, and nothing of what is installed beside it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import gradhook

EXAMINE = """
from gradhook.model.results import Outcome, TargetReport, Verdict
def examine(subject, target, options, settings, announce):
    announce("only")
    return TargetReport(target, Verdict.PASS, outcomes=(Outcome("GRD101", Verdict.PASS, note=repr(subject())),))
"""
ENVIRONMENT = """
import importlib.util, sys
def counted(examine):
    return examine
def environment():
    names = ("gradhook", "neighbour", "boot", "faults", "examine")
    return {"visible": [name for name in names if importlib.util.find_spec(name)], "click": "click" in sys.modules}
"""


def test_only_gradhook_is_visible(repository: Any, notes: Any, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(Path(gradhook.__file__).parent, site / "gradhook", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "neighbour.py").touch()
    (site / "gradhook" / "execution" / "worker" / "examine.py").write_text(EXAMINE)
    (site / "gradhook" / "execution" / "worker" / "environment.py").write_text(ENVIRONMENT)
    repository.write("mod.py", "import gradhook\n@gradcheck(args=())  # f\ndef f(): return gradhook.__file__\n")
    launched = repository.launch(
        repository.target("mod.py", "f"), boot=site / "gradhook" / "execution" / "worker" / "boot.py"
    )
    assert notes(launched) == [repr(str(site / "gradhook" / "__init__.py"))]
    assert launched.environment["visible"] == ["gradhook"]
    assert launched.environment["click"] is False


def test_another_gradhook_in_the_environment_is_reported(repository: Any, tmp_path: Path) -> None:
    for version in ("9.9.9", gradhook.__version__):
        info = tmp_path / version / f"gradhook-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: gradhook\nVersion: {version}\n")
    repository.write("mod.py", "@gradcheck(args=())  # f\ndef f(): return 1\n")
    found = [
        repository.launch(repository.target("mod.py", "f"), environ={"PYTHONPATH": str(tmp_path / version)}).environment
        for version in ("9.9.9", gradhook.__version__)
    ]
    assert found[0]["other_gradhook"] == "9.9.9"
    assert "other_gradhook" not in found[1]
    assert found[0]["prefix"] == sys.prefix
