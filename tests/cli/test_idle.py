"""Where nothing is annotated the short way says what the long way says; in doubt it says nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradhook
from gradhook.cli.idle import WORDS, idle
from gradhook.cli.main import run
from gradhook.scan.names import WORDS as OURS

SOURCE = str(Path(gradhook.__file__).parents[1])


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GRADHOOK_")]:
        monkeypatch.delenv(name)
    (tmp_path / "pkg").mkdir()
    for name in ("a.py", "pkg/b.py", "pkg/c.py"):
        (tmp_path / name).write_text("value = 1\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_words_are_those_of_the_scan() -> None:
    assert set(WORDS) == {"gradhook", *OURS}


@pytest.mark.parametrize("words", [["check"], ["check", "--affected", "a.py", "pkg/b.py"]])
@pytest.mark.parametrize("folder", [".", "pkg"])
def test_it_says_the_same(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], folder: str
) -> None:
    if folder == "pkg" and len(words) > 1:
        words = ["check", "--affected", "b.py"]
    monkeypatch.chdir(repository / folder)
    said = idle(words)
    assert said
    assert (run(words), capsys.readouterr().out) == (0, f"{said}\n")


def edit(name: str, text: str) -> Callable[[Path], object]:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")

    return write


DOUBTS: dict[str, Callable[[Path], object]] = {
    "an annotation": edit("pkg/b.py", "from gradhook import gradcheck\n"),
    "a custom rule": edit("new.py", "f = jax.custom_jvp(f)\n"),
    "settings": edit("pyproject.toml", "[tool.gradhook]\nfail-on-empty = true\n"),
    "settings of our own": edit("gradhook.toml", "fail-on-empty = true\n"),
    "settings below": edit("pkg/gradhook.toml", "order = 2\n"),
    "an environment": edit("pkg/pyvenv.cfg", ""),
    "a deleted file": lambda root: (root / "a.py").unlink(),
    "a link": lambda root: (root / "d.py").symlink_to(root / "a.py"),
    "node_modules": edit("node_modules/x.py", ""),
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_in_doubt_nothing(repository: Path, doubt: str) -> None:
    DOUBTS[doubt](repository)
    assert idle(["check"]) == idle(["check", "--affected", "pkg/c.py"]) == ""


OTHER = (
    "", "check a.py", "check -v", "list", "check --affected", "check --affected ../x", "check --affected gone.py",
    "check --affected pkg", "check --affected -q a.py",
)  # fmt: skip


@pytest.mark.parametrize("words", OTHER)
def test_other_commands(repository: Path, words: str) -> None:
    assert idle(words.split()) == ""


def test_variables_and_no_repository(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADHOOK_FAIL_ON_EMPTY", "1")
    assert idle(["check"]) == ""
    monkeypatch.delenv("GRADHOOK_FAIL_ON_EMPTY")
    (repository / ".git").rename(repository / "git")
    assert idle(["check"]) == ""


def test_nothing_is_loaded_for_it(repository: Path) -> None:
    code = (
        "import sys; from gradhook.__main__ import main\ntry:\n    main(['check'])\nfinally:\n    print(*sys.modules)"
    )
    environ = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    said, loaded = done.stdout.splitlines()
    assert said == "no annotated functions in 3 files"
    assert not {"click", "gradhook.model.results", "gradhook.scan", "tomllib"} & set(loaded.split())
