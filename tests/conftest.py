from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradhook.launch import Launched, launch
from gradhook.model import CheckSettings, ClaimKind, Target
from gradhook.wire import Job, Message, Request

FAKE_BOOT = Path(__file__).parent / "fake_boot.py"


class Repository:
    """A user's repository, and a launch of the workers on some of its functions."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.messages: list[Message] = []

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("from gradhook import gradcheck, surrogate\n" + text, encoding="utf-8")

    def target(self, path: str, qualname: str, module: str = "", **more: Any) -> Target:
        """The target as the scan would see it; ``mark`` is the line on which ``# <qualname>`` stands, by default."""
        lines = (self.root / path).read_text(encoding="utf-8").splitlines()
        mark = more.pop("mark", 0) or next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {qualname}"))
        module = module or Path(path).stem
        return Target(module, qualname, path, mark + 1, mark, ClaimKind.EXACT, str(self.root), **more)

    def launch(self, *targets: Target, timeout: float = 20.0, **more: Any) -> Launched:
        jobs = tuple(Job(n, target, {} if target.source == "config" else None) for n, target in enumerate(targets))
        paths = tuple(str(path) for path in (self.root, self.root / "src") if path.is_dir())
        request = Request(str(self.root), paths, jobs, more.pop("settings", CheckSettings()))
        more = {"boot": FAKE_BOOT, "on_message": self.messages.append, **more}
        return launch(Path(sys.executable), request, timeout=timeout, **more)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root = tmp_path / "project"
    root.mkdir()
    return Repository(root)


@pytest.fixture
def notes() -> Callable[[Launched], list[str]]:
    """What became of each job: the note of its outcome, or the code and message of its finding."""

    def read(launched: Launched) -> list[str]:
        return [
            f"{report.findings[0].code} {report.findings[0].message}" if report.findings else report.outcomes[0].note
            for report in launched.reports
        ]

    return read
