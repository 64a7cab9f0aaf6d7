from __future__ import annotations

import os

import pytest

from gradhook.model.errors import GradhookError
from gradhook.scan import scan
from gradhook.scan.files import excluder

ONE = "from gradhook import gradcheck\n@gradcheck()\ndef f(x): ...\n"


@pytest.fixture(params=["walked", "git", "no git on PATH"])
def tree(project, request, monkeypatch):
    for name in ("a.py", "pkg/__init__.py", "pkg/b.py", "node_modules/x.py", "env/lib/y.py"):
        project.write(name, ONE)
    project.write("env/pyvenv.cfg")
    project.write("notes.txt", "gradcheck")
    if request.param == "git":
        project.git("init", "-q")
        project.git("add", "a.py")
    if request.param == "no git on PATH":
        monkeypatch.setenv("PATH", os.fspath(project.root))
    return project


def test_folders(tree):
    assert tree.scan().files == ("a.py", "pkg/__init__.py", "pkg/b.py")
    assert [t.path for t in tree.scan("pkg").targets] == ["pkg/__init__.py", "pkg/b.py"]


def test_named_files_are_scanned_wherever_they_lie(tree):
    assert [t.path for t in tree.scan("env/lib/y.py", "pkg").targets] == ["env/lib/y.py", "pkg/__init__.py", "pkg/b.py"]


def test_exclude_goes_before_names(tree):
    assert tree.scan("pkg/b.py", "a.py", exclude=("pkg/",)).files == ("a.py",)
    assert tree.scan(exclude=("*",)).files == ()


def test_other_files_are_left_alone(tree):
    assert tree.scan("notes.txt").files == ()


def test_paths_relative_to_the_current_folder(tree, monkeypatch):
    monkeypatch.chdir(tree.root / "pkg")
    assert scan(tree.root, ["b.py"]).files == ("pkg/b.py",)


def test_a_link_says_nothing_twice(tree):
    (tree.root / "again.py").symlink_to("a.py")
    (tree.root / "loop").symlink_to(".")
    assert [t.path for t in tree.scan().targets] == ["a.py", "pkg/__init__.py", "pkg/b.py"]


def test_a_link_to_a_file_elsewhere_is_followed(tree, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "real.py"
    outside.write_text(ONE)
    (tree.root / "linked.py").symlink_to(outside)
    assert "linked:f" in [t.name for t in tree.scan().targets]


def test_a_root_reached_by_a_link(tree, tmp_path_factory):
    link = tmp_path_factory.mktemp("links") / "root"
    link.symlink_to(tree.root)
    assert scan(link, [tree.root / "pkg", link / "a.py"]).files == ("a.py", "pkg/__init__.py", "pkg/b.py")


def test_missing_paths_and_empty_folders_are_errors(tree):
    (tree.root / "empty").mkdir()
    for name, words in (("missing.py", "no such file"), ("empty", "no Python file"), ("..", "outside the project")):
        with pytest.raises(GradhookError, match=words) as caught:
            tree.scan(name)
        assert caught.value.help


def test_git_ignores_stay_out_unless_named(project):
    project.write(".gitignore", "build/\nlocal.py\n")
    for name in ("build/a.py", "local.py", "kept.py", "tracked.py", "gone.py"):
        project.write(name, ONE)
    project.git("init", "-q")
    project.git("add", "-f", "tracked.py", "gone.py")
    (project.root / "gone.py").unlink()
    assert project.scan().files == ("kept.py", "tracked.py")
    assert [t.path for t in project.scan("local.py", ".").targets] == ["kept.py", "local.py", "tracked.py"]
    with pytest.raises(GradhookError, match="no Python file"):
        project.scan("build")


def test_the_repository_of_a_running_commit_hook_is_not_mistaken(project, monkeypatch):
    project.write("sub/a.py", ONE)
    project.git("init", "-q")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other-index")
    assert project.scan("sub").files == ("sub/a.py",)


def test_a_repository_inside_a_repository(project):
    project.write("a.py", ONE)
    project.write("inner/b.py", ONE)
    project.git("init", "-q")
    project.git("init", "-q", "inner")
    assert [t.path for t in project.scan().targets] == ["a.py"]
    assert [t.path for t in project.scan("inner").targets] == ["inner/b.py"]


def test_users_settings_of_git_change_nothing(project):
    project.write("sub/a.py", ONE)
    project.write("sub/\u00e4 b.py", ONE)
    project.git("init", "-q")
    for setting in ("color.ui=always", "grep.fullName=true", "grep.lineNumber=true", "submodule.recurse=true"):
        project.git("config", *setting.split("="))
    assert [t.path for t in project.scan("sub").targets] == ["sub/a.py", "sub/\u00e4 b.py"]


@pytest.mark.parametrize(
    ("globs", "inside", "outside"),
    [
        (["build"], ["build/a.py", "x/build/a.py", "build"], ["builder/a.py", "a/build.py"]),
        (["/build"], ["build/a.py"], ["x/build/a.py"]),
        (["docs/*.py"], ["docs/a.py"], ["docs/x/a.py", "x/docs/a.py"]),
        (["docs/**/*.py"], ["docs/a.py", "docs/x/y/a.py"], ["docs/a.txt"]),
        (["**/gen"], ["gen/a.py", "a/b/gen/c.py"], ["agen/a.py"]),
        (["gen/**"], ["gen/a.py", "gen/x/a.py"], ["gen"]),
        (["*_pb2.py"], ["a_pb2.py", "x/y/b_pb2.py"], ["pb2.py"]),
        (["a.py/"], ["a.py/b.py"], ["a.py"]),
        (["m[0-9].py", "?.py"], ["m1.py", "a.py"], ["ma.py", "ab.py"]),
        (["m[!0-9].py"], ["ma.py"], ["m1.py"]),
        (["*.py", "!keep.py"], ["a.py"], ["keep.py", "x/keep.py"]),
        (["a+(b).py", r"\!x.py"], ["a+(b).py", "!x.py"], ["aab.py"]),
        ([], [], ["a.py"]),
    ],
)
def test_exclude_globs_are_those_of_gitignore(globs, inside, outside):
    excluded = excluder(globs)
    assert [path for path in (*inside, *outside) if excluded(path)] == inside
