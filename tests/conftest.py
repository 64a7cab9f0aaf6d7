from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import gradhook
from gradhook.execution.supervisor.pool import launch
from gradhook.model.protocol import Job, Message, Request
from gradhook.model.report import ProjectResult
from gradhook.model.results import CheckSettings, ClaimKind, Target

# In CI the same examples each time, so that a change is judged by itself; elsewhere new ones, to find new faults.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


HERE = Path(__file__).parent
FAKE_BOOT = HERE / "fake_boot.py"
END_TO_END = [
    HERE / name
    for name in (
        "action", "cache", "hook", "pytest_plugin", "reliability", "supervisor", "test_adversarial.py",
        "test_corpus.py", "test_docs.py", "test_examples.py", "test_interpreter.py", "test_rules.py", "test_session.py",
        "fuzzing/test_fuzz_verdicts.py", "migration/test_migrate.py", "reporters/test_browser.py",
        "suppressions/test_whole.py", "surrogates", "worker/test_boot.py", "worker/test_examine.py",
        "worker/test_unclaimed.py", "worker/test_case_trace.py", "numerics/finite_difference/test_projection.py",
        "numerics/test_iteration_tolerance.py", "numerics/test_witnesses.py", "checks/test_grd107_beside.py",
        "checks/test_grd110_faulty_rule.py", "checks/test_grd202_tangent.py", "checks/test_grd206_order2.py",
        "checks/test_grd207_boundaries.py", "checks/test_grd301_routes.py",
        "worker/test_process_state.py",
        *(f"cli/test_{name}.py" for name in (
            "advice", "completion", "env", "exit_codes", "explain", "idle", "kept", "leaving_out", "parts", "quickness",
            "sharding", "signals", "watch", "whole",
        )),
    )
]  # fmt: skip
"""Folders and files of tests that start Python, or go the whole way from functions to verdicts many times."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long, so that ``-m "not end_to_end"`` leaves it out.

    It comes first: the many short files at the end keep every process busy until the last minute.
    """
    for item in items:
        starts_workers = "repository" in getattr(item, "fixturenames", ())
        if starts_workers or any(item.path.is_relative_to(path) for path in END_TO_END):
            item.add_marker(pytest.mark.end_to_end)
    items.sort(key=lambda item: item.get_closest_marker("end_to_end") is None)


@pytest.fixture(autouse=True)
def _no_memory(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every test checks for itself, and none leaves a key with whoever runs them; tests/cache wants it otherwise."""
    monkeypatch.setenv("GRADHOOK_CACHE", "0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "user"))


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

    def launch(self, *targets: Target, timeout: float = 20.0, **more: Any) -> ProjectResult:
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
def notes() -> Callable[[ProjectResult], list[str]]:
    """What became of each job: the note of its outcome, or the code and message of its finding."""

    def read(launched: ProjectResult) -> list[str]:
        return [
            f"{report.findings[0].code} {report.findings[0].message}" if report.findings else report.outcomes[0].note
            for report in launched.reports
        ]

    return read


Git = Callable[..., subprocess.CompletedProcess[str]]
SOURCE = Path(gradhook.__file__).parents[1]


@pytest.fixture(scope="session")
def git() -> Git:
    """``git(folder, "commit", …)`` without the settings of whoever runs the tests."""
    mine = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        mine |= {f"GIT_{role}_NAME": "t", f"GIT_{role}_EMAIL": "t@example.org"}

    def run(folder: Path, *arguments: str, check: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
        environ = {**{k: v for k, v in os.environ.items() if not k.startswith("GIT_")}, **mine, **more}
        return subprocess.run(
            ["git", *arguments], cwd=folder, env=environ, check=check, capture_output=True, text=True, errors="replace"
        )

    return run


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    """This repository as it stands, uncommitted changes included, as the one commit of a repository, tagged v0.0.1."""
    copy = tmp_path_factory.mktemp("checkout") / "gradhook"
    names = git(SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout.split("\0")
    for name in filter(None, names):
        if (SOURCE / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, copy / name)
    git(copy, "init", "-q", "-b", "main")
    git(copy, "add", "-A")
    git(copy, "commit", "-q", "-m", "all")
    git(copy, "tag", "v0.0.1")
    return copy


@pytest.fixture(scope="session")
def environment() -> Callable[..., Path]:
    """``environment(folder)``: a virtual environment that sees what this one has; with ``packages=False`` nothing."""

    def make(folder: Path, *, packages: bool = True) -> Path:
        venv.create(folder, symlinks=os.name != "nt")
        scheme = {"base": str(folder), "platbase": str(folder)}
        site = Path(sysconfig.get_path("purelib", "venv", scheme))
        if packages:
            seen = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
            (site / "tests.pth").write_text("\n".join(seen) + "\n", encoding="utf-8")
        return folder

    return make
