"""The command ``gradhook check``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gradhook.cli import exit_codes, formats, options, sharding
from gradhook.cli.display import displayed, filter_by_name, select_by_name, source_lines, with_weakened_claims
from gradhook.cli.exit_codes import CLEAN, exit_code
from gradhook.cli.output import deliver
from gradhook.cli.progress import option as progress_option
from gradhook.cli.progress import progress
from gradhook.config import Source
from gradhook.config.settings import BY_KEY
from gradhook.model.report import Report
from gradhook.reporters.display_options import DisplayOptions
from gradhook.reporters.formatting import clean, summary

if TYPE_CHECKING:
    from gradhook.execution.session import Project


@dataclass(frozen=True)
class CheckRequest:
    """One call of ``gradhook check``: targets to find and check, and reports to write about them."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    overrides: Mapping[str, Any]
    source: Source
    config_from: str | None
    affected: bool
    shard: sharding.Shard | None
    against: str | None
    reports: formats.ReportFiles
    output_file: Path | None
    display: DisplayOptions


@click.command(epilog=options.SETTINGS_EPILOG)
@options.paths
@options.settings(*BY_KEY)
@options.source
@click.option("--show-settings", "shows", is_flag=True, help="Show each setting with who said it, and check nothing.")
@options.output_file
@options.color
@formats.reports
@sharding.option
@click.option("--against", metavar="REF", help="List claims that were removed or weakened since this git revision.")
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
    wanted: formats.ReportFiles,
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
    **settings: Any,
) -> int:
    """Check the annotated functions in PATHS (files and folders; by default the working directory)."""
    from gradhook.execution import session  # a third of the start-up, which `gradhook --help` does not need

    overrides = options.overrides(settings)
    if formats.needs_curves(wanted, verbose):
        overrides["curves"] = True
    display = formats.display_options(
        color, output_file, verbose=verbose, quiet=quiet, only_failures=only_failures, durations=durations
    )
    request = CheckRequest(
        paths=paths, names=names, overrides=overrides, source=options.source_of(settings), config_from=config_from,
        affected=affected, shard=shard, against=against, reports=wanted, output_file=output_file, display=display,
    )  # fmt: skip
    if shows:
        return _show_settings(_find_projects(request))
    if watches:
        if affected:
            raise click.UsageError("--watch and --affected exclude each other: --watch looks for changes itself")
        _watch(request)
    projects = _find_projects(request)
    _warn_shadowed_config(projects, quiet)
    mine = sharding.select_shard(projects, shard, times)
    with progress(quiet, sum(len(project.targets) for project in mine), progressing) as show:
        checked = session.check(mine, progress=show, times=times)
    return _deliver_report(request, checked, projects)


def _watch(request: CheckRequest) -> NoReturn:
    """Check again after every change of a file, until an interrupt."""
    from gradhook.cli.watch import watch

    if request.shard is not None:
        raise click.UsageError("--watch and --shard exclude each other: a part of the work is no use at a desk")
    watch(partial(_find_projects, request), partial(_deliver_report, request), request.display.quiet)


def _show_settings(projects: Sequence[Project]) -> int:
    deliver(options.render_settings([project.config for project in projects], options.output_format(projects)), None)
    return CLEAN


def _warn_shadowed_config(projects: Sequence[Project], quiet: bool) -> None:
    """Warn of a file that looks like the configuration and is not read."""
    lines = {options.shadowed_warning(project.config, Path.cwd()) for project in projects}
    for line in sorted(lines - {""}) if not quiet else ():
        click.echo(f"gradhook: {line}", err=True)


def _finder(affected: bool) -> Callable[..., tuple[Project, ...]]:
    """The function that finds projects; imported lazily, for only --affected needs the cache."""
    if affected:
        from gradhook.execution.affected import affected_projects

        return affected_projects
    from gradhook.projects.discovery import find

    return find


def _find_projects(request: CheckRequest) -> Sequence[Project]:
    affected = request.affected and bool(request.paths)
    find = partial(_finder(affected), request.paths, request.overrides, source=request.source)
    select = filter_by_name if affected else select_by_name
    if not request.config_from:
        return select(find(), request.names)
    from gradhook.projects.baseline.weakened_settings import settings_from

    with settings_from(request.config_from, Path.cwd()) as read:
        return select(find(read=read), request.names)


def _deliver_report(request: CheckRequest, checked: Report, projects: Sequence[Project]) -> int:
    """Write the report in every format that was requested; the exit code."""
    report = _with_environment(displayed(checked, projects, Path.cwd(), request.names), request.shard)
    if request.against:
        report = with_weakened_claims(report, projects, request.against)
    code = exit_codes.code() if report.interrupted else exit_code(report, projects)
    display = replace(request.display, sources=source_lines(report))
    written = options.output_format(projects)
    empty = not report.targets and not report.interrupted
    silent = empty and written == "terminal" and not (report.notices or report.ignored)
    text = "" if silent else formats.render(report, written, code, display)
    if empty:
        text = _explain_empty(text, report, projects, written, request)
    _warn_cache(report, display.quiet)
    deliver(text, request.output_file)
    formats.write_all(report, request.reports, code, display)
    if request.output_file and not display.quiet:
        click.echo(f"{summary(report)}; see {request.output_file}", err=True)
    return code


def _with_environment(report: Report, shard: sharding.Shard | None) -> Report:
    """The report with its shard and, on GitHub, its commit."""
    commit = os.environ.get("GITHUB_SHA")
    environment = {**report.environment, **({"commit": commit} if commit else {})}
    part = {"shard": {"value": str(shard), "origin": "--shard"}} if shard else {}
    return replace(report, environment=environment, settings={**report.settings, **part})


def _warn_cache(report: Report, quiet: bool) -> None:
    """Warn where passes could be neither taken from the cache nor kept there, though the setting is on."""
    parts = [report.environment, *report.environment.get("projects", {}).values()]
    for trouble in dict.fromkeys(part["cache"] for part in parts if "cache" in part and not quiet):
        click.echo(f"gradhook: the cache is {clean(trouble)}", err=True)


def _explain_empty(text: str, report: Report, projects: Sequence[Project], written: str, request: CheckRequest) -> str:
    """Say that nothing is annotated: on the screen, or beside a report that a program reads."""
    files = sum(len(project.scan.files) for project in projects)
    line = f"no annotated functions in {files} file{'s' * (files != 1)}"
    if any(project.targets for project in projects):
        line = f"no annotated functions are left for shard {request.shard}"
    if request.affected:
        line = "nothing annotated depends on these files"
    if written == "terminal":
        return f"{text}\n{line}\n" if text else f"{line}\n"
    click.echo(line, err=True)
    return text
