"""Find out with two commands of git, before anything else is loaded, that there is nothing to check.

A hook is asked at every commit, also in repositories and folders in which nothing is annotated. Whatever is not as
plain as that (options, variables, a configuration, links, files that git does not know, a single mention of ours) is
left to the long way, which says the same of what is handled here.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Sequence

WORDS = ("gradhook", "gradcheck", "surrogate", "custom_jvp", "custom_vjp", "custom_gradient")
"""What every file with anything of ours mentions (``scan.names``)."""
_SETTINGS = ("pyproject.toml", "gradhook.toml")
_GIT = ("git", "-c", "grep.fullName=false")
_GREP = ("grep", "--no-recurse-submodules", "--no-color", "--untracked", "-q", "-F")
_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
"""What a hook sets for the repository of the commit (``scan.files``)."""
_SIGNS = ("pyvenv.cfg", "conda-meta", "gradhook.toml")
"""What makes a folder special: an environment, a project with settings."""


def idle(arguments: Sequence[str]) -> str:
    """The message of a plain ``check`` or ``check --affected FILES`` without any work; empty where there may be some.

    Only in a repository, and for the working directory or, with ``--affected``, files inside.
    """
    affected = list(arguments[:2]) == ["check", "--affected"]
    if not (affected and arguments[2:]) and list(arguments) != ["check"]:
        return ""
    here = os.getcwd()  # noqa: PTH109 -- pathlib is not loaded yet
    top = _repository(here)
    if not top or any(name.startswith("GRADHOOK_") for name in os.environ):
        return ""
    if affected:
        plain = all(map(_is_plain, arguments[2:])) and not _mentions(top) and _counted(top) is not None
        return "nothing annotated depends on these files" if plain else ""
    files = None if _mentions(here) else _counted(here)
    return "" if files is None else f"no annotated functions in {files} file{'s' * (files != 1)}"


def _repository(here: str) -> str:
    """The root of the repository around a folder; empty without one, or where settings of ours may hold."""
    folder = here
    while True:
        if any(map(_is_ours, (os.path.join(folder, name) for name in _SETTINGS))):  # noqa: PTH118
            return ""
        if os.path.isdir(os.path.join(folder, ".git")):  # noqa: PTH112, PTH118
            return folder
        if (parent := os.path.dirname(folder)) == folder:  # noqa: PTH120
            return ""
        folder = parent


def _is_ours(path: str) -> bool:
    """Whether a file may hold settings of ours."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return path.endswith("gradhook.toml") or b"gradhook" in file.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_plain(file: str) -> bool:
    """Whether a file that changed is one below the working directory."""
    return os.path.isfile(file) and not os.path.isabs(file) and ".." not in file and not file.startswith("-")  # noqa: PTH113, PTH117


def _mentions(folder: str) -> bool:
    """Whether a file below a folder mentions anything of ours; so it is taken where git cannot tell."""
    words = [part for word in WORDS for part in ("-e", word)]
    return _git(folder, *_GREP, *words, "--", "*.py", "*.toml").returncode != 1


def _counted(folder: str) -> int | None:
    """How many Python files git lists below a folder; none where they are not all plain files of one project."""
    answer = _git(folder, *_LIST, "--", "*.py", "*gradhook.toml")
    if answer.returncode:
        return None
    folders: dict[str, set[str]] = {}
    for name in os.fsdecode(answer.stdout).split("\0")[:-1]:
        inner, _, last = name.rpartition("/")
        folders.setdefault(inner, set()).add(last)
    plain = all(_are_plain(os.path.join(folder, inner), names) for inner, names in folders.items())  # noqa: PTH118
    return sum(map(len, folders.values())) if plain and _are_projects(folder, folders) else None


def _are_plain(folder: str, names: Collection[str]) -> bool:
    """Whether all of these files are there, no links, and in no special folder."""
    try:
        with os.scandir(folder) as entries:
            there = {entry.name for entry in entries if entry.name in _SIGNS or entry.is_file(follow_symlinks=False)}
    except OSError:
        return False
    return there.issuperset(names) and there.isdisjoint(_SIGNS)


def _are_projects(folder: str, inner: Collection[str]) -> bool:
    """Whether the folders around the inner ones are plain, too: none is an environment or a cache."""
    around = {name for path in inner for name in _above(path)}
    parts = {part for path in inner for part in path.split("/")}
    if not parts.isdisjoint(("node_modules", "__pycache__", "site-packages")):
        return False
    return not any(os.path.exists(os.path.join(folder, path, sign)) for path in around for sign in _SIGNS)  # noqa: PTH110, PTH118


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts))]


def _git(folder: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    environ = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE} | {"LC_ALL": "C"}
    try:
        return subprocess.run([*_GIT, *words], cwd=folder, env=environ, capture_output=True, check=False)
    except OSError:
        return subprocess.CompletedProcess(words, -1)
