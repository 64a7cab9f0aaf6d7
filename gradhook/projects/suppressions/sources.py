"""Look up the source that ignores a code at a place: comment, annotation or setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gradhook.config import Config
from gradhook.scan import Scan
from gradhook.scan.files import excluder
from gradhook.scan.parse import Comment, comments

Location = tuple[str, int | None]
"""A path from the project's root, and a line."""
UsedComment = tuple[Comment, str]
"""A comment and the one of its codes that silenced something."""
COULD_NOT_RUN = "GRD9"


def is_selected(code: str, select: Sequence[str]) -> bool:
    """Whether a code is selected; findings that something could not run always are."""
    return not select or code.startswith((COULD_NOT_RUN, *select))


@dataclass(frozen=True)
class Suppressions:
    """All suppressions of one project; ``used`` collects the comments that ignored something.

    ``commented`` has the comments of the scanned files, and of others once they are read.
    """

    config: Config
    commented: dict[str, dict[int, Comment]]
    used: set[UsedComment] = field(default_factory=set)

    @classmethod
    def of(cls, config: Config, scan: Scan) -> Suppressions:
        """The suppressions of a project's settings and of the scanned files."""
        by_path: dict[str, dict[int, Comment]] = {}
        for comment in scan.comments:
            by_path.setdefault(comment.path, {})[comment.line] = comment
        return cls(config, by_path)

    @property
    def root(self) -> str:
        """The project's folder."""
        return str(self.config.root)

    def source_of(self, code: str, locations: Iterable[Location], own: Sequence[str] = ()) -> str:
        """The nearest source that ignores a code at one of the locations, in words; empty if none.

        ``own`` are the codes in ``ignore=`` of the target's annotation.
        """
        if code.startswith(COULD_NOT_RUN):
            return ""
        places = list(dict.fromkeys(locations))
        commented = [place for place in places if self._comment(code, place)]
        if commented:
            return f"comment {commented[0][0]}:{commented[0][1]}"
        if _matches(code, own):
            return "ignore= of the annotation"
        return self._setting(code, [path for path, _ in places])

    def _comment(self, code: str, location: Location) -> bool:
        path, line = location
        comment = self._comments(path).get(line) if line else None
        if comment is None:
            return False
        matching = [prefix for prefix in comment.codes if is_specific(prefix) and code.startswith(prefix)]
        self.used.update((comment, prefix) for prefix in matching)
        return bool(matching)

    def _comments(self, path: str) -> Mapping[int, Comment]:
        """The comments of a file, also of one outside the scan that a finding points into."""
        if path not in self.commented:
            self.commented[path] = _read(self.config.root / path, path)
        return self.commented[path]

    def _setting(self, code: str, paths: Sequence[str]) -> str:
        settings, origins = self.config.settings, self.config.origins
        prefix = self.config.prefix("per_file_ignores")
        for glob, codes in settings.per_file_ignores.items():
            if _matches(code, codes) and any(_glob(glob)(prefix + path) for path in paths):
                return f"per-file-ignores {glob!r} ({origins['per_file_ignores']})"
        return f"ignore ({origins['ignore']})" if _matches(code, settings.ignore) else ""


def is_specific(prefix: str) -> bool:
    """Whether a comment's code ignores anything: it names one code or a group of codes."""
    return prefix[:3] == "GRD" and prefix[3:].isdigit() and prefix[3] != "9" and len(prefix) <= 6


def _matches(code: str, prefixes: Sequence[str]) -> bool:
    return bool(prefixes) and code.startswith(tuple(prefixes))


@cache
def _glob(glob: str) -> Callable[[str], bool]:
    return excluder((glob,))


def _read(file: Path, path: str) -> dict[int, Comment]:
    try:
        text = file.read_bytes() if file.suffix == ".py" and not Path(path).is_absolute() else b""
    except OSError:
        return {}
    return {comment.line: comment for comment in comments(text, path)}
