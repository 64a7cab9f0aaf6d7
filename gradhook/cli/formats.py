"""In which forms can a report be written, and where does each of them go?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from gradhook.cli.printing import deliver, paints, width
from gradhook.cli.view import rebased, repository
from gradhook.errors import GradhookError
from gradhook.model import Report
from gradhook.reporters import concise, json_report, terminal

Command = TypeVar("Command", bound=Callable[..., Any])
Wanted = tuple[tuple[str, Path | None], ...]
"""Forms with their files; no file means standard output."""

FORMS = ("terminal", "concise", "json", "junit", "sarif", "markdown", "github")
_FROM_THE_REPOSITORY = frozenset({"sarif", "github"})


@dataclass(frozen=True)
class Look:
    """How a report for people is to look."""

    paint: bool = False
    verbose: bool = False
    quiet: bool = False
    durations: int = 0


def look(color: str, output_file: Path | None, verbose: bool, quiet: bool, durations: int = 0) -> Look:
    """What ``--color``, ``-o``, ``-v`` and ``-q`` come to; no paint gets into a file."""
    return Look(output_file is None and paints(color, os.environ, sys.stdout), verbose, quiet, durations)


def reports(command: Command) -> Command:
    """``--report FORMAT=PATH``, as often as one likes: a run is dear, so it can answer to several readers."""
    words = f"Also write the report to PATH (- for standard output) as {', '.join(FORMS)}; repeatable."
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
            return json_report.render(report, code)
        case "concise":
            return concise.render(report)
        case "terminal":
            return terminal.render(
                report, width=width(), color=look.paint, verbose=look.verbose, quiet=look.quiet,
                durations=look.durations,
            )  # fmt: skip
        case _:
            return _for_services(report, form)


def write_all(report: Report, wanted: Wanted, code: int) -> None:
    """Write every report that was asked for.

    Raises:
        GradhookError: a file cannot be written; the others are written all the same.
    """
    failed: list[GradhookError] = []
    for form, path in wanted:
        try:
            deliver(rendered(report, form, code, Look()), path)
        except GradhookError as error:
            failed.append(error)
    if failed:
        raise GradhookError("\n".join(error.message for error in failed), failed[0].help)


def _for_services(report: Report, form: str) -> str:
    """Forms of which a run at somebody's desk needs none: loaded only then."""
    from gradhook.reporters import annotations, junit, sarif, summary

    renderers: dict[str, Callable[[Report], str]] = {
        "junit": junit.render, "sarif": sarif.render, "markdown": summary.render, "github": annotations.render,
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
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise click.BadParameter(f"there is no folder '{path.parent}', or '{path}' is one", ctx, param)
        found.append((form, path))
    return tuple(found)
