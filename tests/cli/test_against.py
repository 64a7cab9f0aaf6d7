"""``check --against`` and ``--config-from`` on a real repository: what is said where, and which code comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CLAIM = "from gradhook import gradcheck\n@gradcheck(args=(1.0,), rtol={rtol})\ndef {name}(x):\n    return x\n"


@pytest.fixture
def changed(tmp_path: Path, git: Callable[..., Any], verdicts: list[str]) -> Callable[..., Path]:
    """``changed(before, now)``: the repository with the configuration of main and of the branch, one claim looser."""

    def make(before: str = "", now: str | None = None, rtol: str = "0.5", name: str = "good") -> Path:
        git(tmp_path, "init", "-q", "-b", "main")
        for branch, toml, tolerance in (("main", before, "1e-9"), ("change", before if now is None else now, rtol)):
            git(tmp_path, "checkout", "-q", "-B", branch)
            (tmp_path / "pyproject.toml").write_text(f"[tool.gradhook]\n{toml}\n")
            (tmp_path / "m.py").write_text(CLAIM.format(rtol=tolerance, name=name))
            git(tmp_path, "add", "-A")
            git(tmp_path, "commit", "-q", "--allow-empty", "-m", branch)
        return tmp_path

    return make


def test_a_notice_a_table_and_the_json_report(gradhook: Any, changed: Any, tmp_path: Path) -> None:
    changed()
    done = gradhook("check", "--against", "main", "--report", "json=r.json", "--report", "markdown=s.md")
    assert done.code == 0
    assert "weaker than main" in done.out and "m:good" in done.out and "1e-09" in done.out
    (change,) = json.loads((tmp_path / "r.json").read_text())["against"]
    said = {"kind": "weakened", "subject": "m:good", "what": "rtol", "before": "1e-09", "after": "0.5"}
    assert change == {**said, "path": "m.py", "line": 3}
    page = (tmp_path / "s.md").read_text()
    assert "### Weaker than `main`" in page and "| `m:good`" in page and "GRD505" not in page


@pytest.mark.parametrize(
    "setting, code", [("", 0), ("weakened = 'warn'", 0), ("weakened = 'error'", 1), ("weakened = 'ignore'", 0)]
)
def test_what_it_counts_as(gradhook: Any, changed: Any, setting: str, code: int) -> None:
    changed(setting)
    done = gradhook("check", "--against", "main")
    assert done.code == code and ("m:good" in done.out and "weakened" in done.out) == ("ignore" not in setting)


def test_nothing_that_asks_less(gradhook: Any, changed: Any, tmp_path: Path) -> None:
    changed("weakened = 'error'", rtol="1e-10")
    done = gradhook("check", "--against", "main", "--report", "json=r.json")
    assert done.code == 0 and "is weaker" not in done.out
    assert json.loads((tmp_path / "r.json").read_text())["against"] == []


def test_not_asked(gradhook: Any, changed: Any, tmp_path: Path) -> None:
    changed("weakened = 'error'")
    assert gradhook("check", "--report", "json=r.json").code == 0
    assert json.loads((tmp_path / "r.json").read_text())["against"] is None


def test_no_comment_silences_it(gradhook: Any, changed: Any, tmp_path: Path) -> None:
    root = changed("weakened = 'error'")
    text = (root / "m.py").read_text()
    (root / "m.py").write_text(text.replace("rtol=0.5)", "rtol=0.5)  # gradhook: ignore"))
    assert gradhook("check", "--against", "main").code == 1


@pytest.mark.parametrize(
    "before, now, name, code",
    [
        ("weakened = 'error'", "weakened = 'ignore'", "good", 1),
        ("", "exit-zero = true", "bad", 1),
        ("", "undecided = 'warn'", "kink", 1),
        ("undecided = 'warn'", "", "kink", 0),
        ("", "exclude = ['m.py']\nfail-on-empty = true", "bad", 1),
    ],
)
def test_settings_of_the_base(gradhook: Any, changed: Any, before: str, now: str, name: str, code: int) -> None:
    changed(before, now, name=name)
    assert gradhook("check", "--against", "main", "--config-from", "main").code == code
    assert gradhook("check").code != code


def test_targets_of_the_configuration_are_those_of_now(gradhook: Any, changed: Any, verdicts: list[str]) -> None:
    changed("", "[tool.gradhook.targets.'other:g']\nargs = ['1.0']")
    assert gradhook("check", "--config-from", "main").code == 0
    assert verdicts == ["good", "g"]


@pytest.mark.parametrize("option", ["--against", "--config-from"])
def test_a_revision_that_is_not_there(gradhook: Any, changed: Any, option: str) -> None:
    changed()
    done = gradhook("check", option, "origin/main")
    assert done.code == 2 and "no commit 'origin/main'" in done.err and "git fetch" in done.err


def test_no_repository(gradhook: Any, project: Any, verdicts: list[str]) -> None:
    project("good")
    done = gradhook("check", "--against", "main")
    assert done.code == 2 and "in no git repository" in done.err
