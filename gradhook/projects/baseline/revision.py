"""Write the files of another revision into a folder; nothing is checked out."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from gradhook.model.errors import GradhookError
from gradhook.scan import files
from gradhook.scan.names import WORDS
from gradhook.scan.parse import parse

_KEPT = (".py", "pyproject.toml", "gradhook.toml")


@dataclass(frozen=True)
class Revision:
    """A commit written out below ``tree``.

    ``prefix`` leads from the top of the repository to the working directory.

    ``renames`` maps paths of then to those of now, ``touched`` are the paths of now that differ or are new.
    """

    top: Path
    prefix: str
    commit: str
    tree: Path
    renames: Mapping[str, str] = field(default_factory=dict)
    touched: frozenset[str] = frozenset()

    @property
    def here(self) -> Path:
        """The working directory, links resolved."""
        return self.top / self.prefix

    @property
    def there(self) -> Path:
        """The working directory at that commit; it may not have existed."""
        return self.tree / self.prefix


@contextmanager
def revision(ref: str, here: Path, *, fork: bool = True) -> Iterator[Revision]:
    """The Python files and configurations of ``ref``, or of its merge base with HEAD (``fork``).

    Raises:
        GradhookError: there is no repository, or it does not have ``ref``.
    """
    top, prefix, commit = _located(ref, here)
    if fork and (base := _git(here, "merge-base", commit, "HEAD")):
        commit = base.decode().strip()
    with tempfile.TemporaryDirectory(prefix="gradhook-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder).resolve()
        (tree / ".git").mkdir()  # the edge of a repository, so that nothing around it counts
        _write(tree, _files(top, commit))
        yield Revision(top, prefix, commit, tree, _renames(top, commit), _touched(top, commit))


def _located(ref: str, here: Path) -> tuple[Path, str, str]:
    found = _git(here, "rev-parse", "--show-toplevel", "--show-prefix")
    if found is None:
        raise GradhookError(f"{here} is in no git repository", "--against and --config-from compare with a git commit")
    top, prefix = found.decode("utf-8", "surrogateescape").split("\n")[:2]
    commit = commit_of(ref, here)
    if commit is None:
        raise GradhookError(f"the repository has no commit {ref!r}", _remedy(here))
    return Path(top), prefix.rstrip("/"), commit


def commit_of(ref: str, here: Path) -> str | None:
    """The hash of the commit ``ref``; ``None`` if the repository has none."""
    found = _git(here, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return found.decode().strip() if found else None


def _remedy(here: Path) -> str:
    if (_git(here, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true":
        return "this clone is shallow: give actions/checkout `fetch-depth: 0`, or fetch that commit before"
    return "fetch it first, or check the spelling: `git fetch origin main`, then `--against origin/main`"


def _files(top: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of each Python file and configuration."""
    listed = (_git(top, "ls-tree", "-r", "-z", "--full-tree", commit) or b"").split(b"\0")
    rows = [row.split(b"\t", 1) for row in listed if row.startswith((b"100644 ", b"100755 "))]
    wanted = [(head.split()[2], os.fsdecode(name)) for head, name in rows if os.fsdecode(name).endswith(_KEPT)]
    answer = _git(top, "cat-file", "--batch", stdin=b"".join(sha + b"\n" for sha, _ in wanted)) or b""
    start = 0
    for _, name in wanted:
        end = answer.find(b"\n", start)
        words = answer[start:end].split()
        if len(words) != 3:
            raise GradhookError(f"git cannot read {name} of {commit[:12]}", "is the clone complete? Try `git fsck`")
        start = end + 1 + int(words[2])
        yield name, answer[end + 1 : start]
        start += 1


def _write(tree: Path, files: Iterable[tuple[str, bytes]]) -> None:
    for name, content in files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or not _is_readable(name, content):
            continue  # no path that this system could import from, or one that leads elsewhere; or no Python
        try:
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(content)
        except OSError as error:
            raise GradhookError(f"{name} of then cannot be written: {error}", "is there room in TMPDIR?") from error


def _is_readable(name: str, content: bytes) -> bool:
    """Whether a file is not Python or can be parsed: a file that could not be parsed made no claims."""
    if not name.endswith(".py") or not any(word.encode() in content for word in WORDS):
        return True
    try:
        return bool(parse(content, name).body)
    except GradhookError:
        return False


def _renames(top: Path, commit: str) -> dict[str, str]:
    answer = _git(top, "diff", "--name-status", "-z", "--find-renames", "--diff-filter=R", commit, "--") or b""
    words = [os.fsdecode(word) for word in answer.split(b"\0")]
    return dict(zip(words[1::3], words[2::3], strict=False))


def _touched(top: Path, commit: str) -> frozenset[str]:
    changed = _git(top, "diff", "--name-only", "-z", "--no-renames", commit, "--") or b""
    new = _git(top, "ls-files", "-z", "--others", "--exclude-standard") or b""
    return frozenset(os.fsdecode(name) for name in (changed + new).split(b"\0") if name)


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes | None:
    """The standard output of git; ``None`` when it fails or is not installed."""
    plain = ["git", "-c", "core.quotePath=false", "-c", "diff.relative=false", *arguments]
    try:
        done = subprocess.run(
            plain, cwd=folder, env=files.git_environment(), input=stdin, capture_output=True, check=False
        )
    except OSError:
        return None
    return None if done.returncode else done.stdout
