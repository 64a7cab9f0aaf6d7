"""Which settings are there, and what may each of them be?

One table drives all: the key in ``[tool.gradhook]``, the option of the command line and the environment variable.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from gradhook.model import RTOL


@dataclass(frozen=True)
class Settings:
    """What a run of gradhook depends on besides the files; the defaults stand here."""

    order: int = 1
    modes: tuple[str, ...] | None = None
    atol: float = 0.0
    rtol: float = RTOL
    seed: int = 0
    timeout: float = 60.0
    max_memory: float = 0.0
    python: str | None = None
    platform: str = "cpu"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    undecided: str = "error"
    unclaimed: str = "warn"
    output_format: str = "terminal"
    self_test: bool = False
    curves: bool = False
    jobs: int | str = "auto"
    max_seconds: float | None = None
    slow: bool = True
    fail_on_empty: bool = False
    exit_zero: bool = False


@dataclass(frozen=True)
class Option:
    """One setting: what it may be (``kind`` and its bounds), and how that is said to a user."""

    key: str
    kind: str
    expects: str
    help: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = float("inf")
    short: str = ""
    """The option's one-letter name."""

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return "--" + self.toml

    @property
    def toml(self) -> str:
        """The key in ``[tool.gradhook]``."""
        return self.key.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return "GRADHOOK_" + self.key.upper()

    @property
    def default(self) -> Any:
        """The value when nobody says anything."""
        return getattr(Settings(), self.key)


def _choice(key: str, choices: tuple[str, ...], help: str) -> Option:
    return Option(key, "choice", "one of " + ", ".join(choices), help, choices)


_CODES = "rule codes or their beginnings, such as GRD101 or GRD1"
_NO_NEGATIVE = "a number from 0 up"
_WEEK = 7 * 24 * 3600.0

OPTIONS: tuple[Option, ...] = (
    Option("order", "whole", "1 or 2", "Up to which order derivatives are checked.", low=1, high=2),
    Option(
        "modes", "words", "fwd, rev or both", "Modes that must work; by default those a function has.", ("fwd", "rev")
    ),
    Option("atol", "number", _NO_NEGATIVE, "Absolute tolerance for each element."),
    Option("rtol", "number", _NO_NEGATIVE, "Relative tolerance for each element."),
    Option(
        "seed",
        "whole",
        "a whole number from 0 to 4294967295",
        "Seed of drawn inputs and directions, or random.",
        high=2**32 - 1,
    ),
    Option(
        "timeout", "number", "seconds from 0.1 to 604800", "Seconds that each target may take.", low=0.1, high=_WEEK
    ),
    Option("max_memory", "number", "megabytes from 0 up", "Megabytes of memory for the checked code; 0: no limit."),
    Option("python", "text", "the path or name of an interpreter", "The project's interpreter, which has JAX."),
    Option("platform", "text", "a JAX platform, such as cpu or gpu", "Where JAX computes."),
    Option("select", "codes", _CODES, "Ask only these rules."),
    Option("ignore", "codes", _CODES, "Only count the findings of these rules."),
    Option(
        "per_file_ignores",
        "globs",
        "path patterns with rule codes, such as tests/*:GRD406",
        "Only count the findings of these rules in these files.",
    ),
    Option("exclude", "words", "path patterns", "Files and folders to leave out, relative to the project."),
    _choice("undecided", ("error", "warn"), "Whether an undecided target counts as a finding."),
    _choice("unclaimed", ("warn", "error", "ignore"), "What a custom rule without a claim counts as."),
    _choice("output_format", ("terminal", "concise", "json"), "How the report is written."),
    Option("self_test", "switch", "true or false", "Also prove that wrong derivatives would have failed."),
    Option("curves", "switch", "true or false", "Also report the numbers that pictures are drawn from."),
    Option("jobs", "count", "a whole number from 1 to 256, or auto", "Worker processes at once.", high=256, short="-j"),
    Option(
        "max_seconds",
        "number",
        "seconds from 0 to 604800",
        "Begin no target after this time; what is left out is said.",
        high=_WEEK,
    ),
    Option("slow", "switch", "true or false", "Also check targets that are marked slow=True (the default)."),
    Option("fail_on_empty", "switch", "true or false", "Exit with 2 when nothing is annotated."),
    Option("exit_zero", "switch", "true or false", "Exit with 0 in spite of findings."),
)
BY_KEY = {option.key: option for option in OPTIONS}

