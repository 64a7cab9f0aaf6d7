"""Compare claims, comments and settings with those of another revision; nothing is imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gradhook.config import load
from gradhook.config.settings import BY_KEY
from gradhook.model.errors import GradhookError
from gradhook.model.report import Change
from gradhook.projects.baseline import claim_options, weakened_settings
from gradhook.projects.baseline.claims import SourceClaim, claims, matched_claims, names_in, remaining_file
from gradhook.projects.baseline.revision import Revision, revision
from gradhook.projects.discovery import Project, find
from gradhook.scan.files import mentioning
from gradhook.scan.parse import comments

REMOVED = "removed"
_DECORATORS = {"exact": "@gradcheck", "surrogate": "@surrogate", "rule": "rule"}


def compare(ref: str, here: Path) -> tuple[Change, ...]:
    """The claims and settings removed or weakened below ``here`` since its branch left ``ref``.

    Raises:
        GradhookError: git does not know ``ref``, or what stands there cannot be read.
    """
    with revision(ref, here) as past:
        now = find([past.here], {}, {})
        try:
            before = find([past.there], {}, {}) if any(past.there.rglob("*.py")) else ()
        except GradhookError as error:
            message = error.message.replace(f"{past.tree}/", f"{ref}: ")
            raise GradhookError(message, "what is compared with must be readable too") from error
        found = [*_claims(before, now, past), *_comments(past), *_settings(now, past)]
    return tuple(dict.fromkeys(_from(past.prefix, change) for change in found))


def _claims(before: Sequence[Project], now: Sequence[Project], past: Revision) -> Iterator[Change]:
    for old, new in matched_claims(claims(before, past.tree), claims(now, past.top), past):
        if new is not None:
            yield from _weaker(old, new)
        elif place := remaining_file(old, past):
            line = names_in(past.top / place).get(old.qualname, 1)
            yield Change(REMOVED, old.name, "claim", _DECORATORS[old.kind], "", place, line)


def _weaker(old: SourceClaim, new: SourceClaim) -> Iterator[Change]:
    if (old.kind, new.kind) == ("exact", "surrogate"):
        yield Change(
            claim_options.WEAKENED, new.name, "claim", _DECORATORS[old.kind], _DECORATORS[new.kind], new.path, new.line
        )
    for what, kind, before, after in claim_options.weaker(old.options, new.options, old.defaults):
        yield Change(kind, new.name, what, before, after, new.path, new.line)


def _comments(past: Revision) -> Iterator[Change]:
    """Ignore comments for codes that the same file did not ignore as often before."""
    then = {new: old for old, new in past.renames.items()}
    for name in mentioning(past.here, ("gradhook:",)) or ():
        path = f"{past.prefix}/{name}".lstrip("/")
        old = Counter(code for _, code in _codes(past.tree / then.get(path, path)))
        for line, code in _codes(past.top / path):
            if old[code]:
                old[code] -= 1
            else:
                shown = f"# gradhook: ignore[{code}]" if code else "# gradhook: ignore"
                yield Change(claim_options.WEAKENED, path, "comment", "", shown, path, line)


def _codes(path: Path) -> list[tuple[int, str]]:
    found = comments(path.read_bytes(), path.name) if path.is_file() else ()
    return [(comment.line, code) for comment in found for code in comment.codes or ("",)]


def _settings(now: Sequence[Project], past: Revision) -> Iterator[Change]:
    """The settings of each project that are weaker than those of its folder at the revision."""
    for project in now:
        config = project.config
        root = past.tree / config.root.relative_to(past.top)
        root.mkdir(parents=True, exist_ok=True)
        path = config.file.relative_to(past.top).as_posix() if config.file else ""
        for key, kind, before, after in weakened_settings.weaker(load(root, {}, {}).settings, config.settings):
            line = config.lines.get(key, 1)
            yield Change(kind, "configuration", BY_KEY[key].toml, _plain(before, past), _plain(after, past), path, line)


def _plain(text: str, past: Revision) -> str:
    """A path of either side as one of the repository."""
    return text.replace(f"{past.tree}/", "").replace(f"{past.top}/", "")


def _from(prefix: str, change: Change) -> Change:
    """The change with its path as seen from the working directory."""
    inner = change.path.removeprefix(f"{prefix}/") if prefix else change.path
    if prefix and inner == change.path:
        inner = "../" * (prefix.count("/") + 1) + change.path
    return replace(change, path=inner)
