from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from gradhook.model.results import Target
from gradhook.scan import Scan, scan


class Project:
    """A folder with Python files, and the scan of it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str | bytes = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        return path

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)

    def scan(self, *names: str, **more: tuple[str, ...]) -> Scan:
        return scan(self.root, [self.root / name for name in names or (".",)], **more)

    def targets(self, text: str) -> tuple[Target, ...]:
        """The targets of one file with this text."""
        self.write("mod.py", text)
        return self.scan().targets


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
