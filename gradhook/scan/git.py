"""Ask git for the files of a folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

# A hook runs with these set for the repository of the commit; the listed folder may lie elsewhere.
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")


def tracked_and_new(folder: Path, *patterns: str) -> list[str] | None:
    """The files below a folder that git does not ignore, by default ``.py``; ``None`` without git."""
    return _run_git(
        folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *(patterns or ["*.py"])
    )


def tracked(folder: Path, name: str) -> bool:
    """Whether git tracks a file or folder, or anything in it."""
    return bool(_run_git(folder, "ls-files", "-z", "--cached", "--", name))


def mentioning(folder: Path, words: Sequence[str], *, whole: bool = False) -> list[str] | None:
    """The files that contain one of the words (``whole``: as a word); ``None`` without git.

    Fixed strings in the C locale: three times as fast as one regular expression.
    """
    patterns = [part for word in words for part in ("-e", word)]
    plain = ("-c", "grep.fullName=false", "grep", "--no-recurse-submodules", "--no-color", "--untracked")
    return _run_git(folder, *plain, "-l", "-z", "-F", *(["-w"] if whole else []), *patterns, "--", "*.py")


def git_environment() -> dict[str, str]:
    """The environment in which git reads the repository of its working directory."""
    return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE} | {"LC_ALL": "C"}


def _run_git(folder: Path, *arguments: str) -> list[str] | None:
    try:
        answer = subprocess.run(
            ["git", *arguments], cwd=folder, env=git_environment(), capture_output=True, check=False
        )
    except OSError:
        return None  # no git on PATH
    nothing_found = answer.returncode == 1 and "grep" in arguments and not answer.stderr
    if answer.returncode and not nothing_found:
        return None
    return [name for name in os.fsdecode(answer.stdout).split("\0") if name]
