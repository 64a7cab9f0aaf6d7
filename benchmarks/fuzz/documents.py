"""Make a JSON document hostile, by its structure or by its text."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 130, 10**30, 1e308, -0.0, "", "pass", "fail", "error", "nan", "inf", "x" * 5000,
    "\x00", "\ud800", "\u202e", "::error::x", "]]>", "../../etc/passwd", "GRD101", [], {}, [[]], [None], {"": None},
    {"value": "x"}, {"value": None, "origin": 3},
)  # fmt: skip
_TEXTS = (
    "NaN", "Infinity", "1e999", "-1e999", "9" * 5000, "0x10", "01", "'a'", "undefined", "\\", '"', "{", "}", "[", "]",
    ",", ":", "[" * 3000, "[" * 3000 + "]" * 3000, '{"a":' * 3000, "\x00", "\ufeff", "//", "\n", "\u2028",
    '"\\ud800"', '{"schema": 1, "schema": 2}', "true", "null",
)  # fmt: skip


def hostile(document: Any, rng: random.Random) -> str:
    """The text of the document after one to three changes."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((0, 1, 1, 2))):
        changed = _structure(changed, rng)
    text = json.dumps(changed)
    for _ in range(rng.choice((0, 0, 1, 2)) or (changed == document)):
        text = rng.choice(_TEXT_CHANGES)(text, rng)
    return text


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Container and key of every value in it."""
    found: list[tuple[Any, Any]] = []
    waiting = [node]
    while waiting:
        here = waiting.pop()
        pairs = list(here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ())
        found += [(here, key) for key, _ in pairs]
        waiting += [value for _, value in pairs]
    return found


def _structure(document: Any, rng: random.Random) -> Any:
    places = _places(document)
    if not places or rng.random() < 0.01:
        return rng.choice(_VALUES)
    (one, key), (other, second) = rng.choice(places), rng.choice(places)
    match rng.randrange(6):
        case 0:
            del one[key]
        case 1 if isinstance(one, dict):
            one[rng.choice(("", "verdict", f"{key}x", "message", "__class__"))] = one.pop(key)
        case 2:
            one[key] = copy.deepcopy(other[second])
        case 3 if isinstance(one[key], list) and one[key]:
            one[key] *= rng.randint(2, 4)
        case _:
            one[key] = copy.deepcopy(rng.choice(_VALUES))
    return document


def _cut(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[:start] + text[start + rng.randint(1, 200) :]


def _truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _insert(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[:start] + rng.choice(_TEXTS) + text[start:]


def _number(text: str, rng: random.Random) -> str:
    """Something else in place of a value: after a colon."""
    starts = [n for n, character in enumerate(text) if character == ":"] or [0]
    start = rng.choice(starts) + 1
    end = min((n for n in (text.find(c, start) for c in ",}]") if n > 0), default=len(text))
    return text[:start] + rng.choice(_TEXTS) + text[end:]


def _twice(text: str, rng: random.Random) -> str:
    """A key a second time."""
    starts = [n for n, character in enumerate(text) if character == "{"] or [0]
    start = rng.choice(starts) + 1
    end = text.find(",", start)
    return text[: end + 1] + text[start : end + 1] + text[end + 1 :]


_TEXT_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (_cut, _truncate, _insert, _number, _number, _twice)
