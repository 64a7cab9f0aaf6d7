"""Does every case of the corpus of real faults get the verdict that it expects?

A case is a module of ``tests/corpus`` with ``f``, ``make_args()``, ``KIND``, ``EXPECT`` and ``WHY``; optional ``MODES``
and ``ORDER``, and ``forward_ref`` and ``surrogate_tangent`` for a surrogate.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import jax

from gradhook.model import CheckSettings, ClaimKind, Target, TargetReport
from gradhook.worker.examine import examine

FOLDER = Path(__file__).parent.parent / "tests" / "corpus"
ACCEPTED = {"not fail": ("pass", "undecided"), "not pass": ("fail", "undecided")}


def run(pattern: str) -> bool:
    """Print a line for each case; whether all are as expected."""
    if not FOLDER.is_dir():
        print(f"\ncorpus: there is no {FOLDER.relative_to(FOLDER.parent.parent)}, skipped")
        return True
    files = [p for p in sorted(FOLDER.glob("*.py")) if re.search(pattern, p.stem)]
    print(f"\n{'case':44} {'expected':10} {'verdict':10} as expected")
    answers = [_case(path) for path in files]
    counted = [a for a in answers if a is not None]
    print(f"\ncorpus: {sum(counted)} of {len(counted)} cases as expected")
    return all(counted)


def _case(path: Path) -> bool | None:
    with jax.enable_x64(True):
        module = _load(path)
    if not hasattr(module, "EXPECT"):
        return None
    report = _report(module, path)
    verdict = str(report.verdict)
    good = verdict in ACCEPTED.get(module.EXPECT, (module.EXPECT,))
    print(f"{path.stem:44} {module.EXPECT:10} {verdict:10} {'yes' if good else 'NO: ' + module.WHY}")
    return good


def _report(module: ModuleType, path: Path) -> TargetReport:
    target = Target(path.stem, "f", path.name, 1, 1, ClaimKind(module.KIND), str(path.parent))
    options: dict[str, Any] = {"args": module.make_args}
    if hasattr(module, "MODES"):
        options["modes"] = module.MODES
    if module.KIND == "surrogate":
        options |= {"forward": module.forward_ref, "rule": module.surrogate_tangent}
    else:
        options["order"] = getattr(module, "ORDER", 2)
    return examine(module.f, target, options, CheckSettings(), lambda name: None)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
