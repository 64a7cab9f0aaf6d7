"""The command ``gradhook list``, which reads files and imports none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gradhook.cli import options
from gradhook.cli.display import scan_notices, select_by_name, target_from
from gradhook.cli.exit_codes import CLEAN
from gradhook.cli.output import deliver
from gradhook.reporters.target_list import as_json, as_lines, as_table


@click.command("list", epilog=options.SETTINGS_EPILOG)
@options.paths
@options.settings("exclude", "select", "ignore", "unclaimed", "output_format")
@options.source
@options.name
def list_targets(paths: tuple[Path, ...], names: tuple[str, ...], **given: Any) -> int:
    """List the annotated functions in PATHS, and custom rules without a claim; no code is imported."""
    from gradhook.execution import session  # a third of the start-up, which `gradhook --help` does not need

    projects = select_by_name(session.find(paths, options.overrides(given), source=options.source_of(given)), names)
    here = Path.cwd()
    targets = [target_from(here, target) for project in projects for target in project.targets]
    remarks = [notice for project in projects for notice in scan_notices(project, here)]
    files = sum(len(project.scan.files) for project in projects)
    match options.output_format(projects):
        case "json":
            text = as_json(targets, remarks, files)
        case "concise":
            text = as_lines(targets, remarks)
        case _:
            text = as_table(targets, remarks, files)
    deliver(text, None)
    return CLEAN
