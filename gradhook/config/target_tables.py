"""Claims about functions that the configuration names in place of an annotation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gradhook.config.locate import KeyLines, KeyPath
from gradhook.config.values import nearest, short_repr
from gradhook.model.results import ClaimKind

COMMON_OPTIONS = (
    "args", "kwargs", "modes", "atol", "rtol", "wrt", "cases", "exact", "ignore", "depends_on", "domain", "slow",
    "dtypes", "shapes",
)  # fmt: skip
EXACT_ONLY = ("order", "eps", "stop_gradient", "kink")
SURROGATE_ONLY = ("forward", "derivative_of", "rule", "order2", "ties", "bounds")
CLAIM = "claim"
"""``claim = "rule"``: nothing is claimed, only inputs are given for what holds of every rule."""

_NAME = re.compile(r"[^\s:/\\.]+(\.[^\s:/\\.]+)*:(?P<qualname>[^\s:]+)")


@dataclass(frozen=True)
class ConfiguredTarget:
    """A claim that ``pyproject.toml`` makes about a function: its options as TOML has them, and its line."""

    name: str
    options: Mapping[str, Any]
    line: int

    @property
    def claim(self) -> ClaimKind:
        """``RULE`` with ``claim = "rule"``; a surrogate with one of its options, an exact claim otherwise."""
        if CLAIM in self.options:
            return ClaimKind.RULE
        return ClaimKind.SURROGATE if any(o in self.options for o in SURROGATE_ONLY) else ClaimKind.EXACT


def read_targets(
    tables: Any, table_path: KeyPath, places: KeyLines, errors: list[tuple[int, str]]
) -> Iterator[ConfiguredTarget]:
    """The targets of the table at ``table_path``; what is wrong with them goes into ``errors``."""
    if not isinstance(tables, dict):
        errors.append((places.line(table_path), f"targets must be a table, not {short_repr(tables)}"))
        return
    for name, table in tables.items():
        path = (*table_path, name)
        line = places.line(path)
        if not is_target_name(name):
            header = ".".join(table_path)
            errors.append((line, f'{short_repr(name)} is no target; write [{header}."package.module:function"]'))
        elif not isinstance(table, dict):
            errors.append((line, f"{name} must be a table of options, not {short_repr(table)}"))
        else:
            yield ConfiguredTarget(name, _options(path, table, places, errors), line)


def is_target_name(name: str) -> bool:
    """Whether ``name`` looks like ``module:qualname``."""
    match = _NAME.fullmatch(name)
    return match is not None and all(part.isidentifier() for part in match["qualname"].split("."))


def _options(path: KeyPath, table: dict[str, Any], places: KeyLines, errors: list[tuple[int, str]]) -> dict[str, Any]:
    name = path[-1]
    options: dict[str, Any] = {}
    for key, value in table.items():
        option, line = key.replace("-", "_"), places.line((*path, key))
        if option in options:
            errors.append((line, f"{name} has the option {option} twice"))
        elif option not in (CLAIM, *COMMON_OPTIONS, *EXACT_ONLY, *SURROGATE_ONLY):
            hint = nearest(option, (CLAIM, *COMMON_OPTIONS, *EXACT_ONLY, *SURROGATE_ONLY))
            errors.append((line, f"{name} has an unknown option {short_repr(key)}{hint}"))
        options[option] = value
    _refuse_both_kinds(path, options, places, errors)
    _refuse_claims_of_a_rule(path, options, places, errors)
    return options


def _refuse_claims_of_a_rule(
    path: KeyPath, options: dict[str, Any], places: KeyLines, errors: list[tuple[int, str]]
) -> None:
    name = path[-1]
    if CLAIM not in options:
        return
    if options[CLAIM] != "rule":
        text = f'{name}: claim must be "rule", not {short_repr(options[CLAIM])}; other claims are made by their options'
        errors.append((places.line((*path, CLAIM)), text))
    claims = [option for option in options if option in ("exact", *EXACT_ONLY, *SURROGATE_ONLY)]
    if claims:
        text = f'{name} claims nothing (claim = "rule"), so it cannot say {", ".join(claims)}'
        errors.append((places.line(path), text))


def _refuse_both_kinds(path: KeyPath, options: dict[str, Any], places: KeyLines, errors: list[tuple[int, str]]) -> None:
    exact = [o for o in EXACT_ONLY if o in options]
    stand_in = [o for o in SURROGATE_ONLY if o in options]
    if exact and stand_in:
        text = f"{path[-1]} is either exact ({', '.join(exact)}) or a surrogate ({', '.join(stand_in)}), not both"
        errors.append((places.line(path), text))
