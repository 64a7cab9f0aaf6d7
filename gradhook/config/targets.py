"""Which functions does the configuration name in place of an annotation, and with which options?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gradhook.config.settings import nearest, shown
from gradhook.config.text import Places
from gradhook.model import ClaimKind

TABLE = ("tool", "gradhook", "targets")
BOTH = ("args", "kwargs", "modes", "atol", "rtol", "wrt", "cases", "exact", "depends_on", "domain")
EXACT_ONLY = ("order", "eps", "stop_gradient", "kink")
SURROGATE_ONLY = ("forward", "derivative_of", "rule", "order2", "ties", "bounds")

_NAME = re.compile(r"[^\s:/\\.]+(\.[^\s:/\\.]+)*:(?P<qualname>[^\s:]+)")


@dataclass(frozen=True)
class ConfiguredTarget:
    """A claim that ``pyproject.toml`` makes about a function: the options as TOML has them, and the table's line."""

    name: str
    options: Mapping[str, Any]
    line: int

    @property
    def claim(self) -> ClaimKind:
        """A surrogate when one of its options says so, an exact claim otherwise."""
        return ClaimKind.SURROGATE if any(o in self.options for o in SURROGATE_ONLY) else ClaimKind.EXACT


def read_targets(tables: Any, places: Places, errors: list[tuple[int, str]]) -> Iterator[ConfiguredTarget]:
    """The targets of ``[tool.gradhook.targets]``; what is wrong with them goes into ``errors``."""
    if not isinstance(tables, dict):
        errors.append((places.line(TABLE), f"targets must be a table, not {shown(tables)}"))
        return
    for name, table in tables.items():
        line = places.line((*TABLE, name))
        if not is_target_name(name):
            errors.append(
                (line, f'{shown(name)} is no target; write [tool.gradhook.targets."package.module:function"]')
            )
        elif not isinstance(table, dict):
            errors.append((line, f"{name} must be a table of options, not {shown(table)}"))
        else:
            yield ConfiguredTarget(name, _options(name, table, places, errors), line)


def is_target_name(name: str) -> bool:
    """Whether ``name`` looks like ``module:qualname``."""
    match = _NAME.fullmatch(name)
    return match is not None and all(part.isidentifier() for part in match["qualname"].split("."))


def _options(name: str, table: dict[str, Any], places: Places, errors: list[tuple[int, str]]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for key, value in table.items():
        option, line = key.replace("-", "_"), places.line((*TABLE, name, key))
        if option in options:
            errors.append((line, f"{name} has the option {option} twice"))
        elif option not in (*BOTH, *EXACT_ONLY, *SURROGATE_ONLY):
            hint = nearest(option, (*BOTH, *EXACT_ONLY, *SURROGATE_ONLY))
            errors.append((line, f"{name} has an unknown option {shown(key)}{hint}"))
        options[option] = value
    _refuse_both_kinds(name, options, places, errors)
    return options


def _refuse_both_kinds(name: str, options: dict[str, Any], places: Places, errors: list[tuple[int, str]]) -> None:
    exact = [o for o in EXACT_ONLY if o in options]
    stand_in = [o for o in SURROGATE_ONLY if o in options]
    if exact and stand_in:
        text = f"{name} is either exact ({', '.join(exact)}) or a surrogate ({', '.join(stand_in)}), not both"
        errors.append((places.line((*TABLE, name)), text))
