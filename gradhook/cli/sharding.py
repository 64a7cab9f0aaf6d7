"""Divide the targets among runners that share the work."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradhook.cli.options import CommandFunction
from gradhook.model.errors import GradhookError
from gradhook.model.results import Target

if TYPE_CHECKING:
    from gradhook.execution.session import Project

TargetKey = tuple[int, tuple[str, int, int, str, str]]
_MOST = 10_000


@dataclass(frozen=True)
class Shard:
    """Part ``number`` of ``count``, counted from one."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def option(command: CommandFunction) -> CommandFunction:
    """``--shard K/N`` and ``--durations-from REPORT.json``."""
    words = "Check only part K of N: every N-th target in the order of files and lines. See `gradhook merge`."
    shard = click.option(
        "--shard", metavar="K/N", envvar="GRADHOOK_SHARD", default=None, callback=_shard_callback, help=words
    )
    words = "Balance shards and workers by the times in a JSON report of an earlier run; the same file for all shards."
    times = click.option(
        "--durations-from", "times", metavar="REPORT.json", envvar="GRADHOOK_DURATIONS_FROM", default=None,
        type=click.Path(dir_okay=False, path_type=Path), callback=_times_callback, help=words,
    )  # fmt: skip
    return shard(times(command))


def parse_shard(text: str) -> Shard | None:
    """``"2/3"`` as a shard; nothing when it is none."""
    found = re.fullmatch(r"\s*(\d{1,5})\s*/\s*(\d{1,5})\s*", text)
    if not found:
        return None
    number, count = int(found[1]), int(found[2])
    return Shard(number, count) if 1 <= number <= count <= _MOST else None


def select_shard(
    projects: Sequence[Project], shard: Shard | None, times: Mapping[str, float] | None = None
) -> tuple[Project, ...]:
    """The projects with only the targets of the shard; every shard comes to the same division."""
    if shard is None:
        return tuple(projects)
    order = {project.config.root: n for n, project in enumerate(projects)}
    names = {(order[p.config.root], _key(target)): target.name for p in projects for target in p.targets}
    mine = _shard_keys(names, shard, times or {})
    return tuple(
        project.only(lambda target, n=order[project.config.root]: (n, _key(target)) in mine)  # type: ignore[misc]
        for project in projects
    )


def _shard_keys(names: Mapping[TargetKey, str], shard: Shard, times: Mapping[str, float]) -> set[TargetKey]:
    """Every N-th target; where times are known, the longest first to the least loaded shard."""
    known = sorted(times[name] for name in names.values() if name in times)
    if not known:
        return set(sorted(names)[shard.number - 1 :: shard.count])
    usual = known[len(known) // 2]  # the median, without the 10 ms of importing statistics
    cost = {key: times.get(name, usual) for key, name in names.items()}
    loads = [0.0] * shard.count
    mine = set()
    for key in sorted(names, key=lambda key: (-cost[key], key)):
        least = loads.index(min(loads))
        loads[least] += cost[key]
        if least == shard.number - 1:
            mine.add(key)
    return mine


def _key(target: Target) -> tuple[str, int, int, str, str]:
    return target.path, target.line, target.mark, target.name, target.claim.value


def _shard_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> Shard | None:
    shard = parse_shard(value) if value else None
    if value and shard is None:
        raise click.BadParameter(f"{value!r} is not K/N with 1 <= K <= N, such as 2/3", ctx, param)
    return shard


def _times_callback(ctx: click.Context, param: click.Parameter, value: Path | None) -> dict[str, float]:
    """Seconds by target, of those that a report has times for.

    Raises:
        GradhookError: the file is no JSON report.
    """
    del ctx, param
    if value is None:
        return {}
    from gradhook.reporters import json_reading  # which few runs need

    try:
        report, _ = json_reading.read_report(value.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        help = "name a file that `gradhook check --report json=FILE` has written, or leave --durations-from out"
        raise GradhookError(f"{value} cannot be read: {error}", help) from error
    found = {t.target.name: t.seconds.total for t in report.targets}
    return {name: seconds for name, seconds in found.items() if seconds > 0}
