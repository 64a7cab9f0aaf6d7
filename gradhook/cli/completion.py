"""The command ``gradhook completion``, and the words that a shell completes.

The codes are a folder's names; the targets are read from the files below the working directory, which imports nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from gradhook.cli.exit_codes import CLEAN

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the script that completes commands, options, codes and targets in SHELL.

    bash: eval "$(gradhook completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish:
    gradhook completion fish > ~/.config/fish/completions/gradhook.fish
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"this click knows no {shell}")
    click.echo(found(ctx.find_root().command, {}, "gradhook", "_GRADHOOK_COMPLETE").source())
    return CLEAN


def complete_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes, with their names; after a comma the next one of a list."""
    from gradhook.model.rule_docs import codes, page

    head, comma, last = incomplete.rpartition(",")
    fitting = [code for code in codes() if code.startswith(last.upper())]
    return [CompletionItem(head + comma + code, help=page(code).name) for code in fitting]


def complete_targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of targets that contain what was typed; nothing rather than an error."""
    from gradhook.execution import session
    from gradhook.model.errors import GradhookError

    try:
        projects = session.find([Path(path) for path in ctx.params.get("paths") or ()], {})
    except (GradhookError, OSError):
        return []
    found = [target for project in projects for target in project.targets]
    return list(_items(((t.qualname, t.name, f"{t.path}:{t.line}") for t in found), incomplete))


def _items(names: Iterable[tuple[str, str, str]], incomplete: str) -> Iterable[CompletionItem]:
    """The short name where it begins so, else the whole one, each once; shells need the typed beginning."""
    seen: set[str] = set()
    for short, whole, place in names:
        name = next((name for name in (short, whole) if name.startswith(incomplete)), None)
        if name is not None and name not in seen:
            seen.add(name)
            yield CompletionItem(name, help=place)
