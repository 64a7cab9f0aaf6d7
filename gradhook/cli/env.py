"""The command ``gradhook env``."""

from __future__ import annotations

import json
import os
import platform as system
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from gradhook import __version__
from gradhook.cli import options
from gradhook.cli.exit_codes import CLEAN
from gradhook.cli.output import deliver
from gradhook.config import Config, load
from gradhook.model.errors import GradhookError
from gradhook.reporters.formatting import one_line

Facts = dict[str, Any]


@click.command(epilog=options.SETTINGS_EPILOG)
@options.settings("python", "platform", "output_format")
@options.source
def env(**given: Any) -> int:
    """Show versions, interpreter, device and configuration; starts the project's interpreter, but none of its code."""
    config = load(Path.cwd(), options.overrides(given), os.environ, options.source_of(given))
    facts, trouble = _gradhook_facts(config), None
    try:
        facts |= _project_facts(config)
    except GradhookError as error:
        trouble = error  # what is known is shown all the same
    text = json.dumps(facts, indent=2) + "\n" if config.settings.output_format == "json" else _table(facts)
    deliver(text, None)
    if trouble:
        raise trouble
    return CLEAN


def _gradhook_facts(config: Config) -> Facts:
    return {
        "gradhook": __version__,
        "gradhook_python": system.python_version(),
        "gradhook_interpreter": sys.executable,
        "root": str(config.root),
        "config": str(config.file) if config.file else None,
        "config_not_read": str(config.shadowed) if config.shadowed else None,
        "settings": _changed_settings(config),
    }


def _project_facts(config: Config) -> Facts:
    """The project's interpreter, and what its worker reports of itself."""
    from gradhook.execution.interpreter import choose_interpreter  # not needed by `gradhook --help`, and not light
    from gradhook.execution.supervisor.interactive import reported_environment

    settings, origins = config.settings, config.origins
    chosen = choose_interpreter(settings.python, config.root, os.environ, origin=origins["python"])
    found: Facts = {"interpreter": str(chosen.path), "interpreter_from": chosen.why, "tried": list(chosen.tried)}
    asked = None if origins["platform"] == "default" else settings.platform
    return {**reported_environment(chosen.path, config.root, platform=asked), **found}


def _changed_settings(config: Config) -> dict[str, dict[str, Any]]:
    """The settings that are no defaults, with their origins."""
    return {
        key: {"value": getattr(config.settings, key), **config.origin(key)}
        for key, origin in config.origins.items()
        if origin != "default"
    }


def _table(facts: Facts) -> str:
    rows = list(_rows(facts))
    width = max(len(name) for name, _ in rows)
    return "".join(f"{name:<{width}}  {one_line(text)}\n" for name, text in rows)


def _rows(facts: Facts) -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        label = name.replace("_", " ")
        if isinstance(value, Mapping):
            yield from ((f"{label} {key}", _setting(item)) for key, item in value.items())
        elif isinstance(value, list):
            yield from ((label, str(item)) for item in value)
        else:
            yield label, "none" if value is None else str(value)


def _setting(item: Any) -> str:
    return f"{item['value']} (from {item['origin']})" if isinstance(item, Mapping) and "origin" in item else str(item)
