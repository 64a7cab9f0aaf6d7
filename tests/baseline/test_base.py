"""The settings of the files at another revision, everything else as it is now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradhook.config import Config, Source
from gradhook.projects.baseline.weakened_settings import settings_from
from gradhook.projects.discovery import find


def settings(branch: Any, before: str, now: str, start: Path | None = None, **overrides: Any) -> Config:
    branch.commit({"pyproject.toml": f"[tool.gradhook]\n{before}\n", "inner/m.py": "", "m.py": ""})
    branch.commit({"pyproject.toml": f"[tool.gradhook]\n{now}\n"}, branch="change")
    with settings_from("main", branch.root) as read:
        (project,) = find([start or branch.root], overrides, {}, read=read)
    return project.config


def test_the_origin_says_so_and_options_go_before(branch: Any) -> None:
    config = settings(branch, "order = 2\nrtol = 1e-5", "order = 1", rtol="1e-3")
    assert (config.settings.order, config.origin("order")) == (2, {"origin": "pyproject.toml at main", "line": 2})
    assert (config.settings.rtol, config.origin("rtol")) == (1e-3, {"origin": "--rtol"})
    assert config.root == branch.root


@pytest.mark.parametrize("said, meant", [("venv/bin/python", "{root}/venv/bin/python"), ("python3.11", "python3.11")])
def test_an_interpreter_that_stands_beside_the_configuration(branch: Any, said: str, meant: str) -> None:
    config = settings(branch, f"python = '{said}'", "python = 'fake/python'")
    assert config.settings.python == meant.format(root=branch.root)


def test_an_inner_project_that_is_new_has_the_settings_that_held_there(branch: Any) -> None:
    branch.write("inner/pyproject.toml", "[tool.gradhook]\nrtol = 1.0\n")
    assert settings(branch, "rtol = 1e-5", "", branch.root / "inner").settings.rtol == 1.0  # committed on main as well
    branch.write("new/gradhook.toml", "rtol = 1.0\n")
    branch.write("new/m.py", "")
    with settings_from("main", branch.root) as read:
        (project,) = find([branch.root / "new"], {}, {}, read=read)
    assert (project.config.settings.rtol, project.config.root) == (1e-5, branch.root / "new")


def test_a_file_that_somebody_names_is_read_as_it_is(branch: Any) -> None:
    branch.commit({"pyproject.toml": "[tool.gradhook]\norder = 2\n", "other.toml": "rtol = 1e-5\n", "m.py": ""})
    with settings_from("main", branch.root) as read:
        (project,) = find([branch.root], {}, {}, Source(branch.root / "other.toml"), read)
        (isolated,) = find([branch.root], {}, {}, Source(isolated=True), read)
    assert (project.config.settings.rtol, project.config.settings.order) == (1e-5, 1)
    assert isolated.config.settings.order == 1
