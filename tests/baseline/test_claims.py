"""Claims that were removed, moved or renamed; comments and settings that ask less."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradhook.model.errors import GradhookError
from gradhook.projects.baseline import compare

F = "def f(x):\n    return x\n"
CLAIM = "@gradcheck(args=(1.0,))\n"
REST = "".join(f"def other{n}(x):\n    return x + {n}\n" for n in range(20))


def test_the_same_says_nothing(branch: Any) -> None:
    assert branch.between(CLAIM + F, f"# moved down\n\n{CLAIM}{F}") == []


@pytest.mark.parametrize(
    "before, now, removed",
    [
        (CLAIM + F, F, ["m:f claim removed: @gradcheck -> "]),
        (CLAIM + F, F + "f = jax.jit(f)\n", ["m:f claim removed: @gradcheck -> "]),
        (CLAIM + F, "", []),
        (CLAIM + F, F.replace("f(", "g("), []),
        (CLAIM + F, f"{F}gradcheck(args=(1.0,))(f)\n", []),
        (f"{F}g = gradcheck(args=())(f)\n", f"{F}g = f\n", ["m:g claim removed: @gradcheck -> "]),
        (f"{CLAIM}@gradcheck(order=2)\n{F}", f"{CLAIM}{F}", ["m:f claim removed: @gradcheck -> "]),
        ("gradcheck(args=())(optax.huber_loss)\n", "", ["m:optax.huber_loss claim removed: @gradcheck -> "]),
        (f"class A:\n  {CLAIM}  def f(x): 0\n", "class A:\n  def f(x): 0\n", ["m:A.f claim removed: @gradcheck -> "]),
        (f"if x:\n    {CLAIM}    def f(x): ...\n", "if x:\n    def f(x): ...\n", ["m:f claim removed: @gradcheck -> "]),
    ],
)  # fmt: skip
def test_removed(branch: Any, before: str, now: str, removed: list[str]) -> None:
    assert branch.between(before, now) == removed


def test_a_file_that_git_saw_move(branch: Any) -> None:
    branch.commit({"a.py": CLAIM + F + REST, "b.py": CLAIM + F.replace("f(", "g(") + REST})
    branch.git("mv", "a.py", "c.py")
    branch.git("mv", "b.py", "d.py")
    branch.commit(
        {"c.py": F + REST, "d.py": "@gradcheck(args=(1.0,), rtol=1)\n" + F.replace("f(", "g(") + REST}, branch="change"
    )
    assert sorted(branch.changes()) == ["a:f claim removed: @gradcheck -> ", "d:g rtol weakened: 2e-10 (default) -> 1"]


def test_a_function_that_moved_to_a_file_of_its_own(branch: Any) -> None:
    branch.commit({"a.py": CLAIM + F, "b.py": CLAIM + F.replace("f(", "g(")})
    branch.commit(
        {"a.py": "from c import f\n", "c.py": F, "b.py": "", "d.py": CLAIM + F.replace("f(", "g(")}, branch="change"
    )
    (change,) = compare("main", branch.root)
    assert (change.subject, change.kind, change.path, change.line) == ("a:f", "removed", "c.py", 3)


def test_uncommitted_and_untracked_files_count(branch: Any) -> None:
    branch.commit({"a.py": CLAIM + F})
    branch.write("a.py", F)
    assert branch.changes() == ["a:f claim removed: @gradcheck -> "]
    branch.write("a.py", "")
    branch.write("new.py", F)
    assert branch.changes() == ["a:f claim removed: @gradcheck -> "]


def test_it_is_compared_with_where_the_branch_began(branch: Any) -> None:
    branch.commit({"m.py": F})
    branch.commit(branch="change")
    branch.git("switch", "-q", "main")
    branch.commit({"m.py": CLAIM + F})
    branch.git("switch", "-q", "change")
    assert branch.changes() == []


def test_a_claim_that_went_into_the_configuration(branch: Any) -> None:
    toml = '[tool.gradhook.targets."m:f"]\nargs = ["1.0"]\n'
    branch.commit({"m.py": CLAIM + F})
    branch.commit({"m.py": F, "pyproject.toml": toml}, branch="change")
    assert branch.changes() == ["m:f args changed: (1.0,) -> ['1.0']"]
    branch.commit({"pyproject.toml": ""}, branch="again")
    assert branch.changes("change") == ["m:f claim removed: @gradcheck -> "]
    branch.commit({"pyproject.toml": toml + "rtol = 1e-3\n"}, branch="third")
    assert branch.changes("change") == ["m:f rtol weakened: 2e-10 (default) -> 0.001"]


def test_ignore_comments(branch: Any) -> None:
    one = "x = 1  # gradhook: ignore[GRD501]\n"
    branch.commit({"a.py": one, "b.py": one})
    more = {"b.py": one + "y = 2  # gradhook: ignore[GRD1, GRD501]\n", "c.py": "z = 3  # gradhook: ignore\n"}
    branch.commit({"a.py": "\n" + one, **more}, branch="change")
    said = branch.changes()
    assert len(said) == 3 and all(
        text.split(" ", 1)[1].startswith("comment weakened:  -> # gradhook: ignore") for text in said
    )
    assert sorted(text.split()[0] for text in said) == ["b.py", "b.py", "c.py"]


@pytest.mark.parametrize(
    "before, now, expected",
    [
        ("", "rtol = 1e-3", "rtol weakened: 2e-10 -> 0.001"),
        ("order = 2", "", "order weakened: 2 -> 1"),
        ("modes = ['fwd', 'rev']", "modes = ['fwd']", "modes weakened: fwd, rev -> fwd"),
        ("", "select = ['GRD1']", "select weakened:  -> GRD1"),
        ("select = ['GRD1', 'GRD2']", "select = ['GRD1']", "select weakened: GRD1, GRD2 -> GRD1"),
        ("ignore = ['GRD501']", "ignore = ['GRD501', 'GRD1']", "ignore weakened: GRD501 -> GRD501, GRD1"),
        ("", "exclude = ['losses/']", "exclude weakened:  -> losses/"),
        ("exclude = ['a/', '!a/b']", "exclude = ['a/']", "exclude weakened: a/, !a/b -> a/"),
        ("", "undecided = 'warn'", "undecided weakened: error -> warn"),
        ("advice = 'error'", "", "advice weakened: default: error -> default: warn"),
        ("", "advice = {GRD204 = 'ignore'}", "advice weakened: default: warn -> default: warn, GRD204: ignore"),
        ("unclaimed = 'error'", "", "unclaimed weakened: error -> warn"),
        ("weakened = 'error'", "weakened = 'ignore'", "weakened weakened: error -> ignore"),
        ("", "exit-zero = true", "exit-zero weakened: false -> true"),
        ("fail-on-empty = true", "", "fail-on-empty weakened: true -> false"),
        ("", "python = 'fake/python'", "python changed: none -> fake/python"),
        ("", "seed = 7", "seed changed: 0 -> 7"),
        ("", "timeout = 3", None),
        ("rtol = 1e-3", "", None),
        ("ignore = ['GRD1']", "ignore = ['GRD101']", None),
        ("select = ['GRD101']", "select = ['GRD1']", None),
        ("exclude = ['a/']", "", None),
    ],
)  # fmt: skip
def test_settings(branch: Any, before: str, now: str, expected: str | None) -> None:
    branch.commit({"pyproject.toml": f"[tool.gradhook]\n{before}\n", "m.py": ""})
    branch.commit({"pyproject.toml": f"[tool.gradhook]\n{now}\n"}, branch="change")
    assert branch.changes() == ([f"configuration {expected}"] if expected else [])


def test_an_inner_project_that_is_new_is_compared_with_what_held_there(branch: Any) -> None:
    branch.commit({"pyproject.toml": "[tool.gradhook]\norder = 2\n", "inner/m.py": CLAIM + F})
    branch.commit({"inner/pyproject.toml": "[tool.gradhook]\nrtol = 1.0\norder = 1\n"}, branch="change")
    assert branch.changes() == ["configuration rtol weakened: 2e-10 -> 1.0", "configuration order weakened: 2 -> 1"]


def test_a_file_that_is_excluded_now(branch: Any) -> None:
    branch.commit({"m.py": CLAIM + F})
    branch.commit({"pyproject.toml": "[tool.gradhook]\nexclude = ['m.py']\n"}, branch="change")
    assert branch.changes() == ["m:f claim removed: @gradcheck -> ", "configuration exclude weakened:  -> m.py"]


def test_paths_start_at_the_working_directory(branch: Any) -> None:
    branch.commit({"inner/m.py": CLAIM + F, "outer.py": CLAIM + F})
    branch.commit({"inner/m.py": F, "outer.py": F}, branch="change")
    (change,) = compare("main", branch.root / "inner")
    assert (change.path, change.subject) == ("m.py", "m:f")


def test_what_git_lists_but_nobody_could_check(branch: Any, tmp_path: Path) -> None:
    branch.write("broken.py", "@gradcheck(\n")
    branch.write("nul.py", b"gradcheck\0")
    (branch.root / "link.py").symlink_to("loop.py")
    (branch.root / "loop.py").symlink_to("link.py")
    branch.commit({"sp ace/n\nl.py": CLAIM + F, "é.py": CLAIM + F})
    for name in ("broken.py", "nul.py", "link.py", "loop.py"):
        (branch.root / name).unlink()
    branch.commit({"é.py": F, "sp ace/n\nl.py": F}, branch="change")
    assert len(branch.changes()) == 2


def test_errors_say_the_remedy(branch: Any, tmp_path: Path, git: Any) -> None:
    branch.commit({"m.py": CLAIM + F})
    branch.commit({"m.py": F}, branch="change")
    with pytest.raises(GradhookError, match="no commit 'nowhere'") as error:
        compare("nowhere", branch.root)
    assert "git fetch" in error.value.help
    with pytest.raises(GradhookError, match="no commit '--help'"):
        compare("--help", branch.root)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{branch.root}", "shallow")
    with pytest.raises(GradhookError, match="no commit 'origin/main'") as error:
        compare("origin/main", tmp_path / "shallow")
    assert "fetch-depth" in error.value.help
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{branch.root}", "deep")
    assert len(compare("HEAD^1", tmp_path / "deep")) == 1
    with pytest.raises(GradhookError, match="in no git repository"):
        compare("main", tmp_path)
