"""The settings of each project with their origins, for ``--show-settings``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradhook.cli.display import path_from
from gradhook.config import Config
from gradhook.config.settings import OPTIONS


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
