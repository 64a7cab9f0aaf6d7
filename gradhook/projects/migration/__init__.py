"""Translate gradient tests of a project to claims; files are only read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradhook.config import project_root
from gradhook.projects.migration.calls import NAMES, calls
from gradhook.projects.migration.codegen import claims_file, names_in_use, text_of
from gradhook.projects.migration.fragments import Status, TestFile, Translation
from gradhook.projects.migration.translate import translate
from gradhook.scan.files import absolute, list_files
from gradhook.scan.parse import files_containing, parse, read


@dataclass(frozen=True)
class Migrated:
    """A test file, the translation of each of its calls, and the file of claims."""

    source: Path
    translations: tuple[Translation, ...]
    target: Path
    text: str
    """Claims, and as comments what has to be finished by hand; empty when there is neither."""

    @property
    def has_claims(self) -> bool:
        """Whether there is more in the text than comments."""
        return any(translation.status is Status.TRANSLATED for translation in self.translations)


@dataclass(frozen=True)
class Migration:
    """The test files with gradient checks, and the number of Python files searched."""

    files: tuple[Migrated, ...]
    searched: int


def migrate(paths: Sequence[Path], *, tolerances: bool = False) -> Migration:
    """Translate every gradient check below ``paths``; with ``tolerances`` and steps if wanted.

    Raises:
        GradhookError: a path has no Python files, or one that may hold such calls cannot be read or is no Python.
    """
    found: list[Migrated] = []
    searched = 0
    for given in dict.fromkeys(absolute(path) for path in paths):
        root = project_root(given if given.is_dir() else given.parent)
        listing = list_files(root, [given], lambda _: False)
        searched += len(listing.files)
        found += [
            m
            for name in sorted(files_containing(listing, NAMES))
            if (m := _migrated(root / name, tolerances)).translations
        ]
    return Migration(tuple({m.source: m for m in found}.values()), searched)


def _migrated(path: Path, tolerances: bool) -> Migrated:
    text = read(path, path.name)
    test = TestFile(path.name, text.decode("utf-8", "replace"), parse(text, str(path)))
    taken = names_in_use(test)
    translations = tuple(translate(call, test, taken, tolerances=tolerances) for call in calls(test))
    return Migrated(path, translations, claims_file(path), text_of(test, translations))
