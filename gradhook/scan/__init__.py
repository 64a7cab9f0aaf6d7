"""Which functions of a project are annotated, as far as its files tell, with nothing imported or executed?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradhook.model.errors import GradhookError
from gradhook.model.report import Notice
from gradhook.model.results import UNCLAIMED, Target
from gradhook.scan.comments import Comment, comments
from gradhook.scan.files import absolute, list_files, list_folder
from gradhook.scan.globs import excluder
from gradhook.scan.parse import read
from gradhook.scan.prefilter import sift
from gradhook.scan.records import Found
from gradhook.scan.repository import Project, found_in, found_or_none, open_project
from gradhook.scan.targets import Configured, abroad, askable, notices, targets


@dataclass(frozen=True)
class Scan:
    """Targets sorted by path and line (unreachable ones with the reason), custom rules without a claim, files read.

    ``comments`` ask for silence about some codes; nothing here heeds them.
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
    hits = sift(listing)
    project = open_project(base, universe, hits if whole else hits | sift(universe))
    chosen = [base / file for file in listing.files if file in hits or (project.users and base / file in project.users)]
    return _answer(project, _founds(chosen, project), str(root), listing.files, Configured(configured, given))


def _founds(paths: Sequence[Path], project: Project) -> list[Found]:
    """What the walk finds in each file.

    Raises:
        GradhookError: some cannot be read; all of them are named, because whoever mends one wants to know the others.
    """
    founds: list[Found] = []
    errors: list[GradhookError] = []
    for path in paths:
        try:
            founds.append(found_in(path, project))
        except GradhookError as error:
            errors.append(error)
    if errors:
        raise GradhookError("\n".join(error.message for error in errors), errors[0].help)
    return founds


def _answer(project: Project, mine: list[Found], root: str, files: tuple[str, ...], configured: Configured) -> Scan:
    others = abroad([*mine, *_other_users(project, mine)])
    found_targets: list[Target] = []
    found_notices: list[Notice] = []
    found_comments: list[Comment] = []
    unclaimed: list[Target] = []
    for found in mine:
        module = found.scope.module
        found_targets += targets(found, others, root)
        found_notices += notices(found, others, root, configured)
        unclaimed += askable(found, others, root, configured)
        found_comments += comments(read(module.path, module.shown), module.shown)
    return Scan(
        tuple(sorted(found_targets, key=lambda t: (t.path, t.line, t.mark))),
        tuple(sorted(found_notices, key=lambda n: (n.path, n.line))),
        files,
        tuple(found_comments),
        tuple(sorted((t for t in unclaimed if not _is_silenced(t, found_comments)), key=lambda t: (t.path, t.line))),
    )


def _is_silenced(rule: Target, comments: Sequence[Comment]) -> bool:
    """Whether a comment says that a rule is to stay without a claim."""
    mine = [c for c in comments if c.path == rule.path and c.line in {rule.line, *rule.lines}]
    return any(not c.codes or UNCLAIMED.startswith(c.codes) for c in mine)


def _other_users(project: Project, mine: list[Found]) -> list[Found]:
    """Files outside the given paths that may apply a decorator stored inside them."""
    if not any(found.stored for found in mine):
        return []
    return [found for path in project.users if (found := found_or_none(path, project))]
