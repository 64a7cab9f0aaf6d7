"""A project on disk, and answers about its targets that are made by hand: what is left of them?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradhook.config import load
from gradhook.model.results import Finding, Outcome, Target, TargetReport, Verdict, gravest_first, worst
from gradhook.projects.suppressions import FilteredReport, apply_suppressions
from gradhook.scan import scan

HEAD = "import jax\nfrom gradhook import gradcheck\n\n"
Answer = Callable[[Target], TargetReport]


def answer(*findings: Finding, ignore: tuple[str, ...] = ()) -> Answer:
    """GRD105 passes; each finding is the outcome of GRD101."""

    def about(target: Target) -> TargetReport:
        outcomes = (
            Outcome("GRD105", Verdict.PASS, "args", resolution=1e-9),
            *(Outcome("GRD101", worst([f.verdict]), "args", (f,)) for f in findings),
        )
        verdict = worst([o.verdict for o in outcomes])
        return TargetReport(target, verdict, outcomes, gravest_first(list(findings)), ignore=ignore)

    return about


class Hearing:
    """``hearing("@gradcheck() …", answer(…))``: what is heard of the file ``m.py`` when every target is answered so."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(
        self, text: str, about: Answer | None, toml: str = "", *, whole: bool = True, select: str = ""
    ) -> FilteredReport:
        (self.root / "m.py").write_text(HEAD + text, encoding="utf-8")
        (self.root / "pyproject.toml").write_text(toml, encoding="utf-8")
        config = load(self.root, {"select": select} if select else {}, {})
        found = scan(self.root, [self.root])
        return apply_suppressions(
            config, found, [about(target) for target in found.targets] if about else [], whole=whole
        )


@pytest.fixture
def hearing(tmp_path: Path) -> Hearing:
    return Hearing(tmp_path)
