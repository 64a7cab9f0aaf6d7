"""The JSON schema of the configuration; ``python -m gradhook.config.schema`` prints it.

It describes the keys of ``gradhook.toml``, which are those of ``[tool.gradhook]``. Draft 7 is what taplo, Even Better
TOML and SchemaStore read. Made from the table of settings; options of targets are described here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from gradhook.config.settings import DEFAULT, OPTIONS, Option
from gradhook.config.target_tables import CLAIM, COMMON_OPTIONS, EXACT_ONLY, SURROGATE_ONLY

Schema = dict[str, Any]

SCHEMA_URL = "https://raw.githubusercontent.com/gradhook/gradhook/main/docs/config.schema.json"
_CODE = "[Gg][Rr][Dd][0-9]{0,3}"
_TEXT: Schema = {"type": "string", "pattern": r"\S"}
_TEXTS: Schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": _TEXT}]}
_NO_NEGATIVE: Schema = {"type": "number", "minimum": 0}
_FUNCTION: Schema = {"type": "string", "pattern": "^[^:]+:[^:]+$"}
_NAMES: Schema = {
    "anyOf": [
        {"type": ["integer", "string"]},
        {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1},
    ]
}
_INPUTS: Schema = {"anyOf": [_FUNCTION, {"type": "array"}]}
_NAMED: Schema = {"anyOf": [_FUNCTION, {"type": "object"}]}
_KINK: Schema = {"anyOf": [{"enum": ["left", "right", "mean", "subgradient"]}, {"type": "number"}]}


def schema() -> Schema:
    """The whole schema."""
    keys: Schema = {}
    for option in OPTIONS:
        keys[option.toml] = {**_KIND_SCHEMAS[option.kind](option), "description": option.help, **_default(option)}
        if option.toml != option.key:
            keys[option.key] = {"$ref": f"#/properties/{option.toml}"}
    keys["targets"] = _targets()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_URL,
        "title": "The configuration of gradhook",
        "description": "gradhook.toml, and [tool.gradhook] in pyproject.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": keys,
    }


def text() -> str:
    """The file in ``docs/``."""
    return json.dumps(schema(), indent=2) + "\n"


def _default(option: Option) -> Schema:
    default = option.default
    return {} if default is None else {"default": list(default) if isinstance(default, tuple) else default}


def _range(option: Option) -> Schema:
    high = {} if option.high == float("inf") else {"maximum": _short(option.high)}
    return {"minimum": _short(option.low), **high}


def _short(number: float) -> float:
    return int(number) if number == int(number) else number


def _words(option: Option) -> Schema:
    if not option.choices:
        return _TEXTS
    each = "|".join(option.choices)
    return _listed(each, {"enum": list(option.choices)}, 1)


def _listed(pattern: str, item: Schema, at_least: int = 0) -> Schema:
    """A list, or its items in one text with commas between."""
    some = rf"(?:{pattern})(?:\s*,[\s,]*(?:{pattern}))*[\s,]*"
    joined = rf"^[\s,]*{some}$" if at_least else rf"^[\s,]*(?:{some})?$"
    array = {"type": "array", "items": item, "minItems": at_least}
    return {"anyOf": [array, {"type": "string", "pattern": joined}]}


_CODES = _listed(_CODE, {"type": "string", "pattern": f"^{_CODE}$"})


def _levels(option: Option) -> Schema:
    """One level for all codes, or a table of them."""
    level = {"enum": list(option.choices)}
    names = {"pattern": f"^({DEFAULT}|[Gg][Rr][Dd][0-8][0-9]{{0,2}})$"}
    return {"anyOf": [level, {"type": "object", "propertyNames": names, "additionalProperties": level}]}


_KIND_SCHEMAS: dict[str, Callable[[Option], Schema]] = {
    "whole": lambda option: {"type": "integer", **_range(option)},
    "count": lambda option: {"anyOf": [{"enum": ["auto"]}, {"type": "integer", **_range(option), "minimum": 1}]},
    "number": lambda option: {"type": "number", **_range(option)},
    "switch": lambda option: {"type": "boolean"},
    "text": lambda option: _TEXT,
    "choice": lambda option: {"enum": list(option.choices)},
    "words": _words,
    "codes": lambda option: _CODES,
    "levels": _levels,
    "globs": lambda option: {"type": "object", "propertyNames": {"pattern": r"\S"}, "additionalProperties": _CODES},
}

_TARGET_OPTIONS: dict[str, tuple[str, Schema]] = {
    "args": ("The positional arguments: input expressions, numbers, arrays.", _INPUTS),
    "kwargs": ("The keyword arguments.", _NAMED),
    "modes": ("Modes that must work.", _listed("fwd|rev", {"enum": ["fwd", "rev"]}, 1)),
    "atol": ("Absolute tolerance for each element.", _NO_NEGATIVE),
    "rtol": ("Relative tolerance for each element.", _NO_NEGATIVE),
    "wrt": ("Which arguments are differentiated, by position or name.", _NAMES),
    "cases": (
        "Name to arguments, or to a table with args, value, derivative, tangent, kink or raises.",
        {"type": "object"},
    ),
    "exact": ("A function that gives the derivative; of a surrogate, the arguments in which it is exact.", _NAMES),
    "ignore": ("Codes of findings that the report only counts.", _listed("GRD[0-8][0-9]{0,2}", _TEXT)),
    "depends_on": ("Data files that the function reads, relative to this file.", _TEXTS),
    "domain": ("Argument to domain: positive, unit, simplex, orthogonal, spd, or [low, high].", {"type": "object"}),
    "slow": ("Leave it out with --no-slow.", {"type": "boolean"}),
    "order": ("Up to which order derivatives are checked.", {"type": "integer", "minimum": 1, "maximum": 4}),
    "eps": ("One central difference with this step instead of the ladder.", {"type": "number", "exclusiveMinimum": 0}),
    "stop_gradient": ("frozen: values under stop_gradient are meant to be constants.", {"enum": ["frozen"]}),
    "kink": ("The convention at non-smooth points.", _KINK),
    "forward": ("The function whose value a surrogate has.", _FUNCTION),
    "derivative_of": ("The function whose derivative a surrogate has.", _FUNCTION),
    "rule": ("The declared rule: (primals, tangents) -> tangent.", _FUNCTION),
    "order2": ("What a second derivative gives.", {"enum": ["zero", "of the surrogate", "error"]}),
    "ties": ("How halves are rounded.", {"enum": ["even", "away", "up", "down"]}),
    "bounds": ("Whether the bounds of a saturating derivative still pass it.", {"enum": ["closed", "open"]}),
    "dtypes": (
        "Dtypes, besides float32 and float64, in which a rule is claimed to work.",
        _listed("float16|bfloat16|float32|float64", {"enum": ["float16", "bfloat16", "float32", "float64"]}, 1),
    ),
    "shapes": ("any: a rule is claimed to work at rank 0 and size 0 too.", {"enum": ["any"]}),
    CLAIM: ("rule: nothing is claimed, only inputs are given for what holds of every rule.", {"enum": ["rule"]}),
}


def _targets() -> Schema:
    keys: Schema = {}
    for name in (*COMMON_OPTIONS, *EXACT_ONLY, *SURROGATE_ONLY, CLAIM):
        words, shape = _TARGET_OPTIONS[name]
        keys[name] = {**shape, "description": words}
        if "_" in name:
            keys[name.replace("_", "-")] = keys[name]
    either = [{"required": [exact, other]} for exact in EXACT_ONLY for other in SURROGATE_ONLY]
    return {
        "description": "Claims about functions whose code stays untouched: package.module:function to its options.",
        "type": "object",
        "propertyNames": {"pattern": r"^[^\s:/\\]+:[^\s:]+$"},
        "additionalProperties": {
            "type": "object",
            "additionalProperties": False,
            "properties": keys,
            "not": {"anyOf": either},
        },
    }


if __name__ == "__main__":
    sys.stdout.write(text())
