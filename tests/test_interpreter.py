"""The project's interpreter is found in the order that users can rely on."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gradhook.execution.interpreter import Interpreter, choose_interpreter, unusable_reason
from gradhook.model.errors import GradhookError

BIN, EXE = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
OWN = Path(sys.executable)


def environment(folder: Path) -> Path:
    """Something that looks like a virtual environment; its interpreter."""
    python = folder / BIN / EXE
    python.parent.mkdir(parents=True)
    python.touch()
    (folder / "pyvenv.cfg").touch()
    return python


def having_jax(*pythons: Path) -> Callable[[Path], str]:
    return lambda python: "" if python in pythons else "has no jax" if python.exists() else "no such file"


def test_the_order(tmp_path: Path) -> None:
    names = ("active", "conda", "uv-env", ".venv", "venv")
    pythons = [environment(tmp_path / name) for name in names]
    environ = {
        "PATH": os.pathsep.join([str(tmp_path / "active" / BIN), "/nowhere"]),
        "CONDA_PREFIX": str(tmp_path / "conda"),
        "UV_PROJECT_ENVIRONMENT": "uv-env",
    }
    if sys.platform == "win32":
        (tmp_path / "conda" / EXE).touch()
        pythons[1] = tmp_path / "conda" / EXE
    expected = ["active on PATH", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", ".venv", "venv", "gradhook's own"]
    found = [choose_interpreter(None, tmp_path, environ, probe=having_jax(*pythons[n:], OWN)) for n in range(6)]
    assert [interpreter.why for interpreter in found] == expected
    assert [interpreter.path for interpreter in found] == [*pythons, OWN]
    assert [len(interpreter.tried) for interpreter in found] == [0, 1, 2, 3, 4, 5]
    assert found[1].tried == (f"active on PATH: {pythons[0]} (has no jax)",)


def test_the_hook_s_own_environment_is_not_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook, active = environment(tmp_path / "hook"), environment(tmp_path / "active")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "hook"))
    environ = {"PATH": os.pathsep.join([str(hook.parent), str(active.parent)])}
    both = having_jax(hook, active)
    assert choose_interpreter(None, tmp_path, {**environ, "PRE_COMMIT": "1"}, probe=both).path == active
    assert choose_interpreter(None, tmp_path, environ, probe=both).path == hook


def test_an_environment_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    python = environment(tmp_path / ".venv")
    member = tmp_path / "packages" / "one"
    member.mkdir(parents=True)
    assert choose_interpreter(None, member, {}, probe=having_jax(python)).path == python


def test_nothing_from_outside_the_repository(tmp_path: Path) -> None:
    outside = environment(tmp_path / ".venv")
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    with pytest.raises(GradhookError) as caught:
        choose_interpreter(None, repository, {}, probe=having_jax(outside))
    assert str(outside) not in caught.value.message


@pytest.mark.parametrize("name", ["python", "folder", "on PATH"])
def test_named(tmp_path: Path, name: str) -> None:
    python = environment(tmp_path / "named")
    said = {"python": str(python), "folder": str(tmp_path / "named"), "on PATH": EXE}[name]
    python.chmod(0o755)
    found = choose_interpreter(
        said, tmp_path, {"PATH": str(python.parent)}, origin="GRADHOOK_PYTHON", probe=having_jax(python)
    )
    assert found == Interpreter(python, "GRADHOOK_PYTHON")


def test_a_named_one_is_not_replaced_by_another(tmp_path: Path) -> None:
    with pytest.raises(GradhookError, match="named by --python: no such file") as caught:
        choose_interpreter(str(tmp_path / "nothing" / "python"), tmp_path, {}, probe=having_jax(OWN))
    assert "GRADHOOK_PYTHON" in caught.value.help


def test_none_at_all_lists_what_was_tried(tmp_path: Path) -> None:
    first, second = environment(tmp_path / ".venv"), environment(tmp_path / "venv")
    with pytest.raises(GradhookError) as caught:
        choose_interpreter(None, tmp_path, {}, probe=having_jax())
    lines = caught.value.message.splitlines()
    assert lines[1:] == [
        f"  .venv: {first} (has no jax)",
        f"  venv: {second} (has no jax)",
        f"  gradhook's own: {OWN} (has no jax)",
    ]
    assert "pip install jax" in caught.value.help and "--python" in caught.value.help


def test_an_interpreter_is_tried_once(tmp_path: Path) -> None:
    python = environment(tmp_path / ".venv")
    asked: list[Path] = []

    def note(path: Path) -> str:
        asked.append(path)
        return "" if path == OWN else "has no jax"

    choose_interpreter(None, tmp_path, {"PATH": str(python.parent)}, probe=note)
    assert asked == [python, OWN]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real environment without JAX; its interpreter."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    return folder / BIN / EXE


def _put_jax(python: Path, version: str | None) -> Path:
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    (packages / "jax.py").touch()
    if version:
        (packages / f"jax-{version}.dist-info").mkdir()
        (packages / f"jax-{version}.dist-info" / "METADATA").write_text(f"Name: jax\nVersion: {version}\n")
    return packages


@pytest.mark.parametrize(
    "version, reason",
    [("0.10.2", ""), ("0.7.2", "has jax 0.7.2, gradhook needs 0.8 or newer"), (None, ""), ("1.0rc1", "")],
)
def test_probe_of_a_real_environment(tmp_path: Path, version: str | None, reason: str) -> None:
    venv.create(tmp_path, with_pip=False)
    python = tmp_path / BIN / EXE
    assert unusable_reason(python) == "has no jax"
    _put_jax(python, version)
    assert unusable_reason(python) == reason


def test_probe_sees_nothing_of_our_own(bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "jax.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert unusable_reason(bare) == "has no jax"


SCRIPTS: Mapping[str, str] = {
    "echo 3.9.1; echo 0.10.0": "is Python 3.9, gradhook needs 3.11 or newer",
    "echo no python": "is no Python that can be asked",
    "exit 3": "is no Python that can be asked",
}


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
@pytest.mark.parametrize("script", SCRIPTS)
def test_probe_of_something_else(tmp_path: Path, script: str) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    assert "cannot be run" in unusable_reason(python)
    python.chmod(0o755)
    assert unusable_reason(python) == SCRIPTS[script]
