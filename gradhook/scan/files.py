"""List the Python files that the given paths mean, by git, without what the user's globs exclude.

The globs are those of ``.gitignore``: without a slash inside they match a name at any depth, otherwise a path from the
root; a slash at the end means folders; a match of a folder takes all below it; ``!`` takes files in again.

A file that is named is meant, a folder means what git lists below it (ignored files stay out); without git, all below
it but hidden folders, caches, environments and ``node_modules``.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gradhook.model.errors import GradhookError

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


_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.DOTALL)
_WILD = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "?": "[^/]"}


def excluder(globs: Sequence[str], prefix: str = "") -> Callable[[str], bool]:
    """A predicate on posix paths relative to the root; the last glob that matches decides.

    ``prefix`` leads from where the globs start to the root: ``packages/one/``.
    """
    return partial(_excluded, [(_pattern(glob.removeprefix("!")), not glob.startswith("!")) for glob in globs], prefix)


def _excluded(rules: list[tuple[re.Pattern[str], bool]], prefix: str, path: str) -> bool:
    return next((out for pattern, out in reversed(rules) if pattern.fullmatch(prefix + path)), False)


def _pattern(glob: str) -> re.Pattern[str]:
    stem = glob.rstrip("/")
    anywhere = "" if "/" in stem else "(?:.*/)?"
    below = "/.*" if glob.endswith("/") else "(?:/.*)?"
    return re.compile(anywhere + "".join(map(_piece, _TOKEN.findall(stem.removeprefix("/")))) + below, re.DOTALL)


def _piece(token: str) -> str:
    """A token of a glob as a regular expression."""
    if token in _WILD:
        return _WILD[token]
    if token.startswith("*"):
        return "[^/]*"
    if token.startswith("[") and len(token) > 2:
        inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[^{inside[1:]}]" if inside[0] in "!^" else f"(?!/)[{inside}]"
    return re.escape(token[1:] if token.startswith("\\") and len(token) > 1 else token)


_SKIPPED = frozenset({"__pycache__", "node_modules"})
_ENVIRONMENT_SIGNS = ("pyvenv.cfg", "conda-meta")


@dataclass(frozen=True)
class Listing:
    """File names relative to the root, in posix form.

    Plain strings: making ten thousand ``Path`` objects takes noticeable time.

    ``searchable`` are the folders in which git can search, ``loose`` the files in which it cannot.
    """

    root: Path
    files: tuple[str, ...]
    searchable: tuple[str, ...] = ()
    loose: frozenset[str] = frozenset()


def list_files(root: Path, paths: Sequence[Path], excluded: Callable[[str], bool] | None) -> Listing:
    """The ``.py`` files below ``paths`` without the excluded ones, in order; ``root`` is absolute.

    Raises:
        GradhookError: a path does not exist, lies outside the root, or is a folder without Python files.
    """
    parts = [_listing_of(root, path) for path in paths]
    meant = set().union(*(part.files for part in parts))
    kept = [file for file in meant if not excluded(file)] if excluded else meant
    folders = dict.fromkeys(folder for part in parts for folder in part.searchable)
    return Listing(root, tuple(sorted(kept)), tuple(folders), frozenset().union(*(part.loose for part in parts)))


def _listing_of(root: Path, given: Path) -> Listing:
    path = absolute(given)
    name = relative_to(root, path)
    if path.is_dir():
        below = list_folder(root, "" if name == "." else name)
        if below.files:
            return below
        help = "name a folder that holds .py files which git does not ignore"
        raise GradhookError(f"{given}: no Python file in this folder", help)
    if not path.is_file():
        raise GradhookError(f"{given}: no such file or folder", "check the spelling; paths start at the current folder")
    return Listing(root, (name,), loose=frozenset({name})) if path.suffix == ".py" else Listing(root, ())


def list_folder(root: Path, folder: str = "") -> Listing:
    """The existing ``.py`` files below a folder of the root, in no order."""
    names = tracked_and_new(root / folder)
    inside = _walk(root / folder) if names is None else _own_names(root / folder, set(names))
    there = _existing(str(root), [f"{folder}/{name}" if folder else name for name in inside])
    files = tuple(there)
    if names is None:
        return Listing(root, files, loose=frozenset(files))
    return Listing(root, files, (folder,), frozenset(name for name, is_link in there.items() if is_link))


def absolute(path: Path) -> Path:
    """The path without ``..``; links are kept, so that a file keeps the name that the user gave."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # Path.absolute keeps "..", Path.resolve follows links


def relative_to(root: Path, path: Path) -> str:
    """The path relative to the root, in posix form.

    Raises:
        GradhookError: the path is not below the root.
    """
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    target = path.parent.resolve() / path.name
    if target.is_relative_to(root.resolve()):
        return target.relative_to(root.resolve()).as_posix()
    raise GradhookError(f"{path} lies outside the project {root}", "name paths of one project at a time")


def _own_names(folder: Path, names: Iterable[str]) -> list[str]:
    """The names that lie in no virtual environment and no ``node_modules`` below the folder."""
    foreign: dict[str, bool] = {"": False}
    return [name for name in names if not _is_foreign(str(folder), name.rpartition("/")[0], foreign)]


def _is_foreign(folder: str, inner: str, known: dict[str, bool]) -> bool:
    if inner not in known:
        parent, _, last = inner.rpartition("/")
        known[inner] = _is_foreign(folder, parent, known) or last in _SKIPPED or _is_environment(f"{folder}/{inner}")
    return known[inner]


def _is_environment(folder: str) -> bool:
    return any(os.path.exists(f"{folder}/{sign}") for sign in _ENVIRONMENT_SIGNS)  # noqa: PTH110  # fast: called for every folder


def _existing(root: str, names: list[str]) -> dict[str, bool]:
    """Files that exist, with whether they are links; git also lists deleted ones.

    A link to a file that is listed itself would only repeat it.
    """
    folders: dict[str, dict[str, bool]] = {}
    there: dict[str, bool] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        if folder not in folders:
            folders[folder] = _files(f"{root}/{folder}")
        if last in folders[folder]:
            there[name] = folders[folder][last]
    plain = (
        {os.path.realpath(f"{root}/{name}") for name, link in there.items() if not link} if any(there.values()) else ()
    )
    return {n: link for n, link in there.items() if not link or os.path.realpath(f"{root}/{n}") not in plain}


def _files(folder: str) -> dict[str, bool]:
    """The files in one folder, with whether they are links; one ``scandir`` a folder is fastest."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry.is_symlink() for entry in entries if _is_file(entry)}
    except OSError:
        return {}


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # links that go in circles
        return False


def _walk(folder: Path) -> list[str]:
    names: list[str] = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
        folders[:] = [name for name in folders if not _is_environment(f"{here}/{name}")]
        inner = Path(here).relative_to(folder)
        names += [(inner / name).as_posix() for name in files if name.endswith(".py")]
    return names
