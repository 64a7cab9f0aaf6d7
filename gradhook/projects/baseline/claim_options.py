"""Find the options of a claim that are weaker than another claim's on the same function.

Values are compared as literals where both are; of all others only the text is compared.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

UNKNOWN = object()
WEAKENED, CHANGED = "weakened", "changed"
Difference = tuple[str, str, str, str]
"""The option, ``WEAKENED`` or ``CHANGED``, and its value before and now as text."""

_MODES = frozenset({"fwd", "rev"})
_BUILT_IN = {"order": 1}
"""Defaults that the configuration does not have."""


@dataclass(frozen=True)
class OptionValue:
    """An option's source text, its value if it is a literal, and the entries of a dictionary."""

    text: str
    literal: Any = UNKNOWN
    entries: Mapping[str, OptionValue] | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Of ``case(…)``: its keyword arguments, and everything else under ``""``."""


def _default(name: str, defaults: Mapping[str, Any]) -> str:
    """``1 (default)`` for an option that is not given; empty if its default is nothing."""
    value = defaults.get(name, _BUILT_IN.get(name))
    return "" if value in (None, (), {}, False) else f"{value!r} (default)"


def option_in_source(node: ast.expr) -> OptionValue:
    """An option in the source of an annotation."""
    text = " ".join(ast.unparse(node).split())
    try:
        literal = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        literal = UNKNOWN
    return OptionValue(text, literal, _entries(node), _keywords(node))


def option_in_config(value: Any) -> OptionValue:
    """An option in the configuration."""
    entries = {str(k): option_in_config(v) for k, v in value.items()} if isinstance(value, dict) else None
    return OptionValue(repr(value), value, entries, entries or {})


def weaker(
    before: Mapping[str, OptionValue], now: Mapping[str, OptionValue], defaults: Mapping[str, Any] = {}
) -> Iterator[Difference]:
    """The options that are weaker now; ``defaults`` are the configuration's values."""
    for name in dict.fromkeys((*before, *now)):
        old, new = before.get(name), now.get(name)
        if old is None or new is None or old.text != new.text:
            rule = _RULES.get(name, _evidence)
            kind = rule(old, new, defaults.get(name)) if name != "cases" else None
            if kind:
                yield name, kind, _shown(old) or _default(name, defaults), _shown(new) or _default(name, defaults)
    yield from _cases(before.get("cases"), now.get("cases"))


def _entries(node: ast.expr) -> dict[str, OptionValue] | None:
    if not isinstance(node, ast.Dict) or not all(isinstance(k, ast.Constant) for k in node.keys):
        return None
    return {
        str(k.value): option_in_source(v)
        for k, v in zip(node.keys, node.values, strict=True)
        if isinstance(k, ast.Constant)
    }


def _keywords(node: ast.expr) -> dict[str, OptionValue]:
    if not isinstance(node, ast.Call):
        return {}
    rest = ast.unparse(ast.Call(node.func, node.args, [k for k in node.keywords if k.arg in (None, "kwargs")]))
    return {"": OptionValue(rest)} | {
        k.arg: option_in_source(k.value) for k in node.keywords if k.arg not in (None, "kwargs") and k.arg
    }


def _cases(old: OptionValue | None, new: OptionValue | None) -> Iterator[Difference]:
    if old is None or (new is not None and old.text == new.text):
        return
    if old.entries is None or (new is not None and new.entries is None):
        yield "cases", WEAKENED if new is None else CHANGED, _shown(old), _shown(new)
        return
    entries = (new.entries if new else None) or {}
    for name, case in old.entries.items():
        here = f"cases[{name!r}]"
        if name not in entries:
            yield here, WEAKENED, case.text, ""
        elif case.text != entries[name].text:
            for option, kind, before, after in _case(case, entries[name]):
                yield f"{here} {option}".strip(), kind, before, after


