"""The command ``gradhook init``: the hook and the workflow for a repository."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from gradhook.cli import templates
from gradhook.cli.display import repository
from gradhook.cli.exit_codes import CLEAN
from gradhook.model.errors import GradhookError


@dataclass(frozen=True)
class _Plan:
    """What is to be done about one file: its new text, or the reason why nothing is."""

    path: Path
    block: str
    text: str | None
    reason: str


@click.command()
@click.option("--write", is_flag=True, help="Write the files instead of showing what belongs into them.")
@click.option(
    "--repo",
    "home",
    default=templates.REPOSITORY_URL,
    metavar="URL",
    help=f"Where gradhook comes from.  [{templates.REPOSITORY_URL}]",
)
def init(write: bool, home: str) -> int:
    """Show the pre-commit hook and the GitHub workflow for this repository, or write them.

    Nothing is ever overwritten: an existing list of hooks gets one more entry, an existing workflow stays as it is.
    """
    root = repository(Path.cwd(), os.environ)
    plans = [_config(root, home), _workflow(root, home)]
    for plan in plans:
        click.echo(_written(plan, root) if write else _shown(plan, root))
    stuck = [plan for plan in plans if write and plan.text is None and plan.block]
    if stuck:
        raise GradhookError(f"{stuck[0].path.relative_to(root)}: {stuck[0].reason}", "add by hand what stands above")
    return CLEAN


def _config(root: Path, home: str) -> _Plan:
    path = root / templates.CONFIG
    text = _read(path)
    if text is None:
        return _Plan(path, templates.config(home), templates.config(home), "new")
    if "gradhook" in text:
        return _Plan(path, "", None, "mentions gradhook already")
    longer = templates.with_hook(text, home)
    reason = "has no list `repos:` that could be added to" if longer is None else "one more entry below `repos:`"
    return _Plan(path, templates.hook(home), longer, reason)


def _workflow(root: Path, home: str) -> _Plan:
    path = root / templates.WORKFLOW
    if path.exists():
        return _Plan(path, "", None, "is there already")
    text = templates.workflow(home, root)
    return _Plan(path, text, text, "new")


def _shown(plan: _Plan, root: Path) -> str:
    head = f"# {plan.path.relative_to(root).as_posix()}: {plan.reason}"
    return f"{head}\n{plan.block}" if plan.block else head


def _written(plan: _Plan, root: Path) -> str:
    name = plan.path.relative_to(root).as_posix()
    if plan.text is None:
        return _shown(plan, root)
    is_new = plan.reason == "new"
    _guarded(plan.path, lambda: _create(plan) if is_new else _replace(plan))
    return f"wrote {name}" if is_new else f"{name}: {plan.reason}"


def _create(plan: _Plan) -> None:
    plan.path.parent.mkdir(parents=True, exist_ok=True)
    with plan.path.open("x", encoding="utf-8", newline="") as file:
        file.write(plan.text or "")


def _replace(plan: _Plan) -> None:
    with plan.path.open("w", encoding="utf-8", newline="") as file:
        file.write(plan.text or "")


def _read(path: Path) -> str | None:
    """The text of a file, its line ends untouched; nothing if there is none."""
    try:
        return path.read_bytes().decode() if path.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise GradhookError(f"{path} cannot be read: {error}", "mend the file") from error


def _guarded(path: Path, write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:
        raise GradhookError(f"{path} cannot be written: {error.strerror}", "check its permissions") from error
