"""The base of a pull request, in repositories as actions/checkout makes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradhook.cli.step import BASE_MISSING, base_revision, check_arguments


@pytest.fixture
def merge(tmp_path: Path, git: Callable[..., Any]) -> Path:
    """A repository whose head is the trial merge of a branch into main."""
    root = tmp_path / "origin"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for branch, words in (("main", ["-B"]), ("change", ["-B"]), ("main", [])):
        git(root, "checkout", "-q", *words, branch)
        git(root, "commit", "-q", "--allow-empty", "-m", branch)
    git(root, "checkout", "-q", "-b", "trial")
    git(root, "merge", "-q", "--no-ff", "-m", "trial", "change")
    return root


def environ(git: Callable[..., Any], root: Path, tmp_path: Path, base: str = "") -> dict[str, str]:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"base": {"sha": base}}}))
    sha = git(root, "rev-parse", "trial").stdout.strip()
    return {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_SHA": sha, "GITHUB_EVENT_PATH": str(event)}


def test_the_trial_merge(merge: Path, git: Any, tmp_path: Path) -> None:
    assert base_revision("auto", environ(git, merge, tmp_path), merge) == ("HEAD^1", "")


@pytest.mark.parametrize("depth, found", [(1, (None, BASE_MISSING)), (2, ("HEAD^1", ""))])
def test_a_shallow_clone(merge: Path, git: Any, tmp_path: Path, depth: int, found: object) -> None:
    git(tmp_path, "clone", "-q", "--depth", str(depth), "-b", "trial", f"file://{merge}", "clone")
    assert base_revision("", environ(git, merge, tmp_path), tmp_path / "clone") == found


def test_the_head_instead_of_the_merge(merge: Path, git: Any, tmp_path: Path) -> None:
    base = git(merge, "rev-parse", "main").stdout.strip()
    said = environ(git, merge, tmp_path, base)
    git(merge, "checkout", "-q", "change")
    assert base_revision("auto", said, merge) == (base, "")
    assert base_revision("auto", {**said, "GITHUB_EVENT_PATH": ""}, merge) == (None, BASE_MISSING)
    Path(said["GITHUB_EVENT_PATH"]).write_text('{"pull_request": 3}')
    assert base_revision("auto", said, merge) == (None, BASE_MISSING)


def test_other_events_and_other_wishes(merge: Path, git: Any, tmp_path: Path) -> None:
    said = environ(git, merge, tmp_path)
    assert base_revision("auto", {**said, "GITHUB_EVENT_NAME": "push"}, merge) == (None, "")
    assert base_revision("none", said, merge) == (None, "")
    assert base_revision("v1.0", said, merge) == ("v1.0", "")


def test_the_step_reads_settings_there_too(
    merge: Path, git: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(merge)
    words, _ = check_arguments({**environ(git, merge, tmp_path), "GRADHOOK_IN_WEAKENED": "error"}, tmp_path)
    assert " ".join(words).startswith(
        "--color never --fail-on-empty --weakened error --against HEAD^1 --config-from HEAD^1 "
    )
    assert "--against" not in check_arguments({}, tmp_path)[0]
