"""Settings from the configuration file, the environment and the command line, with their origins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradhook.config import locate
from gradhook.config.locate import FILES as FILES
from gradhook.config.locate import KeyLines, display_path
from gradhook.config.locate import Source as Source
from gradhook.config.locate import project_root as project_root
from gradhook.config.settings import BY_KEY, OPTIONS, Option
from gradhook.config.settings import Settings as Settings
from gradhook.config.target_tables import ConfiguredTarget as ConfiguredTarget
from gradhook.config.target_tables import read_targets
from gradhook.config.values import nearest, read_text, read_value, short_repr
from gradhook.model.errors import GradhookError

NEAREST = Source()


@dataclass(frozen=True)
class Config:
    """The settings of one project, with their ``origins`` by key, and their ``lines`` in ``file``.

    ``shadowed`` is a second file with settings beside ``file``, which is not read.
    """

    root: Path
    settings: Settings
    origins: Mapping[str, str]
    targets: tuple[ConfiguredTarget, ...] = ()
    file: Path | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    shadowed: Path | None = None
    source: Source = NEAREST

    def prefix(self, key: str) -> str:
        """The path from where a setting's patterns start to the project: empty, or ``packages/one/``.

        Those of a file start at its folder, when the project lies in it; all others at the project.
        """
        if self.file is None or key not in self.lines or not self.root.is_relative_to(self.file.parent):
            return ""
        between = self.root.relative_to(self.file.parent).as_posix()
        return "" if between == "." else f"{between}/"

    def origin(self, key: str) -> dict[str, Any]:
        """The origin of a setting, and its line if that is a file."""
        return {"origin": self.origins[key], **({"line": self.lines[key]} if key in self.lines else {})}

    def is_default_or_from_file(self, key: str) -> bool:
        """Whether a setting is the default or comes from the file, which a second run reads again."""
        return key in self.lines or self.origins[key] == "default"


@dataclass
class _MergedSettings:
    """The settings merged so far, a later source over an earlier one, and all errors."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=lambda: dict.fromkeys(BY_KEY, "default"))
    lines: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def load(start: Path, overrides: Mapping[str, Any], environ: Mapping[str, str], source: Source = NEAREST) -> Config:
    """The configuration that holds for ``start``: defaults, then the file, ``environ``, ``overrides``.

    Overrides of ``None`` and ``()`` are not set, nor are empty variables.

    Raises:
        GradhookError: the file cannot be read, or a setting is wrong; all errors at once, a line each.
    """
    root = project_root(start)
    merged = _MergedSettings()
    file = locate.read_config_file(root, source)
    targets = _apply_file(file, root, merged) if file else ()
    _apply_environment(environ, merged)
    _apply_overrides(overrides, merged)
    if merged.errors:
        raise GradhookError("\n".join(merged.errors), "`gradhook check --help` lists the settings and what they may be")
    return Config(
        root, Settings(**merged.values), merged.origins, targets if file and _is_home(file, root, source) else (),
        file.path if file else None, merged.lines, file.shadowed if file else None, source,
    )  # fmt: skip


def _is_home(file: locate.File, root: Path, source: Source) -> bool:
    """Whether the targets that the file names are this project's and not one's around or inside it."""
    return root == (project_root(Path.cwd()) if source.path else file.path.parent)


def _apply_file(file: locate.File, root: Path, merged: _MergedSettings) -> tuple[ConfiguredTarget, ...]:
    places = KeyLines(file.text)
    table = dict(file.table)
    wrong: list[tuple[int, str]] = []
    targets = tuple(read_targets(table.pop("targets", {}), (*file.prefix, "targets"), places, wrong))
    for key, value in table.items():
        line = places.line((*file.prefix, key))
        if complaint := _apply_key(key, value, file, merged):
            wrong.append((line, complaint))
        elif option := BY_KEY.get(key.replace("-", "_")):
            merged.origins[option.key] = file.path.name if file.path.parent == root else display_path(file.path)
            merged.lines[option.key] = line
    merged.errors += [f"{display_path(file.path)}:{line}: {text}" for line, text in sorted(wrong)]
    return targets


def _apply_key(key: str, value: Any, file: locate.File, merged: _MergedSettings) -> str:
    """What is wrong with a key of the file; empty when it was taken."""
    option = BY_KEY.get(key.replace("-", "_"))
    if option is None:
        return _unknown(key, file)
    if option.key in merged.values:
        return f"{option.toml} is there twice, with a hyphen and with an underscore"
    try:
        merged.values[option.key] = _resolve_path(option, read_value(option, value), file.path.parent)
    except ValueError as error:
        return str(error)
    return ""


def _unknown(key: str, file: locate.File) -> str:
    if key == "tool" and not file.prefix:
        return f"in {file.path.name} the keys stand at the top, without [tool.gradhook]"
    known = [*(o.toml for o in OPTIONS), "targets"]
    where = f"[{'.'.join(file.prefix)}]" if file.prefix else file.path.name
    return f"unknown key {short_repr(key)} in {where}{nearest(key.replace('_', '-'), known)}"


def _apply_environment(environ: Mapping[str, str], merged: _MergedSettings) -> None:
    for option in OPTIONS:
        if text := environ.get(option.variable):
            _apply_text(option, text, option.variable, merged)


def _apply_overrides(overrides: Mapping[str, Any], merged: _MergedSettings) -> None:
    for key, value in overrides.items():
        if value is not None and value != ():
            _apply_text(BY_KEY[key], value, BY_KEY[key].flag, merged)


def _apply_text(option: Option, text: Any, origin: str, merged: _MergedSettings) -> None:
    try:
        merged.values[option.key] = read_text(option, text)
        merged.origins[option.key] = origin
        merged.lines.pop(option.key, None)
    except ValueError as error:
        merged.errors.append(f"{origin}: {error}")


def _resolve_path(option: Option, value: Any, folder: Path) -> Any:
    """A path in the file is relative to the file; a bare name of an interpreter is left for PATH."""
    if option.key != "python":
        return value
    try:
        path = Path(value).expanduser()
        is_path = path.is_absolute() or len(path.parts) > 1 or (folder / path).exists()
    except (OSError, RuntimeError):  # too long a name, or an unknown home: the error comes when it is run
        return value
    return str(folder / path) if is_path else value


def file_from(root: Path, file: Path | None) -> str:
    """The path of a configuration file as a target in it has it: from the root where it lies inside."""
    if file is None:
        return ""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else os.fspath(file)
