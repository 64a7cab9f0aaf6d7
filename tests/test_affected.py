"""Files that changed lead to the targets that they concern."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradhook.execution import runner, session
from gradhook.execution.affected import affected_projects
from gradhook.execution.supervisor.pool import launch
from gradhook.model.errors import GradhookError

FAKE_BOOT = Path(__file__).parent / "fake_boot.py"
F = "from gradhook import gradcheck\n{imports}\n@gradcheck(args=(1.0,))\ndef {name}(x):\n    return {value}\n"
RULE = "import jax\n@jax.custom_jvp\ndef r(x): ...\n"


class User:
    """A repository, and what a change of its files concerns."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said = {"python": sys.executable}

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")

    def changed(self, *names: str) -> list[str]:
        projects = affected_projects([self.root / name for name in names], self.said, os.environ)
        return sorted(target.name for project in projects for target in project.targets)

    def check(self, *names: str) -> dict[str, str]:
        projects = affected_projects([self.root / name for name in names], self.said, os.environ)
        return {t.target.name: t.verdict.value for t in session.check(projects).targets}

    def check_all(self) -> None:
        session.check(session.find([self.root], self.said, os.environ))


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Callable[..., Any]) -> User:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    for name in ("CI", "GRADHOOK_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(runner, "launch", functools.partial(launch, boot=FAKE_BOOT))
    made = User(root)
    made.write(
        {
            "pyproject.toml": "",
            "low.py": "factor = 2.0\n",
            "a.py": F.format(imports="from low import factor", name="f", value="factor"),
            "b.py": F.format(imports="text = open('table.txt').read()", name="g", value="False"),
            "c.py": F.format(imports="", name="h", value="x"),
            "table.txt": "1",
            "README.md": "",
            "rule.py": RULE,
        }
    )
    return made


def test_what_was_never_examined_is_concerned_by_code_only(user: User) -> None:
    assert user.changed("c.py") == ["a:f", "b:g", "c:h"]
    assert user.changed("README.md") == user.changed("table.txt") == []


def test_what_depended_on_a_file(user: User) -> None:
    user.check_all()
    assert user.changed("low.py") == ["a:f"]
    assert user.changed("table.txt") == ["b:g"], "a target that failed is known, too"
    assert user.changed("c.py") == ["c:h"]
    assert user.changed("README.md", "rule.py") == []
    assert user.changed("pyproject.toml") == ["a:f", "b:g", "c:h"]


def test_what_is_known_outlives_a_change(user: User) -> None:
    user.check_all()
    user.write({"low.py": "factor = False\n", "a.py": "\n\n" + (user.root / "a.py").read_text(encoding="utf-8")})
    assert user.check("low.py") == {"a:f": "fail"}
    assert user.check("README.md") == {}, "what failed before does not hold up what it has nothing to do with"


def test_a_new_file_in_front_of_another(user: User) -> None:
    user.check_all()
    user.write({"low/__init__.py": "factor = 3.0\n"})
    assert user.changed("low/__init__.py") == ["a:f"]


def test_a_file_that_is_gone(user: User) -> None:
    user.check_all()
    (user.root / "low.py").unlink()
    assert user.changed("README.md") == ["a:f"]
    assert user.changed("low.py") == ["a:f"]


def test_a_new_target(user: User) -> None:
    user.check_all()
    user.write({"c.py": F.format(imports="", name="new", value="x")})
    assert user.changed("low.py") == ["a:f", "c:new"]


def test_a_new_file_in_a_folder_that_was_listed(user: User) -> None:
    user.write({"data/one.txt": "", "c.py": F.format(imports="import os\nos.listdir('data')", name="h", value="x")})
    user.check_all()
    user.write({"data/two.txt": ""})
    assert user.changed("data/two.txt") == ["c:h"]
    assert user.changed("README.md") == []


def test_a_link(user: User) -> None:
    (user.root / "linked.txt").symlink_to("table.txt")
    user.write({"b.py": F.format(imports="text = open('linked.txt').read()", name="g", value="x")})
    user.check_all()
    assert user.changed("table.txt") == ["b:g"] == user.changed("linked.txt")


def test_notices_are_those_of_the_files(user: User) -> None:
    user.check_all()
    for names, expected in ((["a.py"], []), (["rule.py", "a.py"], ["rule.py"])):
        (project,) = affected_projects([user.root / name for name in names], user.said, os.environ)
        assert [notice.path for notice in project.scan.notices] == expected


def test_another_project_counts_where_it_is_known(user: User) -> None:
    user.write(
        {
            "inner/pyproject.toml": "",
            "inner/i.py": F.format(imports="import sys\nsys.path.append('..')\nimport low", name="i", value="x"),
        }
    )
    assert user.changed("low.py") == ["a:f", "b:g", "c:h"]
    user.check_all()
    assert user.changed("low.py") == ["a:f", "i:i"]
    assert user.changed("inner/i.py") == ["i:i"]


def test_without_a_cache_all_is_concerned(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.check_all()
    user.said = {**user.said, "cache": False}
    assert user.changed("low.py") == ["a:f", "b:g", "c:h"]


def test_an_excluded_file_stays_excluded(user: User) -> None:
    user.write({"pyproject.toml": "[tool.gradhook]\nexclude = ['c.py']\n"})
    user.check_all()
    assert user.changed("c.py") == []


def test_a_folder_is_no_file(user: User) -> None:
    with pytest.raises(GradhookError, match="folder"):
        user.changed(".")
