"""Find annotated functions and custom rules in the files of a project; nothing is imported or run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.model.report import Notice
from gradhook.model.results import UNCLAIMED, Target
from gradhook.scan.files import absolute, excluder, list_files, list_folder
from gradhook.scan.parse import Comment, comments, files_containing, read
from gradhook.scan.records import ModuleScan
from gradhook.scan.repository import ModuleIndex, open_index, scan_module, scan_module_or_none
from gradhook.scan.targets import ConfiguredNames, checkable_rules, notices, other_files, targets


@dataclass(frozen=True)
class Scan:
    """Targets by path and line, notices, files read, ignore comments, and unclaimed custom rules.

    A target that no import delivers has the reason in ``unreachable``.
    """

    targets: tuple[Target, ...]
    notices: tuple[Notice, ...]
    files: tuple[str, ...]
    comments: tuple[Comment, ...] = ()
    unclaimed: tuple[Target, ...] = ()
    """Of the custom rules without a claim those whose annotations may say what they take."""


def scan(
    root: Path,
    paths: Sequence[Path],
    *,
    exclude: Sequence[str] = (),
    prefix: str = "",
    configured: Collection[str] = (),
    given: Collection[str] = (),
) -> Scan:
    """Find the annotated functions and the custom rules without a claim.

    Args:
        root: the project's folder.
        paths: files and folders below it; ``.py`` files are scanned, others left alone.
        exclude: globs as in ``.gitignore``, relative to the root; they go before ``paths``.
        prefix: what leads from where the globs start to the root, when that is not the root itself.
        configured: names ``pkg.mod:f`` that the configuration claims.
        given: names that it claims nothing about, but gives inputs for.

    Raises:
        GradhookError: a path is missing, outside the root or a folder without Python files, or a file that may hold
            annotations cannot be read or is no Python.
    """
    base = absolute(root)
    listing = list_files(base, paths, excluder(exclude, prefix) if exclude else None)
    if not listing.files:
        return Scan((), (), ())
    whole = not exclude and "" in listing.searchable
    universe = listing if whole else list_folder(base)
    hits = files_containing(listing)
    index = open_index(base, universe, hits if whole else hits | files_containing(universe))
    chosen = [base / file for file in listing.files if file in hits or (index.users and base / file in index.users)]
    return _merged(index, _module_scans(chosen, index), str(root), listing.files, ConfiguredNames(configured, given))


def _module_scans(paths: Sequence[Path], index: ModuleIndex) -> list[ModuleScan]:
    """Scan each file.

    Raises:
        GradhookError: some files cannot be read; all of them are named, so that they can be fixed at once.
    """
    scans: list[ModuleScan] = []
    errors: list[GradhookError] = []
    for path in paths:
        try:
            scans.append(scan_module(path, index))
        except GradhookError as error:
            errors.append(error)
    if errors:
        raise GradhookError("\n".join(error.message for error in errors), errors[0].help)
    return scans


def _merged(
    index: ModuleIndex, mine: list[ModuleScan], root: str, files: tuple[str, ...], configured: ConfiguredNames
) -> Scan:
    """Targets, notices and comments of the scanned modules in one record."""
    others = other_files([*mine, *_other_users(index, mine)])
    found_targets: list[Target] = []
    found_notices: list[Notice] = []
    found_comments: list[Comment] = []
    unclaimed: list[Target] = []
    for found in mine:
        module = found.scope.module
        found_targets += targets(found, others, root)
        found_notices += notices(found, others, root, configured)
        unclaimed += checkable_rules(found, others, root, configured)
        found_comments += comments(read(module.path, module.shown), module.shown)
    return Scan(
        tuple(sorted(found_targets, key=lambda t: (t.path, t.line, t.mark))),
        tuple(sorted(found_notices, key=lambda n: (n.path, n.line))),
        files,
        tuple(found_comments),
        tuple(sorted((t for t in unclaimed if not _is_ignored(t, found_comments)), key=lambda t: (t.path, t.line))),
    )


def _is_ignored(rule: Target, comments: Sequence[Comment]) -> bool:
    """Whether a comment allows a custom rule to stay without a claim."""
    mine = [c for c in comments if c.path == rule.path and c.line in {rule.line, *rule.lines}]
    return any(not c.codes or UNCLAIMED.startswith(c.codes) for c in mine)


def _other_users(index: ModuleIndex, mine: list[ModuleScan]) -> list[ModuleScan]:
    """Files outside the given paths that may apply a decorator stored inside them."""
    if not any(found.stored for found in mine):
        return []
    return [found for path in index.users if (found := scan_module_or_none(path, index))]
