"""Read the value of a setting from TOML, or from the text of a variable or an option."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any

from gradhook.config.settings import DEFAULT, Option

_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def read_value(option: Option, value: Any) -> Any:
    """A setting's value from a TOML value.

    Raises:
        ValueError: the value has the wrong type, is no choice or out of range; the text names the expected values.
    """
    try:
        return _READERS[option.kind](option, value)
    except (_InvalidValueError, OverflowError):
        raise ValueError(f"{option.toml} must be {option.expects}, not {short_repr(value)}") from None


def read_text(option: Option, text: Any) -> Any:
    """The same from a variable or the command line, where everything is text or a tuple of texts.

    Raises:
        ValueError: as ``read``.
    """
    if isinstance(text, (tuple, list)):
        parts = [part for item in text for part in (_split(item) if isinstance(item, str) else [item])]
        return read_value(option, _TABLE_PARSERS[option.kind](parts) if option.kind in _TABLE_PARSERS else parts)
    return read_value(option, _TEXT_PARSERS[option.kind](text) if isinstance(text, str) else text)


def nearest(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'timeout'?"``, or nothing when no known name is near."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{found[0]}'?" if found else ""


def short_repr(value: Any) -> str:
    """A foreign value in a message: short, and without control characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a very deep table
        text = f"this {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


class _InvalidValueError(Exception):
    """The value is not what the option expects."""


def _require(fits: bool) -> None:
    if not fits:
        raise _InvalidValueError


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


def _levels(option: Option, value: Any) -> dict[str, str]:
    """A level for each code, ``DEFAULT`` for the others; one word is that of all."""
    table = {DEFAULT: value} if isinstance(value, str) else value
    _require(isinstance(table, dict))
    named = {code if code == DEFAULT else code.upper(): level for code, level in table.items()}
    _require(all(code == DEFAULT or re.fullmatch(r"GRD[0-8][0-9]{0,2}", code) for code in named))
    _require(all(isinstance(level, str) and level in option.choices for level in named.values()))
    return {DEFAULT: option.default[DEFAULT], **named}


_READERS: dict[str, Callable[[Option, Any], Any]] = {
    "whole": _whole, "number": _number, "switch": _switch, "text": _text, "choice": _one_of,
    "words": _words, "codes": _codes, "globs": _globs, "count": _count, "levels": _levels,
}  # fmt: skip


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _glob_table(parts: Iterable[Any]) -> Any:
    """``["a.py:GRD406", "a.py:GRD1"]`` as the table that a file would hold, or what none can be made of."""
    table: dict[str, list[str]] = {}
    for part in parts:
        glob, colon, code = str(part).rpartition(":")
        if not colon:
            return part
        table.setdefault(glob.strip(), []).append(code.strip())
    return table


def _level_table(parts: Iterable[Any]) -> Any:
    """``["warn", "GRD204:error"]`` as the table that a file would hold."""
    pairs = (str(part).rpartition(":") for part in parts)
    return {code.strip() if colon else DEFAULT: level.strip() for code, colon, level in pairs}


def _parse_number(convert: Callable[[str], Any], text: str) -> Any:
    """The number, or the text itself, which ``read`` then refuses with the right words."""
    try:
        return convert(text)
    except ValueError:
        return text


_TEXT_PARSERS: dict[str, Callable[[str], Any]] = {
    "whole": lambda text: _parse_number(int, text),
    "number": lambda text: _parse_number(float, text),
    "count": lambda text: _parse_number(int, text.strip().lower()),
    "switch": lambda text: _SWITCH.get(text.strip().lower(), text),
    "text": str,
    "choice": lambda text: text.strip(),
    "words": _split,
    "codes": _split,
    "globs": lambda text: _glob_table(_split(text)),
    "levels": lambda text: _level_table(_split(text)),
}
_TABLE_PARSERS: dict[str, Callable[[Iterable[Any]], Any]] = {"globs": _glob_table, "levels": _level_table}
