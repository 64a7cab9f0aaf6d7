"""In which forms can a report be written, and where does each of them go?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from gradhook.cli.display import rebased, repository
from gradhook.cli.output import deliver, draws, paints, width
from gradhook.cli.sources import sources
from gradhook.config.settings import FORMATS
from gradhook.model.errors import GradhookError
from gradhook.model.report import Report

Command = TypeVar("Command", bound=Callable[..., Any])
Wanted = tuple[tuple[str, Path | None], ...]
"""Forms with their files; no file means standard output."""

FORMS = (*FORMATS, "html")
_FILES_ONLY = frozenset({"html"})
_FROM_THE_REPOSITORY = frozenset({"sarif", "github", "gitlab"})


@dataclass(frozen=True)
class Look:
    """How a report for people is to look."""

    paint: bool = False
    verbose: bool = False
    quiet: bool = False
    durations: int = 0
    only_failures: bool = False
    blocks: bool = True
    quotes: bool = False
    """Whether lines of the source are shown: not where the report may be of another checkout."""


def look(color: str, output_file: Path | None, *, durations: int = 0, **more: bool) -> Look:
    """What ``--color``, ``-o``, ``-v`` and their like come to; a file gets no paint, and any character."""
    to_screen = output_file is None
    paint, blocks = to_screen and paints(color, os.environ, sys.stdout), not to_screen or draws(sys.stdout)
    return Look(paint, durations=durations, blocks=blocks, **more)


def wants_pictures(wanted: Wanted, verbose: bool) -> bool:
    """Whether somebody is going to see how differences went."""
    return verbose or any(form == "html" for form, _ in wanted)


def reports(command: Command) -> Command:
    """``--report FORMAT=PATH``, as often as one likes: a run is dear, so it can answer to several readers."""
    words = f"Also write the report to PATH (- for standard output) as {', '.join(FORMS)} (a file); repeatable."
    option = click.option("--report", "wanted", multiple=True, metavar="FORMAT=PATH", callback=_wanted, help=words)
    return option(command)


def durations(command: Command) -> Command:
    """``--durations N``."""
    words = "Also show the slowest N targets, and what of their time is compiling."
    return click.option("--durations", type=click.IntRange(0), metavar="N", default=0, help=words)(command)


def rendered(report: Report, form: str, code: int, look: Look) -> str:
    """The report in a form; those for machines that know the repository have their paths from its root."""
    if form in _FROM_THE_REPOSITORY:
        report = rebased(report, Path.cwd(), repository(Path.cwd(), os.environ))
    match form:
        case "json":
            from gradhook.reporters import json_report  # each form is loaded by those who want it

            return json_report.render(report, code)
        case "concise":
            from gradhook.reporters import concise

            return concise.render(report, only_failures=look.only_failures)
        case "terminal":
            return _screen(report, look)
        case "html":
            from gradhook.reporters import html

            return html.render(report, sources(report) if look.quotes else {})
        case _:
            return _for_services(report, form)


def _screen(report: Report, look: Look) -> str:
    from gradhook.reporters import terminal

    return terminal.render(
        report, width=width(), color=look.paint, verbose=look.verbose, quiet=look.quiet,
        durations=look.durations, only_failures=look.only_failures, blocks=look.blocks,
        sources=sources(report) if look.quotes else {},
    )  # fmt: skip


def write_all(report: Report, wanted: Wanted, code: int, look: Look) -> None:
    """Write every report that was asked for.

    Raises:
        GradhookError: a file cannot be written; the others are written all the same.
    """
    failed: list[GradhookError] = []
    for form, path in wanted:
        try:
            deliver(rendered(report, form, code, Look(quotes=look.quotes)), path)
        except GradhookError as error:
            failed.append(error)
    if failed:
        raise GradhookError("\n".join(error.message for error in failed), failed[0].help)


def _for_services(report: Report, form: str) -> str:
    """Forms of which a run at somebody's desk needs none: loaded only then."""
    from gradhook.reporters import github_annotations, github_summary, gitlab, junit, sarif

    renderers: dict[str, Callable[[Report], str]] = {
        "junit": junit.render, "sarif": sarif.render, "gitlab": gitlab.render,
        "markdown": github_summary.render, "github": github_annotations.render,
    }  # fmt: skip
    return renderers[form](report)


def _wanted(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> Wanted:
    """Refuse at once what could not be written after a long run."""
    found = []
    for text in value:
        form, _, name = text.partition("=")
        if form not in FORMS or not name:
            raise click.BadParameter(f"{text!r} is not FORMAT=PATH with one of {', '.join(FORMS)}", ctx, param)
        path = None if name == "-" else Path(name)
        if path is None and form in _FILES_ONLY:
            raise click.BadParameter(f"{form} is written to a file: {form}=report.{form}", ctx, param)
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise click.BadParameter(f"there is no folder '{path.parent}', or '{path}' is one", ctx, param)
        found.append((form, path))
    return tuple(found)
