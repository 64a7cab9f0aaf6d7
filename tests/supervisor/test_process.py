"""What a worker finds in its environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gradhook.execution.supervisor.process import running_worker, worker_environment
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Request

OWN = Path(sys.executable)
OTHER = Path("/elsewhere/bin/python")
HOOK = {"PYTHONPATH": "mine", "PYTHONHOME": "home", "VIRTUAL_ENV": "hook", "__PYVENV_LAUNCHER__": "x"}


def test_no_secrets_of_the_runner() -> None:
    secrets = {"GITHUB_TOKEN": "t", "GITHUB_OUTPUT": "o", "ACTIONS_RUNTIME_TOKEN": "a", "RUNNER_TEMP": "r"}
    found = worker_environment(OWN, None, {**secrets, "HOME": "h"})
    assert not found.keys() & secrets.keys() and found["HOME"] == "h"


def test_nothing_of_the_hook_in_another_interpreter() -> None:
    assert not worker_environment(OTHER, None, HOOK).keys() & HOOK.keys()
    assert HOOK.items() <= worker_environment(OWN, None, HOOK).items()


@pytest.mark.parametrize(
    "platform, variable, expected", [(None, None, "cpu"), (None, "cuda", "cuda"), ("gpu", "cuda", "gpu")]
)
def test_platform(platform: str | None, variable: str | None, expected: str) -> None:
    environ = {} if variable is None else {"JAX_PLATFORMS": variable}
    assert worker_environment(OWN, platform, environ)["JAX_PLATFORMS"] == expected


def test_the_interpreter_s_own_programs_come_first() -> None:
    found = worker_environment(OTHER, None, {"PATH": "/usr/bin"})
    assert found["PATH"] == os.pathsep.join([str(OTHER.parent.absolute()), "/usr/bin"])
    assert found["PYTHONUTF8"] == "1"


def test_what_cannot_be_run(tmp_path: Path) -> None:
    nothing = tmp_path / "python"
    with (
        pytest.raises(GradhookError, match="cannot be run"),
        running_worker(nothing, nothing, Request(str(tmp_path), (), ()), {}),
    ):
        pass