_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def read(option: Option, value: Any) -> Any:
    """A setting's value from what TOML holds.

    Raises:
        ValueError: the value has the wrong type, is no choice or out of range; the text says what is expected.
    """
    try:
        return _READERS[option.kind](option, value)
    except (_RefusedError, OverflowError):
        raise ValueError(f"{option.toml} must be {option.expects}, not {shown(value)}") from None


def read_text(option: Option, text: Any) -> Any:
    """The same from an environment variable or the command line, where everything is text or a tuple of texts.

    Raises:
        ValueError: as ``read``.
    """
    if isinstance(text, (tuple, list)):
        parts = [part for item in text for part in (_split(item) if isinstance(item, str) else [item])]
        return read(option, _pairs(parts) if option.kind == "globs" else parts)
    return read(option, _TYPED[option.kind](text) if isinstance(text, str) else text)


def nearest(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'timeout'?"``, or nothing when no known name is near."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{found[0]}'?" if found else ""


def shown(value: Any) -> str:
    """A foreign value in a message: short, and without control characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a very deep table
        text = f"this {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


class _RefusedError(Exception):
    """The value is not what the option expects."""


def _require(fits: bool) -> None:
    if not fits:
        raise _RefusedError


def _whole(option: Option, value: Any) -> int:
    _require(isinstance(value, int) and not isinstance(value, bool) and option.low <= value <= option.high)
    return int(value)


def _count(option: Option, value: Any) -> int | str:
    _require(value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= option.high))
    return value if isinstance(value, str) else int(value)


def _number(option: Option, value: Any) -> float:
    _require(isinstance(value, (int, float)) and not isinstance(value, bool))
    number = float(value)
    _require(option.low <= number <= option.high and number != float("inf"))
    return number


def _switch(option: Option, value: Any) -> bool:
    _require(isinstance(value, bool))
    return bool(value)


def _text(option: Option, value: Any) -> str:
    _require(isinstance(value, str) and bool(value.strip()) and value.isprintable())
    return str(value)


def _one_of(option: Option, value: Any) -> str:
    _require(isinstance(value, str) and value in option.choices)
    return str(value)


def _words(option: Option, value: Any) -> tuple[str, ...]:
    words = _split(value) if isinstance(value, str) else value
    _require(isinstance(words, list) and all(isinstance(w, str) and w.strip() and w.isprintable() for w in words))
    if option.choices:
        _require(bool(words) and set(words) <= set(option.choices))
    return tuple(dict.fromkeys(words))


def _codes(option: Option, value: Any) -> tuple[str, ...]:
    codes = tuple(word.upper() for word in _words(option, value))
    _require(all(re.fullmatch(r"GRD[0-9]{0,3}", code) for code in codes))
    return codes


def _globs(option: Option, value: Any) -> dict[str, tuple[str, ...]]:
    _require(isinstance(value, dict) and all(glob.strip() and glob.isprintable() for glob in value))
    return {glob: _codes(option, codes) for glob, codes in value.items()}


_READERS: dict[str, Callable[[Option, Any], Any]] = {
    "whole": _whole, "number": _number, "switch": _switch, "text": _text, "choice": _one_of,
    "words": _words, "codes": _codes, "globs": _globs, "count": _count,
}  # fmt: skip


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _pairs(parts: Iterable[Any]) -> Any:
    """``["a.py:GRD406", "a.py:GRD1"]`` as the table that a file would hold, or what none can be made of."""
    table: dict[str, list[str]] = {}
    for part in parts:
        glob, colon, code = str(part).rpartition(":")
        if not colon:
            return part
        table.setdefault(glob.strip(), []).append(code.strip())
    return table


def _converted(convert: Callable[[str], Any], text: str) -> Any:
    """The number, or the text itself, which ``read`` then refuses with the right words."""
    try:
        return convert(text)
    except ValueError:
        return text


_TYPED: dict[str, Callable[[str], Any]] = {
    "whole": lambda text: _converted(int, text),
    "number": lambda text: _converted(float, text),
    "count": lambda text: _converted(int, text.strip().lower()),
    "switch": lambda text: _SWITCH.get(text.strip().lower(), text),
    "text": str,
    "choice": lambda text: text.strip(),
    "words": _split,
    "codes": _split,
    "globs": lambda text: _pairs(_split(text)),
}

if tuple(f.name for f in fields(Settings)) != tuple(BY_KEY):
    raise AssertionError("the table of options and the record of settings name different things")
