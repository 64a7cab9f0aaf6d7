"""Does the command line say which settings hold and who said them, and does it choose the file?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradhook.config.settings import BY_KEY

TOML = "[tool.gradhook]\nseed = 3\n\n[tool.gradhook.per-file-ignores]\n'a/*' = ['GRD406', 'GRD1']\n"


def rows(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line}


@pytest.mark.usefixtures("verdicts")
def test_show_settings(gradhook, project, monkeypatch: pytest.MonkeyPatch) -> None:
    project("bad", toml=TOML)
    monkeypatch.setenv("GRADHOOK_SELECT", "GRD1,GRD2")
    said = gradhook("check", "--show-settings", "--timeout", "5")
    assert (said.code, said.err) == (0, "")
    shown = rows(said.out)
    assert shown["configuration"] == ["pyproject.toml"]
    assert (shown["project"], shown["seed"], shown["timeout"]) == (["."], ["3", "pyproject.toml:2"], ["5", "--timeout"])
    assert shown["per-file-ignores"] == ["a/*:", "GRD406", "GRD1", "pyproject.toml:4"]
    assert (shown["select"], shown["rtol"]) == (["GRD1,", "GRD2", "GRADHOOK_SELECT"], ["2e-10", "default"])
    assert set(shown) == {"project", "configuration", *(option.toml for option in BY_KEY.values())}


def test_show_settings_for_programs(gradhook, project) -> None:
    folder = project(toml=TOML)
    (document,) = json.loads(gradhook("check", "--show-settings", "--output-format", "json").out).values()
    assert document["config"] == str(folder / "pyproject.toml")
    assert document["settings"]["seed"] == {"value": 3, "origin": "pyproject.toml", "line": 2}
    assert document["settings"]["per-file-ignores"]["value"] == {"a/*": ["GRD406", "GRD1"]}


@pytest.mark.usefixtures("verdicts")
def test_two_files_with_settings(gradhook, project, tmp_path: Path) -> None:
    project("good", toml=TOML)
    (tmp_path / "gradhook.toml").write_text("seed = 4\n", encoding="utf-8")
    line = "gradhook.toml is read, [tool.gradhook] of pyproject.toml is not"
    assert gradhook("check").err == f"gradhook: {line}\n"
    assert gradhook("check", "-q").err == ""
    shown = gradhook("check", "--show-settings").out
    assert f"configuration  gradhook.toml ({line})" in shown
    assert rows(shown)["seed"] == ["4", "gradhook.toml:1"]


@pytest.mark.usefixtures("verdicts")
def test_a_file_is_chosen(gradhook, project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project("bad", toml="[tool.gradhook]\nnonsense = 1\n")
    (tmp_path / "ci.toml").write_text("output-format = 'concise'\n", encoding="utf-8")
    assert gradhook("check").code == 2
    concise = "m.py:7: GRD101 fail m:bad bad is fail\n"
    assert gradhook("check", "--config", "ci.toml").out == concise
    monkeypatch.setenv("GRADHOOK_CONFIG", "ci.toml")
    assert gradhook("check").out == concise
    assert "m:bad" in gradhook("list").out
    monkeypatch.delenv("GRADHOOK_CONFIG")
    isolated = gradhook("check", "--isolated", "--output-format", "json")
    (finding,) = json.loads(isolated.out)["targets"][0]["findings"]
    assert finding["reproduce"] == "gradhook check m.py -k m:bad --isolated"
    assert "none (--isolated)" in gradhook("check", "--isolated", "--show-settings").out


@pytest.mark.parametrize("arguments", [["--config", "nowhere.toml"], ["--config", "m.py", "--isolated"]])
def test_files_that_cannot_be_chosen(gradhook, project, arguments: list[str]) -> None:
    project("good")
    assert gradhook("check", *arguments).code == 2


def test_what_is_ignored_is_said_though_nothing_is_annotated(gradhook, project) -> None:
    project(extra="\n@jax.custom_jvp\ndef rule(x):\n    return x\n", toml="[tool.gradhook]\nignore = ['GRD501']\n")
    said = gradhook("check")
    assert "1 finding ignored: GRD501 by ignore (pyproject.toml)\n" in said.out
    assert said.out.endswith("no annotated functions in 1 file\n")
