"""The command ``gradhook merge``, which joins the reports of shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from gradhook.cli import formats, options, sharding
from gradhook.cli.exit_codes import CLEAN
from gradhook.cli.output import deliver
from gradhook.config.settings import FORMATS
from gradhook.model.errors import GradhookError
from gradhook.model.report import Change, Report
from gradhook.model.results import TargetReport

_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("files", nargs=-1, required=True, type=_EXISTING, metavar="REPORT.json...")
@click.option(
    "--output-format", "form", type=click.Choice(FORMATS), default="terminal",
    help="How the joined report is written.",
)  # fmt: skip
@options.output_file
@options.color
@formats.reports
@click.option("-q", "--quiet", is_flag=True, help="Leave out what passed, and versions.")
def merge(
    files: tuple[Path, ...], form: str, output_file: Path | None, color: str, wanted: formats.ReportFiles, quiet: bool
) -> int:
    """Join the JSON reports of shards (`gradhook check --shard K/N --report json=FILE`) into one.

    The exit code is the gravest of theirs. A shard that is missing is an error.
    """
    parts = [_read(path) for path in files]
    _require_all_shards([report for report, _ in parts])
    code = max((code for _, code in parts), default=CLEAN)
    report = _join([report for report, _ in parts])
    display = formats.display_options(color, output_file, quiet=quiet)
    deliver(formats.render(report, form, code, display), output_file)
    formats.write_all(report, wanted, code, display)
    return code


def _read(path: Path) -> tuple[Report, int]:
    from gradhook.reporters import json_reading  # which no other command needs

    try:
        return json_reading.read_report(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        help = "name files that `gradhook check --report json=FILE` of this version has written"
        raise GradhookError(f"{path} cannot be read: {error}", help) from error


def _require_all_shards(reports: Sequence[Report]) -> None:
    """Raises GradhookError when shards are missing or are not of one run."""
    found = [str(_shard(report.settings)) for report in reports if _shard(report.settings)]
    known = [shard for text in found if (shard := sharding.parse_shard(text))]
    counts = {shard.count for shard in known}
    if len(counts) > 1:
        raise GradhookError(f"these are shards of different runs: {', '.join(found)}", "name those of one run")
    missing = set(range(1, max(counts, default=0) + 1)) - {shard.number for shard in known}
    if missing:
        names = ", ".join(f"{number}/{max(counts)}" for number in sorted(missing))
        raise GradhookError(f"shards are missing: {names}", "did their jobs fail before they could write a report?")


def _shard(settings: Any) -> Any:
    return settings.get("shard", {}).get("value")


def _join(reports: Sequence[Report]) -> Report:
    """A claim or notice of several shards counts once, with its gravest verdict; times add up."""
    targets: dict[tuple[Any, ...], TargetReport] = {}
    for item in (target for report in reports for target in report.targets):
        key = (item.target.name, item.target.path, item.target.line, item.target.claim)
        targets[key] = max(targets.get(key, item), item, key=_severity)
    first = next((report for report in reports if report.targets), reports[0])
    return replace(
        first,
        targets=tuple(sorted(targets.values(), key=lambda t: (t.target.path, t.target.line))),
        notices=tuple(dict.fromkeys(notice for report in reports for notice in report.notices)),
        settings={key: value for key, value in first.settings.items() if key != "shard"},
        seconds=sum(report.seconds for report in reports),
        against=_changes(reports),
        interrupted=any(report.interrupted for report in reports),
        unanswered=tuple(name for report in reports for name in report.unanswered),
        ignored=tuple(dict.fromkeys(item for report in reports for item in report.ignored)),
    )


def _changes(reports: Sequence[Report]) -> tuple[Change, ...] | None:
    asked = [report.against for report in reports if report.against is not None]
    return tuple(dict.fromkeys(change for changes in asked for change in changes)) if asked else None


def _severity(report: TargetReport) -> int:
    return list(type(report.verdict)).index(report.verdict)
