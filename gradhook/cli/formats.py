"""Write a report in each format, to standard output or files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from gradhook.cli.display import rebased, repository
from gradhook.cli.options import CommandFunction
from gradhook.cli.output import deliver, supports_blocks, uses_color, width
from gradhook.config.settings import FORMATS
from gradhook.model.errors import GradhookError
from gradhook.model.report import Report
from gradhook.reporters.display_options import DisplayOptions

ReportFiles = tuple[tuple[str, Path | None], ...]
"""Forms with their files; no file means standard output."""

REPORT_FORMATS = (*FORMATS, "html")
_FILES_ONLY = frozenset({"html"})
_FROM_THE_REPOSITORY = frozenset({"sarif", "github", "gitlab"})


def display_options(
    color: str,
    output_file: Path | None = None,
    *,
    verbose: bool = False,
    quiet: bool = False,
    only_failures: bool = False,
    durations: int = 0,
) -> DisplayOptions:
    """The display options of the command line and the output; a file gets no colour, and any character."""
    to_screen = output_file is None
    return DisplayOptions(
        width(), color=to_screen and uses_color(color, os.environ, sys.stdout), verbose=verbose, quiet=quiet,
        only_failures=only_failures, durations=durations, blocks=not to_screen or supports_blocks(sys.stdout),
    )  # fmt: skip


def needs_curves(wanted: ReportFiles, verbose: bool) -> bool:
    """Whether a requested report shows how differences went."""
    return verbose or any(form == "html" for form, _ in wanted)


def reports(command: CommandFunction) -> CommandFunction:
    """``--report FORMAT=PATH``, repeatable: a run is dear, so it can write several reports."""
    words = (
        f"Also write the report to PATH (- for standard output) as {', '.join(REPORT_FORMATS)} (a file); repeatable."
    )
    option = click.option(
        "--report", "wanted", multiple=True, metavar="FORMAT=PATH", callback=_parse_reports, help=words
    )
    return option(command)


def durations(command: CommandFunction) -> CommandFunction:
    """``--durations N``."""
    words = "Also show the slowest N targets, and what of their time is compiling."
    return click.option("--durations", type=click.IntRange(0), metavar="N", default=0, help=words)(command)


def render(report: Report, form: str, code: int, options: DisplayOptions) -> str:
    """The report in a format; formats for services have their paths from the root of the repository."""
    if form in _FROM_THE_REPOSITORY:
        report = rebased(report, Path.cwd(), repository(Path.cwd(), os.environ))
    match form:
        case "json":
            from gradhook.reporters import json_report  # each format is loaded only where it is written

            return json_report.render(report, code)
        case "concise":
            from gradhook.reporters import concise

            return concise.render(report, only_failures=options.only_failures)
        case "terminal":
            from gradhook.reporters import terminal

            return terminal.render(report, options)
        case "html":
            from gradhook.reporters import html

            return html.render(report, options.sources)
        case _:
            return _render_for_services(report, form)


def write_all(report: Report, wanted: ReportFiles, code: int, options: DisplayOptions) -> None:
    """Write every report that was requested.

    Raises:
        GradhookError: a file cannot be written; the others are written all the same.
    """
    plain = DisplayOptions(options.width, sources=options.sources)
    failed: list[GradhookError] = []
    for form, path in wanted:
        try:
            deliver(render(report, form, code, plain), path)
        except GradhookError as error:
            failed.append(error)
    if failed:
        raise GradhookError("\n".join(error.message for error in failed), failed[0].help)


def _render_for_services(report: Report, form: str) -> str:
    """Formats for services, which a run at a terminal seldom needs: loaded only then."""
    from gradhook.reporters import github_annotations, github_summary, gitlab, junit, sarif

    renderers: dict[str, Callable[[Report], str]] = {
        "junit": junit.render, "sarif": sarif.render, "gitlab": gitlab.render,
        "markdown": github_summary.render, "github": github_annotations.render,
    }  # fmt: skip
    return renderers[form](report)


def _parse_reports(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> ReportFiles:
    """Refuse at once what could not be written after a long run."""
    found = []
    for text in value:
        form, _, name = text.partition("=")
        if form not in REPORT_FORMATS or not name:
            raise click.BadParameter(f"{text!r} is not FORMAT=PATH with one of {', '.join(REPORT_FORMATS)}", ctx, param)
        path = None if name == "-" else Path(name)
        if path is None and form in _FILES_ONLY:
            raise click.BadParameter(f"{form} is written to a file: {form}=report.{form}", ctx, param)
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise click.BadParameter(f"there is no folder '{path.parent}', or '{path}' is one", ctx, param)
        found.append((form, path))
    return tuple(found)
