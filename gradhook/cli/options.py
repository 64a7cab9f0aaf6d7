"""Options that commands share, and the settings of each project with their origins.

The settings' options are made from the table in ``gradhook.config.settings``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gradhook.cli.completion import complete_codes, complete_targets
from gradhook.cli.display import path_from
from gradhook.config import Config, Source
from gradhook.config.settings import BY_KEY, DEFAULT, OPTIONS, Option, Settings
from gradhook.model.errors import GradhookError

if TYPE_CHECKING:
    from gradhook.execution.session import Project


CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])
"""A function that click's decorators take and return."""

SETTINGS_EPILOG = (
    "Each setting can also be a key in [tool.gradhook] of pyproject.toml or in gradhook.toml (timeout = 5), or a "
    "variable (GRADHOOK_TIMEOUT=5); the command line goes before variables, variables before the file."
)
_METAVARS = {
    "whole": "N", "count": "N", "number": "X", "text": "TEXT", "words": "LIST", "codes": "CODES", "globs": "GLOB:CODE",
    "levels": "[CODE:]LEVEL",
}  # fmt: skip


def paths(command: CommandFunction) -> CommandFunction:
    """``[PATHS]…``, the working directory when there are none."""
    return click.argument("paths", nargs=-1, type=str, callback=_paths, metavar="[PATHS]...")(command)


def name(command: CommandFunction) -> CommandFunction:
    """``-k NAME``, any number of times."""
    words = "Only targets whose name contains this; several are joined by or."
    option = click.option("-k", "names", metavar="NAME", multiple=True, shell_complete=complete_targets, help=words)
    return option(command)


def settings(*keys: str) -> Callable[[CommandFunction], CommandFunction]:
    """The options of these settings; ``overrides`` takes them out of the command's arguments again."""

    def add(command: CommandFunction) -> CommandFunction:
        for key in reversed(keys):
            command = _setting(BY_KEY[key])(command)
        return command

    return add


def overrides(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The settings given on the command line; ``--seed random`` draws a seed, which the report names."""
    given = {key: value for key, value in arguments.items() if key in BY_KEY and value not in (None, ())}
    if given.get("seed") == "random":
        given["seed"] = int.from_bytes(os.urandom(4))
    return given


def source(command: CommandFunction) -> CommandFunction:
    """``--config PATH`` and ``--isolated``; ``source_of`` takes them out of the command's arguments again."""
    path = click.Path(exists=True, dir_okay=False, path_type=Path)
    config = click.option(
        "--config", type=path, metavar="PATH", envvar="GRADHOOK_CONFIG", default=None,
        help="Read this configuration, a gradhook.toml or pyproject.toml, instead of the nearest one.",
    )  # fmt: skip
    isolated = click.option("--isolated", is_flag=True, help="Read no configuration file.")
    return config(isolated(command))


def source_of(arguments: Mapping[str, Any]) -> Source:
    """The configuration file that the command line names."""
    path, isolated = arguments["config"], arguments["isolated"]
    if path is not None and isolated:
        raise click.UsageError("--config and --isolated exclude each other")
    return Source(path, isolated)


def output_format(projects: Sequence[Project]) -> str:
    """How the report is written: one run has one form, that of its first project."""
    return projects[0].config.settings.output_format if projects else Settings().output_format


def color(command: CommandFunction) -> CommandFunction:
    """``--color``; ``output.uses_color`` decides with it."""
    choice = click.Choice(["auto", "always", "never"])
    return click.option("--color", type=choice, default="auto", help="When to use colour.  [default: auto]")(command)


def output_file(command: CommandFunction) -> CommandFunction:
    """``-o FILE``."""
    path = click.Path(dir_okay=False, writable=True, path_type=Path)
    help_text = "Write the report to this file instead of standard output."
    option = click.option("-o", "--output-file", type=path, metavar="FILE", callback=_require_folder, help=help_text)
    return option(command)


def _require_folder(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse at once what could not be written after a long run."""
    if value is not None and not value.parent.is_dir():
        raise click.BadParameter(f"there is no folder '{value.parent}'", ctx, param)
    return value


def _paths(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[Path, ...]:
    """Files and folders that exist; of files that changed, some may be gone."""
    for name in value:
        if name == "-":
            text = "gradhook imports what it checks, so it cannot read code from standard input; name a file"
            raise click.BadParameter(text, ctx, param)
        if not ctx.params.get("affected") and not _exists(Path(name)):
            raise GradhookError(f"there is no file or folder {name!r}", "check the name and the working directory")
    return tuple(map(Path, value))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or a null byte
        return False


def _setting(option: Option) -> Callable[[CommandFunction], CommandFunction]:
    words, name = _help(option), option.flag
    if option.kind == "switch":
        return click.option(f"{name}/--no-{option.toml}", default=None, help=words)
    if option.kind == "choice":
        return click.option(name, type=click.Choice(option.choices), default=None, help=words)
    many = option.kind in ("words", "codes", "globs", "levels")
    complete = complete_codes if option.kind == "codes" else None
    names = (option.short, name) if option.short else (name,)
    metavar = _METAVARS[option.kind]
    return click.option(
        *names, type=str, multiple=many, metavar=metavar, default=None, help=words, shell_complete=complete
    )


def _default_text(option: Option) -> str:
    if option.kind == "levels":
        return str(option.default[DEFAULT])
    return f"{option.default:g}" if option.kind == "number" else str(option.default)


def _help(option: Option) -> str:
    parts = [option.help]
    if option.kind not in ("switch", "choice"):
        parts.append(f"[{option.expects}]")
    if option.default not in (None, (), {}, False):
        parts.append(f"[default: {_default_text(option)}]")
    return "  ".join(parts)


def render_settings(configs: Sequence[Config], form: str) -> str:
    """A table for each project, or one JSON object with a key for each root."""
    if form == "json":
        return json.dumps({str(config.root): _object(config) for config in configs}, indent=2) + "\n"
    return "\n".join("".join(f"{line}\n" for line in _table(config)) for config in configs)


def shadowed_warning(config: Config, here: Path) -> str:
    """A warning that a second file beside the one that was read is not used; empty without one."""
    if config.file is None or config.shadowed is None:
        return ""
    return f"{_relative(config.file, here)} is read, [tool.gradhook] of {_relative(config.shadowed, here)} is not"


def _object(config: Config) -> dict[str, Any]:
    return {
        "config": str(config.file) if config.file else None,
        "shadowed": str(config.shadowed) if config.shadowed else None,
        "settings": {o.toml: {"value": getattr(config.settings, o.key), **config.origin(o.key)} for o in OPTIONS},
    }


def _table(config: Config) -> Iterator[str]:
    here = Path.cwd()
    yield f"project        {_relative(config.root, here)}"
    yield f"configuration  {_file(config, here)}"
    rows = [(o.toml, _value(getattr(config.settings, o.key)), _origin(config, o.key)) for o in OPTIONS]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    yield from (f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}" for key, value, origin in rows)


def _file(config: Config, here: Path) -> str:
    if config.source.isolated:
        return "none (--isolated)"
    found = _relative(config.file, here) if config.file else "none"
    return f"{found} ({shadowed_warning(config, here)})" if config.shadowed else found


def _origin(config: Config, key: str) -> str:
    line = config.lines.get(key)
    return config.origins[key] if line is None else f"{config.origins[key]}:{line}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            ", ".join(f"{key}: {item if isinstance(item, str) else ' '.join(item)}" for key, item in value.items())
            or "none"
        )
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _relative(path: Path, here: Path) -> str:
    return path_from(here, path.as_posix(), "/") if path.is_absolute() else str(path)
