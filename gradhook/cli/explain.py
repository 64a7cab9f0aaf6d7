"""The command ``gradhook explain``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradhook.cli import formats, options
from gradhook.cli.completion import complete_targets
from gradhook.cli.display import displayed
from gradhook.cli.exit_codes import CLEAN, COULD_NOT_RUN
from gradhook.cli.output import deliver
from gradhook.cli.progress import progress
from gradhook.model.errors import GradhookError
from gradhook.model.report import Report
from gradhook.model.results import Target, Verdict

if TYPE_CHECKING:
    from gradhook.execution.session import Project

_SETTINGS = ("order", "modes", "atol", "rtol", "seed", "timeout", "python", "platform", "self_test", "output_format")
_MOST = 8


@click.command(epilog=options.SETTINGS_EPILOG)
@click.argument("target", shell_complete=complete_targets)
@options.paths
@options.settings(*_SETTINGS)
@options.source
@options.color
def explain(target: str, paths: tuple[Path, ...], color: str, **given: Any) -> int:
    """Check one TARGET again and show everything: inputs, each comparison step by step, each question.

    TARGET is a name (huber, losses:huber), a part of one, or a place (losses.py:13). PATHS say where to look for it.
    """
    from gradhook.execution import session  # a third of the start-up, which `gradhook --help` does not need
    from gradhook.reporters import explanation

    place = re.fullmatch(r"(.+\.py):([0-9]+)", target)
    where = [Path(place[1])] if place and Path(place[1]).is_file() else list(paths)
    overrides = {**options.overrides(given), "curves": True}
    projects = session.find(where, overrides, source=options.source_of(given))
    wanted = _target_filter(projects, target, (Path(place[1]), int(place[2])) if place else None)
    chosen = [project.only(wanted) for project in projects]
    with progress(False, sum(len(project.targets) for project in chosen)) as show:
        checked = session.check(chosen, progress=show, account=True)
    if checked.interrupted:
        raise KeyboardInterrupt
    report = _restrict(displayed(checked, chosen, Path.cwd()), wanted)
    if options.output_format(projects) == "json":
        text = explanation.as_json(report.targets)
    else:
        text = explanation.as_text(report.targets, formats.display_options(color))
    deliver(text, None)
    return COULD_NOT_RUN if report.verdict is Verdict.ERROR else CLEAN


def _restrict(report: Report, wanted: Callable[[Target], bool]) -> Report:
    """Without what the import found besides."""
    names = {target.target.name for target in report.targets if wanted(target.target)}
    return replace(report, targets=tuple(t for t in report.targets if t.target.name in names))


def _target_filter(projects: Sequence[Project], text: str, place: tuple[Path, int] | None) -> Callable[[Target], bool]:
    """A predicate that holds for one target, or for several claims about it.

    Raises:
        GradhookError: nothing fits, or several things do.
    """
    targets = [target for project in projects for target in project.targets]
    fitting = _by_place(targets, *place) if place else _by_name(targets, text)
    names = list(dict.fromkeys(target.name for target in fitting))
    if not names:
        raise GradhookError(f"there is no target {text!r}", "`gradhook list` shows names and places")
    if len(names) > 1:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        raise GradhookError(f"{text!r} may be {', '.join(names[:_MOST])}{more}", "name one of them")
    return lambda target: target.name == names[0]


def _by_name(targets: Sequence[Target], text: str) -> list[Target]:
    """The targets of exactly this name; else of this function name; else those that contain it."""
    ways: tuple[Callable[[Target], bool], ...] = (
        lambda target: target.name == text,
        lambda target: target.qualname == text,
        lambda target: target.qualname.rpartition(".")[2] == text,
        lambda target: text in target.name,
    )
    found = ([target for target in targets if fits(target)] for fits in ways)
    return next((several for several in found if several), [])


def _by_place(targets: Sequence[Target], path: Path, line: int) -> list[Target]:
    """Those that begin on the line, or the last ones that begin before it."""
    here = [target for target in targets if Path(target.root, target.path).resolve() == path.resolve()]
    starts = {min(target.line, target.mark, *target.lines): target for target in here}
    before = [start for start in starts if start <= line]
    return [t for t in here if before and min(t.line, t.mark, *t.lines) == max(before)]
