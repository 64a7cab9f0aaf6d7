"""Which part of the targets is this runner's, when several share the work?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gradhook.model import Target

if TYPE_CHECKING:
    from gradhook.session import Project

Command = TypeVar("Command", bound=Callable[..., Any])
_MOST = 10_000


@dataclass(frozen=True)
class Shard:
    """Part ``number`` of ``count``, counted from one."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def option(command: Command) -> Command:
    """``--shard K/N``."""
    words = "Check only part K of N: every N-th target in the order of files and lines. See `gradhook merge`."
    return click.option("--shard", metavar="K/N", envvar="GRADHOOK_SHARD", default=None, callback=_parsed, help=words)(
        command
    )


def read(text: str) -> Shard | None:
    """``"2/3"`` as a shard; nothing when it is none."""
    found = re.fullmatch(r"\s*(\d{1,5})\s*/\s*(\d{1,5})\s*", text)
    if not found:
        return None
    number, count = int(found[1]), int(found[2])
    return Shard(number, count) if 1 <= number <= count <= _MOST else None


def sharded(projects: Sequence[Project], shard: Shard | None) -> tuple[Project, ...]:
    """The projects with only the targets of the shard, dealt out like cards so that shards are about as long."""
    if shard is None:
        return tuple(projects)
    order = {project.config.root: n for n, project in enumerate(projects)}
    everything = [(order[p.config.root], _key(target)) for p in projects for target in p.targets]
    mine = set(sorted(set(everything))[shard.number - 1 :: shard.count])
    return tuple(
        project.only(lambda target, n=order[project.config.root]: (n, _key(target)) in mine)  # type: ignore[misc]
        for project in projects
    )


def _key(target: Target) -> tuple[str, int, int, str, str]:
    return target.path, target.line, target.mark, target.name, target.claim.value


def _parsed(ctx: click.Context, param: click.Parameter, value: str | None) -> Shard | None:
    shard = read(value) if value else None
    if value and shard is None:
        raise click.BadParameter(f"{value!r} is not K/N with 1 <= K <= N, such as 2/3", ctx, param)
    return shard
