"""A user's project that is checked again and again, by workers that need no JAX."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gradhook.execution import runner, session
from gradhook.execution.supervisor.pool import launch
from gradhook.model.report import Report

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"


@dataclass
class Project:
    """Files below ``root``, and what came of checking them."""

    root: Path
    overrides: dict[str, Any] = field(default_factory=dict)
    starts: list[Any] = field(default_factory=list)
    """The requests with which workers were started."""

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def report(self, *paths: str, **overrides: Any) -> Report:
        said = {"python": sys.executable, **self.overrides, **overrides}
        return session.check(session.find([self.root / path for path in paths or (".",)], said, {}))

    def check(self, *paths: str, **overrides: Any) -> dict[str, str]:
        """Each target's verdict, or that it was cached."""
        report = self.report(*paths, **overrides)
        return {t.target.name: "cached" if t.cached else t.verdict.value for t in report.targets}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Callable[..., Any]) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    made = Project(root)

    def counted(python: Path, request: Any, **more: Any) -> Any:
        made.starts.append(request)
        return launch(python, request, **more)

    monkeypatch.setattr(runner, "launch", functools.partial(counted, boot=FAKE_BOOT))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GRADHOOK_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    return made