def _case(old: OptionValue, new: OptionValue) -> Iterator[Difference]:
    """The weaker options of one case; without ``case(…)`` on both sides only the text is compared."""
    if not (old.options and new.options):
        yield "", CHANGED, old.text, new.text
        return
    for name in dict.fromkeys((*old.options, *new.options)):
        one, other = old.options.get(name), new.options.get(name)
        if (one.text if one else None) != (other.text if other else None):
            kind = (_kink if name == "kink" else _evidence)(one, other, None)
            if kind:
                yield name, kind, _shown(one), _shown(other)


def _shown(value: OptionValue | None) -> str:
    return "" if value is None else value.text


OptionRule = Callable[[OptionValue | None, OptionValue | None, Any], str | None]


def _evidence(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    """A reference to compare with: without it the claim is weaker, with another one it is changed."""
    del default
    return None if old is None else WEAKENED if new is None else CHANGED


def _licence(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    """A permission: adding it weakens the claim, another one changes it."""
    del default
    return None if new is None else WEAKENED if old is None else CHANGED


def _never(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    """An option that only decides when a kept result holds: it weakens nothing."""
    del old, new, default
    return None


def _kink(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    """Judge ``kink``; any slope between the two sides is the widest permission."""
    widest = new is not None and new.literal == "subgradient"
    return WEAKENED if widest else _licence(old, new, default)


def _tolerance(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    return _ordered(old, new, default, lambda before, now: now > before)


def _order(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    return _ordered(old, new, default, lambda before, now: now < before)


def _ordered(
    old: OptionValue | None, new: OptionValue | None, default: Any, is_less: Callable[[Any, Any], bool]
) -> str | None:
    before, now = (default if value is None else value.literal for value in (old, new))
    if all(isinstance(side, (int, float)) and not isinstance(side, bool) for side in (before, now)):
        return WEAKENED if is_less(before, now) or now != now else None
    return CHANGED


def _modes(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    """Judge ``modes``; without the option, the modes that the function has are checked."""
    before, now = (_names(default if value is None else value.literal) for value in (old, new))
    if before is UNKNOWN or now is UNKNOWN:
        return CHANGED
    if now is None:
        return None if before is None else WEAKENED
    return None if now >= _MODES or (before is not None and before <= now) else WEAKENED


def _claimed(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    """Judge a set that the claim adds to what every claim includes."""
    del default
    if old is None or new is None:
        return None if old is None else WEAKENED
    before, now = _names(old.literal), _names(new.literal)
    if UNKNOWN in (before, now) or before is None or now is None:
        return CHANGED
    return None if before <= now else WEAKENED


def _wrt(old: OptionValue | None, new: OptionValue | None, default: Any) -> str | None:
    """Judge ``wrt``; without the option, every floating argument is differentiated."""
    del default
    if new is None:
        return None
    if old is None:
        return WEAKENED
    before, now = _names(old.literal), _names(new.literal)
    if before is UNKNOWN or now is UNKNOWN or before is None or now is None:
        return CHANGED
    return None if before <= now else WEAKENED if now < before else CHANGED


def _names(literal: Any) -> Any:
    """A set of names or numbers; ``None`` if not given, ``UNKNOWN`` for what is no literal."""
    if literal is None or literal is UNKNOWN:
        return literal
    if isinstance(literal, (str, int)):
        return frozenset({literal})
    is_plain = isinstance(literal, Collection) and all(isinstance(item, (str, int)) for item in literal)
    return frozenset(literal) if is_plain else UNKNOWN


_RULES: Mapping[str, OptionRule] = {
    "rtol": _tolerance, "atol": _tolerance, "order": _order, "modes": _modes, "wrt": _wrt, "kink": _kink,
    "eps": _licence, "stop_gradient": _licence, "ignore": _licence, "slow": _licence,
    "dtypes": _claimed, "shapes": _evidence,
    "depends_on": _never,
}  # fmt: skip
