"""A real repository with a branch, and what is weaker on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gradhook.config.settings import OPTIONS
from gradhook.projects.baseline import compare

HEAD = "import jax, optax\nfrom gradhook import gradcheck, surrogate, case, raises, normal\n"


class Branch:
    """``before`` is committed on main, ``now`` on a branch of it."""

    def __init__(self, root: Path, git: Callable[..., Any]) -> None:
        self.root, self._git = root, git
        self.git("init", "-q", "-b", "main")
        self.write("pyproject.toml", "")

    def git(self, *arguments: str) -> str:
        return str(self._git(self.root, *arguments).stdout)

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            file.write_bytes(text)
        else:
            file.write_text((HEAD if path.endswith(".py") else "") + dedent(text), encoding="utf-8")

    def commit(self, files: dict[str, str] | None = None, branch: str | None = None) -> None:
        for path, text in (files or {}).items():
            self.write(path, text)
        if branch:
            self.git("switch", "-q", "-c", branch)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "c")

    def changes(self, ref: str = "main", below: str = "") -> list[str]:
        """``subject what kind: before -> now`` of each."""
        return [f"{c.subject} {c.what} {c.kind}: {c.before} -> {c.after}" for c in compare(ref, self.root / below)]

    def between(self, before: str, now: str) -> list[str]:
        """What the text of one module is weaker."""
        self.commit({"m.py": before})
        self.commit({"m.py": now}, branch="change")
        return self.changes()


@pytest.fixture
def branch(tmp_path: Path, git: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Branch:
    for option in OPTIONS:
        monkeypatch.delenv(option.variable, raising=False)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    root = tmp_path / "repository"
    root.mkdir()
    return Branch(root, git)
