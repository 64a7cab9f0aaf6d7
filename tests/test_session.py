"""Paths become projects, projects become a report."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradhook import __version__
from gradhook.execution import runner, session
from gradhook.execution.supervisor.pool import launch
from gradhook.model.errors import GradhookError
from gradhook.model.results import ClaimKind, Target, Verdict

FAKE_BOOT = Path(__file__).parent / "fake_boot.py"
F = "from gradhook import gradcheck\n\n@gradcheck(args=())\ndef f():\n    return "


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(params=["git", "no git"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    root = (tmp_path / "repository").resolve()
    root.mkdir()
    if request.param == "git":
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def found(*paths: Path, **overrides: Any) -> dict[str, list[str]]:
    """The names of the targets, by the name of their project's folder."""
    projects = session.find(paths, overrides, {})
    return {project.config.root.name: [target.name for target in project.targets] for project in projects}


MONOREPO = {
    "pyproject.toml": "[tool.gradhook]\nseed = 1\n",
    "top.py": F + "1",
    "one/pyproject.toml": "[tool.gradhook]\nseed = 2\n",
    "one/src/pkg/__init__.py": F + "2",
    "one/deep/two/pyproject.toml": "",
    "one/deep/two/low.py": F + "3",
}


def test_files_belong_to_the_nearest_root(repository: Path) -> None:
    write(repository, MONOREPO)
    top = {"repository": ["top:f"], "one": ["pkg:f"], "two": ["low:f"]}
    assert found(repository) == top
    assert found(repository / "one") == {"one": ["pkg:f"], "two": ["low:f"]}
    assert found(repository / "one/src/pkg/__init__.py", repository / "top.py") == {
        "one": ["pkg:f"],
        "repository": ["top:f"],
    }


def test_no_paths_mean_the_working_directory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, MONOREPO)
    monkeypatch.chdir(repository / "one" / "src")
    assert found() == {"one": ["pkg:f"]}


def test_each_project_has_its_own_settings(repository: Path) -> None:
    write(repository, MONOREPO)
    projects = session.find([repository], {}, {"GRADHOOK_ORDER": "2"})
    inherited = 2 if (repository / ".git").exists() else 0  # without an edge nothing around a project is looked at
    assert [(p.config.settings.seed, p.config.settings.order) for p in projects] == [(1, 2), (2, 2), (inherited, 2)]


def test_what_a_file_around_a_project_leaves_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, dict.fromkeys(["one/a.py", "one/gen/b.py", "one/two/gen/c.py"], F + "1"))
    write(tmp_path, {"one/pyproject.toml": ""})
    write(tmp_path, {"gradhook.toml": "exclude = ['one/gen/', 'gen/*']\n", "one/two/gradhook.toml": ""})
    assert found(tmp_path / "one") == {"one": ["a:f"], "two": ["c:f"]}


def test_the_configured_targets_of_a_file_around_a_project_are_not_its_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, {"gradhook.toml": "[targets.'os:getcwd']\n", "one/pyproject.toml": "", "one/a.py": F + "1"})
    assert found(tmp_path) == {tmp_path.name: ["os:getcwd"], "one": ["a:f"]}
    assert found(tmp_path / "gradhook.toml") == {tmp_path.name: ["os:getcwd"]}


def test_an_excluded_project_is_not_even_read(repository: Path) -> None:
    write(repository, {"top.py": F + "1", "tests/data/pyproject.toml": "not [toml", "tests/data/a.py": F + "2"})
    with pytest.raises(GradhookError, match="TOML"):
        found(repository)
    assert found(repository, exclude=("tests/data/",)) == {"repository": ["top:f"]}
    write(repository, {"pyproject.toml": "[tool.gradhook]\nexclude = ['data']\n"})
    assert found(repository) == {"repository": ["top:f"]}


CONFIGURED = {
    "pyproject.toml": '[tool.gradhook.targets."pkg.mod:g"]\nargs = [1.0]\n[tool.gradhook.targets."os:getcwd"]\n',
    "src/pkg/__init__.py": "",
    "src/pkg/mod.py": "def g(x):\n    return x\n",
    "other.py": F + "1",
}


@pytest.mark.parametrize(
    "paths, names",
    [
        ([], ["other:f", "pkg.mod:g", "os:getcwd"]),
        (["."], ["other:f", "pkg.mod:g", "os:getcwd"]),
        (["pyproject.toml"], ["pkg.mod:g", "os:getcwd"]),
        (["src/pkg/mod.py"], ["pkg.mod:g"]),
        (["src"], []),
        (["other.py"], ["other:f"]),
    ],
)
def test_when_configured_targets_are_meant(
    repository: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], names: list[str]
) -> None:
    write(repository, CONFIGURED)
    monkeypatch.chdir(repository)
    assert found(*map(Path, paths)) == {"repository": names}


def test_a_configured_target_as_a_job(repository: Path) -> None:
    write(repository, CONFIGURED)
    (project,) = session.find([repository / "pyproject.toml"], {}, {})
    job = project.jobs[0]
    root = str(repository)
    assert job.target == Target("pkg.mod", "g", "pyproject.toml", 1, 1, ClaimKind.EXACT, root, source="config")
    assert job.options == {"args": [1.0]}


def test_a_project_of_configured_targets_only(repository: Path) -> None:
    write(repository, {"top.py": F + "1", "named/pyproject.toml": '[tool.gradhook.targets."os:getcwd"]\n'})
    assert found(repository / "named") == {"named": ["os:getcwd"]}
    if (repository / ".git").exists():
        assert found(repository) == {"repository": ["top:f"], "named": ["os:getcwd"]}


