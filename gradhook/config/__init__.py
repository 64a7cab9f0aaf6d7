"""What do ``[tool.gradhook]``, the environment and the command line say together, and who said what?"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradhook.config.settings import BY_KEY, OPTIONS, Option, nearest, read, read_text, shown
from gradhook.config.settings import Settings as Settings
from gradhook.config.targets import ConfiguredTarget as ConfiguredTarget
from gradhook.config.targets import read_targets
from gradhook.config.text import Places
from gradhook.errors import GradhookError

FILE = "pyproject.toml"
_TABLE = ("tool", "gradhook")


@dataclass(frozen=True)
class Config:
    """The settings of one project. ``origins`` tells for each key who said it, ``file`` which file was read."""

    root: Path
    settings: Settings
    origins: Mapping[str, str]
    targets: tuple[ConfiguredTarget, ...] = ()
    file: Path | None = None


@dataclass
class _Said:
    """What has been said so far; a later voice goes over an earlier one. Errors are gathered."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=lambda: dict.fromkeys(BY_KEY, "default"))
    errors: list[str] = field(default_factory=list)


def load(start: Path, overrides: Mapping[str, Any], environ: Mapping[str, str]) -> Config:
    """The configuration that holds for ``start``: defaults, then ``[tool.gradhook]``, ``environ``, ``overrides``.

    Overrides of ``None`` and ``()`` have not been said, nor have empty variables.

    Raises:
        GradhookError: the file cannot be read, or something said is wrong; all that is wrong at once, a line each.
    """
    root = project_root(start)
    said = _Said()
    targets = _hear_file(root, said)
    _hear_environment(environ, said)
    _hear_overrides(overrides, said)
    if said.errors:
        raise GradhookError("\n".join(said.errors), "`gradhook check --help` lists the settings and what they may be")
    file = root / FILE
    return Config(root, Settings(**said.values), said.origins, targets, file if file.is_file() else None)


def project_root(start: Path) -> Path:
    """The nearest folder upwards with a ``pyproject.toml`` or the repository's own; else the folder of ``start``.

    The search ends at the repository's edge: settings never come from a folder around it.
    """
    start = Path(os.path.abspath(start))  # noqa: PTH100  # Path.absolute keeps "..", Path.resolve follows links
    folder = start if start.is_dir() else start.parent
    for parent in (folder, *folder.parents):
        if (parent / FILE).is_file() or (parent / ".git").exists():
            return parent
    return folder


def _hear_file(root: Path, said: _Said) -> tuple[ConfiguredTarget, ...]:
    if not (root / FILE).is_file():
        return ()
    text = _text(root / FILE)
    table, places = _table(text, root / FILE), Places(text)
    wrong: list[tuple[int, str]] = []
    targets = tuple(read_targets(table.pop("targets", {}), places, wrong))
    for key, value in table.items():
        if complaint := _hear_key(key, value, root, said):
            wrong.append((places.line((*_TABLE, key)), complaint))
    said.errors += [f"{_display(root / FILE)}:{line}: {text}" for line, text in sorted(wrong)]
    return targets


def _hear_key(key: str, value: Any, root: Path, said: _Said) -> str:
    """What is wrong with a key of the file; empty when it was taken."""
    option = BY_KEY.get(key.replace("-", "_"))
    if option is None:
        known = [*(o.toml for o in OPTIONS), "targets"]
        return f"unknown key {shown(key)} in [tool.gradhook]{nearest(key.replace('_', '-'), known)}"
    if option.key in said.values:
        return f"{option.toml} is there twice, with a hyphen and with an underscore"
    try:
        said.values[option.key] = _placed(option, read(option, value), root)
    except ValueError as error:
        return str(error)
    said.origins[option.key] = FILE
    return ""


def _hear_environment(environ: Mapping[str, str], said: _Said) -> None:
    for option in OPTIONS:
        if text := environ.get(option.variable):
            _hear_text(option, text, option.variable, said)


def _hear_overrides(overrides: Mapping[str, Any], said: _Said) -> None:
    for key, value in overrides.items():
        if value is not None and value != ():
            _hear_text(BY_KEY[key], value, BY_KEY[key].flag, said)


def _hear_text(option: Option, text: Any, origin: str, said: _Said) -> None:
    try:
        said.values[option.key] = read_text(option, text)
        said.origins[option.key] = origin
    except ValueError as error:
        said.errors.append(f"{origin}: {error}")


def _placed(option: Option, value: Any, root: Path) -> Any:
    """A path in the file is relative to the file; a bare name of an interpreter is left for PATH."""
    if option.key != "python":
        return value
    path = Path(value).expanduser()
    is_path = path.is_absolute() or len(path.parts) > 1 or (root / path).exists()
    return str(root / path) if is_path else value


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode().replace("\r\n", "\n")
    except OSError as error:
        raise GradhookError(f"{_display(path)} cannot be read: {error.strerror}", "check its permissions") from error
    except UnicodeDecodeError as error:
        raise GradhookError(f"{_display(path)} is not UTF-8 (byte {error.start})", "save it as UTF-8") from error


def _table(text: str, path: Path) -> dict[str, Any]:
    """``[tool.gradhook]``, or an empty table."""
    try:
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{_display(path)}:{line[1]}" if line else _display(path)
        raise GradhookError(f"{place}: not valid TOML: {error}", "mend the file and try again") from error
    for key in _TABLE:
        table = table.get(key, {})
        if not isinstance(table, dict):
            raise GradhookError(f"{_display(path)}: {key} must be a table, not {shown(table)}", "write [tool.gradhook]")
    return dict(table)


def _display(path: Path) -> str:
    """Relative to the working directory where that is shorter."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
