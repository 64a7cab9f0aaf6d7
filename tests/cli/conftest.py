"""A small project, and a session in which no JAX is needed: a target's name says its verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gradhook.cli.main import run
from gradhook.config.settings import OPTIONS
from gradhook.execution import session
from gradhook.model.report import Report
from gradhook.model.results import Finding, TargetReport, Verdict
from gradhook.projects.suppressions import early_notices

WORDS = {"bad": Verdict.FAIL, "kink": Verdict.UNDECIDED, "gone": Verdict.ERROR, "later": Verdict.SKIP}


@dataclass(frozen=True)
class Said:
    """How a run ended."""

    code: int
    out: str
    err: str


Gradhook = Callable[..., Said]


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "GRADHOOK_DEBUG", *(option.variable for option in OPTIONS)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def gradhook(capsys: pytest.CaptureFixture[str]) -> Gradhook:
    """The command line in this process."""

    def call(*arguments: str) -> Said:
        code = run(arguments)
        return Said(code, *capsys.readouterr())

    return call


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """``project("good", "bad", toml="…")``: one file with these exact claims."""

    def make(*names: str, toml: str = "", where: str = ".", extra: str = "") -> Path:
        folder = tmp_path / where
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text(toml, encoding="utf-8")
        lines = ["import jax", "from gradhook import gradcheck", extra]
        lines += [f"@gradcheck(args=(1.0,))\ndef {name}(x):\n    return x\n" for name in names]
        (folder / "m.py").write_text("\n".join(lines), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let names decide instead of workers; the names of what was checked, in order."""
    checked: list[str] = []

    def check(projects: Sequence[session.Project], **more: object) -> Report:
        targets = [target for project in projects for target in project.targets]
        checked.extend(target.qualname for target in targets)
        notices = tuple(notice for project in projects for notice in early_notices(project.config, project.scan))
        answers = tuple(TargetReport(t, *_answer(t.qualname, t.path)) for t in targets)
        settings = session._joined(projects, [session._settings(project.config) for project in projects])
        return Report(answers, notices, settings=settings, seconds=1.0)

    monkeypatch.setattr(session, "check", check)
    return checked


def _answer(name: str, path: str) -> tuple[Verdict, tuple[()], tuple[Finding, ...]]:
    verdict = WORDS.get(name.partition("_")[0], Verdict.PASS)
    finding = Finding("GRD101", verdict, f"{name} is {verdict}", path=path, line=7)
    return verdict, (), (() if verdict is Verdict.PASS else (finding,))


RULE = "\n@jax.custom_jvp\ndef unclaimed(x):\n    return x\n"