def test_a_folder_without_python_is_an_error_when_named(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, {"docs/text.txt": "x", "top.py": F + "1"})
    with pytest.raises(GradhookError, match="docs"):
        found(repository / "docs")
    with pytest.raises(GradhookError, match="missing"):
        found(repository / "missing.py")
    monkeypatch.chdir(repository / "docs")
    assert found() == {"repository" if (repository / ".git").exists() else "docs": []}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "launch", functools.partial(launch, boot=FAKE_BOOT))


@pytest.mark.usefixtures("fake")
def test_a_report_of_one_project(repository: Path) -> None:
    write(
        repository, {"a.py": F + "1\n", "b.py": F + "False\n", "c.py": "import jax\n@jax.custom_jvp\ndef r(x): ...\n"}
    )
    heard: list[tuple[str, str]] = []
    projects = session.find([repository], {"python": sys.executable, "timeout": "7"}, {})
    report = session.check(projects, progress=lambda target, stage: heard.append((target.name, stage)))
    assert [(t.target.name, t.verdict) for t in report.targets] == [("a:f", Verdict.PASS), ("b:f", Verdict.FAIL)]
    assert [(n.code, n.path) for n in report.notices] == [("GRD501", "c.py")]
    assert report.environment["gradhook"] == __version__
    assert report.environment["interpreter"] == sys.executable
    assert report.environment["examiner"] == "fake"
    assert report.settings["timeout"] == {"value": 7.0, "origin": "--timeout"}
    assert report.settings["seed"] == {"value": 0, "origin": "default"}
    assert heard == [
        ("a:f", "import"), ("b:f", "import"), ("a:f", "start"), ("a:f", "first"), ("a:f", "pass"),
        ("b:f", "start"), ("b:f", "first"), ("b:f", "fail"),
    ]  # fmt: skip
    assert report.seconds > 0


@pytest.mark.usefixtures("fake")
def test_a_report_of_several_projects(repository: Path) -> None:
    write(repository, MONOREPO)
    report = session.check(session.find([repository], {"python": sys.executable}, {}))
    assert [t.outcomes[0].note for t in report.targets] == ["1", "2", "3"]
    assert report.settings["seed"]["value"] == 1
    assert report.settings["projects"][str(repository / "one")]["seed"]["value"] == 2
    assert set(report.environment["projects"]) == {
        str(p) for p in (repository, repository / "one", repository / "one/deep/two")
    }


@pytest.mark.usefixtures("fake")
def test_what_the_import_discovers_is_heard_of_too(repository: Path) -> None:
    loop = "import math\nfrom gradhook import gradcheck\nfor f in (math.sin, math.cos):\n    gradcheck(args=(0,))(f)\n"
    write(repository, {"a.py": loop})
    heard: set[str] = set()
    projects = session.find([repository], {"python": sys.executable}, {})
    report = session.check(projects, progress=lambda target, stage: heard.add(target.name))
    assert len(report.targets) == 2 and {t.target.name for t in report.targets} == heard


def test_nothing_to_check_needs_no_interpreter(repository: Path) -> None:
    write(repository, {"a.py": "x = 1\n"})
    report = session.check(session.find([repository], {"python": "/no/such/python"}, {}))
    assert report.targets == () and report.environment == {"gradhook": __version__}


def test_an_interpreter_that_cannot_be_used_is_an_error(repository: Path) -> None:
    write(repository, {"a.py": F + "1"})
    with pytest.raises(GradhookError, match="no such file"):
        session.check(session.find([repository], {"python": "/no/such/python"}, {}))


def test_the_session_loads_neither_jax_nor_numpy() -> None:
    code = "import sys, gradhook.execution.session; print({'jax', 'numpy', 'click'} & set(sys.modules))"
    path = os.pathsep.join([str(Path(session.__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    environ = {**os.environ, "PYTHONPATH": path}
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert answer.stdout.strip() == "set()"


RULES = """
import jax
from typing import Annotated

class Vector:
    dim_str = "n"
    dtypes = ("float64",)

@jax.custom_jvp
def right(x: Vector):
    return 2 * x

@jax.custom_jvp
def raising(x: Vector):
    raise ValueError("not with this")

@jax.custom_vjp
def clipped(x: Vector):
    return x

raising.defjvps(lambda t, _, x: t)
right.defjvps(lambda t, _, x: t)
clipped.defvjp(lambda x: (x, None), lambda _, g: (jax.numpy.clip(g, -1, 1),))
"""


def test_rules_without_a_claim_are_asked_what_holds_of_every_rule(tmp_path: Path) -> None:
    write(tmp_path, {"rules.py": RULES})
    report = session.check(session.find([tmp_path], {}, {}))
    said = {t.target.qualname: (t.verdict, (t.findings or t.outcomes)[0].code) for t in report.targets}
    assert said == {
        "right": (Verdict.SKIP, "GRD501"),
        "raising": (Verdict.SKIP, "GRD501"),
        "clipped": (Verdict.FAIL, "GRD203"),
    }
    (raising,) = [t for t in report.targets if t.target.qualname == "raising"]
    assert "could not be checked" in raising.outcomes[0].note and "not with this" in raising.outcomes[0].note
    assert len(report.notices) == 3


@pytest.mark.parametrize("said", [{"unclaimed": "ignore"}, {"ignore": "GRD501"}])
def test_rules_without_a_claim_are_left_alone_on_request(tmp_path: Path, said: dict[str, str]) -> None:
    write(tmp_path, {"rules.py": RULES})
    assert session.find([tmp_path], said, {})[0].targets == ()
