"""Who does not want to hear of a code at a place: a comment, the annotation, a setting for the file, or for all?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gradhook.config import Config
from gradhook.scan import Scan
from gradhook.scan.comments import Comment, comments
from gradhook.scan.globs import excluder

Spot = tuple[str, int | None]
"""A path from the project's root, and a line."""
Said = tuple[Comment, str]
"""A comment and the one of its codes that silenced something."""
COULD_NOT_RUN = "GRD9"


def is_selected(code: str, select: Sequence[str]) -> bool:
    """Whether a code is asked about at all; that something could not run is always said."""
    return not select or code.startswith((COULD_NOT_RUN, *select))


@dataclass(frozen=True)
class Wishes:
    """All that is said about silence in one project; ``used`` gathers the comments that were heeded.

    ``commented`` has the comments of the files that were scanned, and of others once they are asked for.
    """

    config: Config
    commented: dict[str, dict[int, Comment]]
    used: set[Said] = field(default_factory=set)

    @classmethod
    def of(cls, config: Config, scan: Scan) -> Wishes:
        """The wishes of a project's settings and of the files that were scanned."""
        by_path: dict[str, dict[int, Comment]] = {}
        for comment in scan.comments:
            by_path.setdefault(comment.path, {})[comment.line] = comment
        return cls(config, by_path)

    @property
    def root(self) -> str:
        """The project's folder."""
        return str(self.config.root)

    def by(self, code: str, spots: Iterable[Spot], own: Sequence[str] = ()) -> str:
        """Who silences a code at any of the places, in words; empty when nobody does. The nearest wish is named.

        ``own`` are the codes that the annotation of the target wants ignored.
        """
        if code.startswith(COULD_NOT_RUN):
            return ""
        places = list(dict.fromkeys(spots))
        said = [place for place in places if self._comment(code, place)]
        if said:
            return f"comment {said[0][0]}:{said[0][1]}"
        if _matches(code, own):
            return "ignore= of the annotation"
        return self._setting(code, [path for path, _ in places])

    def _comment(self, code: str, spot: Spot) -> bool:
        path, line = spot
        found = self._comments(path).get(line) if line else None
        heeded = [prefix for prefix in found.codes if is_specific(prefix) and code.startswith(prefix)] if found else []
        self.used.update((found, prefix) for prefix in heeded if found)
        return bool(heeded)

    def _comments(self, path: str) -> Mapping[int, Comment]:
        """Of a file outside the scan too: a helper that a finding points into."""
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
    """Whether a comment's code silences anything: it names one, or a group, of findings."""
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
