"""``gradhook check``: which claims hold?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gradhook.cli import formats, loosening, options, sharding, show_settings, signals
from gradhook.cli.display import chosen, named, seen
from gradhook.cli.exit_codes import CLEAN, exit_code
from gradhook.cli.output import deliver
from gradhook.cli.progress import option as progress_option
from gradhook.cli.progress import progress
from gradhook.config import Source
from gradhook.config.settings import BY_KEY
from gradhook.model.report import Report
from gradhook.reporters.formatting import clean, summary

if TYPE_CHECKING:
    from gradhook.cli.watch import Find, Tell
    from gradhook.execution.session import Project


@dataclass(frozen=True)
class _Form:
    """What was asked of the report."""

    names: tuple[str, ...]
    shard: sharding.Shard | None
    wanted: formats.Wanted
    output_file: Path | None
    look: formats.Look
    against: str | None = None
    affected: bool = False


@click.command(epilog=options.EVERYWHERE)
@options.paths
@options.settings(*BY_KEY)
@options.source
@click.option("--show-settings", "shows", is_flag=True, help="Show each setting with who said it, and check nothing.")
@options.output_file
@options.color
@formats.reports
@sharding.option
@click.option("--against", metavar="REF", help="List claims that were removed or loosened since this git revision.")
@click.option("--config-from", metavar="REF", help="Read the settings of the configuration files at this git revision.")
@progress_option
@formats.durations
@click.option(
    "--affected", is_flag=True, is_eager=True, help="PATHS are files that changed: check what depends on them."
)
@click.option("--watch", "watches", is_flag=True, help="Stay, and check again what a saved file affects.")
@options.name
@click.option("-q", "--quiet", is_flag=True, help="Leave out what passed, versions and progress.")
@click.option("--only-failures", is_flag=True, help="Show only what failed or could not be run.")
@click.option(
    "-v", "--verbose", is_flag=True,
    help="Also show every case, skipped questions, how differences went, times and all that was printed.",
)  # fmt: skip
def check(
    paths: tuple[Path, ...],
    output_file: Path | None,
    color: str,
    wanted: formats.Wanted,
    shard: sharding.Shard | None,
    against: str | None,
    config_from: str | None,
    times: dict[str, float],
    progressing: bool | None,
    durations: int,
    affected: bool,
    watches: bool,
    names: tuple[str, ...],
    quiet: bool,
    only_failures: bool,
    verbose: bool,
    shows: bool,
    **said: Any,
) -> int:
    """Check the annotated functions in PATHS (files and folders; by default the working directory)."""
    from gradhook.execution import session  # a third of the start-up, which `gradhook --help` does not need

    pictures = {"curves": True} if formats.wants_pictures(wanted, verbose) else {}
    find = partial(
        _found, paths, {**options.overrides(said), **pictures}, options.source_of(said), names, config_from,
        affected and bool(paths),
    )  # fmt: skip
    view = {"verbose": verbose, "quiet": quiet, "only_failures": only_failures, "quotes": True}
    look = formats.look(color, output_file, durations=durations, **view)
    tell = partial(_told, _Form(names, shard, wanted, output_file, look, against, affected))
    if shows:
        return _shown(find())
    if watches:
        if affected:
            raise click.UsageError("--watch and --affected exclude each other: --watch looks for changes itself")
        _watch(find, tell, shard, quiet)
    projects = find()
    _warn(projects, quiet)
    mine = sharding.sharded(projects, shard, times)
    with progress(quiet, sum(len(project.targets) for project in mine), progressing) as show:
        checked = session.check(mine, progress=show, times=times)
    return tell(checked, projects)


def _watch(find: Find, tell: Tell, shard: sharding.Shard | None, quiet: bool) -> NoReturn:
    """Never returns: the user ends it."""
    from gradhook.cli.watch import watch

    if shard is not None:
        raise click.UsageError("--watch and --shard exclude each other: a part of the work is no use at a desk")
    watch(find, tell, quiet)


def _shown(projects: Sequence[Project]) -> int:
    deliver(show_settings.shown([project.config for project in projects], options.output_format(projects)), None)
    return CLEAN


def _warn(projects: Sequence[Project], quiet: bool) -> None:
    """A file that looks like the configuration and is not heeded must not go unnoticed."""
    lines = {show_settings.shadowed(project.config, Path.cwd()) for project in projects}
    for line in sorted(lines - {""}) if not quiet else ():
        click.echo(f"gradhook: {line}", err=True)


def _finder(affected: bool) -> Callable[..., tuple[Project, ...]]:
    """Each is loaded by those who want it: what is affected is known to the cache."""
    if affected:
        from gradhook.execution.affected import concerned

        return concerned
    from gradhook.projects.discovery import find

    return find


def _found(
    paths: Sequence[Path],
    overrides: Mapping[str, Any],
    source: Source,
    names: Sequence[str],
    config_from: str | None,
    affected: bool,
) -> Sequence[Project]:
    find = partial(_finder(affected), paths, overrides, source=source)
    choose = named if affected else chosen
    if not config_from:
        return choose(find(), names)
    from gradhook.projects.baseline.base import settings_from

    with settings_from(config_from, Path.cwd()) as read:
        return choose(find(read=read), names)


def _told(form: _Form, checked: Report, projects: Sequence[Project]) -> int:
    """Deliver the report in every form that was asked for; the exit code."""
    report = _labelled(seen(checked, projects, Path.cwd(), form.names), form.shard)
    report = loosening.noted(report, projects, form.against) if form.against else report
    code = signals.code() if report.interrupted else exit_code(report, projects)
    written = options.output_format(projects)
    empty = not report.targets and not report.interrupted
    silent = empty and written == "terminal" and not (report.notices or report.ignored)
    text = "" if silent else formats.rendered(report, written, code, form.look)
    if empty:
        text = _with_nothing(text, report, projects, written, form)
    _complain(report, form.look.quiet)
    deliver(text, form.output_file)
    formats.write_all(report, form.wanted, code, form.look)
    if form.output_file and not form.look.quiet:
        click.echo(f"{summary(report)}; see {form.output_file}", err=True)
    return code


def _labelled(report: Report, shard: sharding.Shard | None) -> Report:
    """The report, which says of what part it is and, on GitHub, of which commit."""
    commit = os.environ.get("GITHUB_SHA")
    environment = {**report.environment, **({"commit": commit} if commit else {})}
    part = {"shard": {"value": str(shard), "origin": "--shard"}} if shard else {}
    return replace(report, environment=environment, settings={**report.settings, **part})


def _complain(report: Report, quiet: bool) -> None:
    """Say why passes could be neither taken from the cache nor kept there, though that was wanted."""
    parts = [report.environment, *report.environment.get("projects", {}).values()]
    for trouble in dict.fromkeys(part["cache"] for part in parts if "cache" in part and not quiet):
        click.echo(f"gradhook: the cache is {clean(trouble)}", err=True)


def _with_nothing(text: str, report: Report, projects: Sequence[Project], written: str, form: _Form) -> str:
    """Say that nothing is annotated: on the screen, or beside a report that a program reads."""
    files = sum(len(project.scan.files) for project in projects)
    line = f"no annotated functions in {files} file{'s' * (files != 1)}"
    if any(project.targets for project in projects):
        line = f"no annotated functions are left for shard {form.shard}"
    if form.affected:
        line = "nothing annotated depends on these files"
    if written == "terminal":
        return f"{text}\n{line}\n" if text else f"{line}\n"
    click.echo(line, err=True)
    return text
