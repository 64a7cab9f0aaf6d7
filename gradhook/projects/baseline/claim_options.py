"""What does one claim ask less than another one about the same function?

Values are compared as literals where both are; of all others only their text is known, and a change of it is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

UNKNOWN = object()
LOOSENED, CHANGED = "loosened", "changed"
Step = tuple[str, str, str, str]
"""Which option, ``LOOSENED`` or ``CHANGED``, and its value before and now as text."""

_MODES = frozenset({"fwd", "rev"})


@dataclass(frozen=True)
class Value:
    """An option as it was written: the text, its value if that is a literal, and the entries of a dictionary."""

    text: str
    literal: Any = UNKNOWN
    entries: Mapping[str, Value] | None = None
    options: Mapping[str, Value] = field(default_factory=dict)
    """Of ``case(…)``: what was said in it by name, and what else is in it under ``""``."""


def written(node: ast.expr) -> Value:
    """An option in the source of an annotation."""
    text = " ".join(ast.unparse(node).split())
    try:
        literal = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        literal = UNKNOWN
    return Value(text, literal, _entries(node), _keywords(node))


def configured(value: Any) -> Value:
    """An option in the configuration."""
    entries = {str(k): configured(v) for k, v in value.items()} if isinstance(value, dict) else None
    return Value(repr(value), value, entries, entries or {})


def weaker(before: Mapping[str, Value], now: Mapping[str, Value], defaults: Mapping[str, Any] = {}) -> Iterator[Step]:
    """What ``now`` asks less; ``defaults`` are what the configuration says where an annotation says nothing."""
    for name in dict.fromkeys((*before, *now)):
        old, new = before.get(name), now.get(name)
        if old is None or new is None or old.text != new.text:
            rule = _RULES.get(name, _evidence)
            kind = rule(old, new, defaults.get(name)) if name != "cases" else None
            if kind:
                yield name, kind, _shown(old), _shown(new)
    yield from _cases(before.get("cases"), now.get("cases"))


def _entries(node: ast.expr) -> dict[str, Value] | None:
    if not isinstance(node, ast.Dict) or not all(isinstance(k, ast.Constant) for k in node.keys):
        return None
    return {
        str(k.value): written(v) for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)
    }


def _keywords(node: ast.expr) -> dict[str, Value]:
    if not isinstance(node, ast.Call):
        return {}
    rest = ast.unparse(ast.Call(node.func, node.args, [k for k in node.keywords if k.arg in (None, "kwargs")]))
    return {"": Value(rest)} | {
        k.arg: written(k.value) for k in node.keywords if k.arg not in (None, "kwargs") and k.arg
    }


def _cases(old: Value | None, new: Value | None) -> Iterator[Step]:
    if old is None or (new is not None and old.text == new.text):
        return
    if old.entries is None or (new is not None and new.entries is None):
        yield "cases", LOOSENED if new is None else CHANGED, _shown(old), _shown(new)
        return
    entries = (new.entries if new else None) or {}
    for name, case in old.entries.items():
        here = f"cases[{name!r}]"
        if name not in entries:
            yield here, LOOSENED, case.text, ""
        elif case.text != entries[name].text:
            yield from ((f"{here} {step[0]}".strip(), *step[1:]) for step in _case(case, entries[name]))


def _case(old: Value, new: Value) -> Iterator[Step]:
    """What one case asks less; cases that are no ``case(…)`` on both sides are only known by their text."""
    if not (old.options and new.options):
        yield "", CHANGED, old.text, new.text
        return
    for name in dict.fromkeys((*old.options, *new.options)):
        one, other = old.options.get(name), new.options.get(name)
        if (one.text if one else None) != (other.text if other else None):
            kind = (_kink if name == "kink" else _evidence)(one, other, None)
            if kind:
                yield name, kind, _shown(one), _shown(other)


def _shown(value: Value | None) -> str:
    return "" if value is None else value.text


Judge = Callable[[Value | None, Value | None, Any], str | None]


def _evidence(old: Value | None, new: Value | None, default: Any) -> str | None:
    """What is given to be compared with: more of it asks more, none of it less, another one something else."""
    del default
    return None if old is None else LOOSENED if new is None else CHANGED


def _licence(old: Value | None, new: Value | None, default: Any) -> str | None:
    """What allows something: the other way round."""
    del default
    return None if new is None else LOOSENED if old is None else CHANGED


def _kink(old: Value | None, new: Value | None, default: Any) -> str | None:
    """Any slope between the two sides is the most that can be allowed."""
    widest = new is not None and new.literal == "subgradient"
    return LOOSENED if widest else _licence(old, new, default)


def _tolerance(old: Value | None, new: Value | None, default: Any) -> str | None:
    return _ordered(old, new, default, lambda before, now: now > before)


def _order(old: Value | None, new: Value | None, default: Any) -> str | None:
    return _ordered(old, new, default, lambda before, now: now < before)


def _ordered(old: Value | None, new: Value | None, default: Any, is_less: Callable[[Any, Any], bool]) -> str | None:
    before, now = (default if value is None else value.literal for value in (old, new))
    if all(isinstance(side, (int, float)) and not isinstance(side, bool) for side in (before, now)):
        return LOOSENED if is_less(before, now) or now != now else None
    return CHANGED


def _modes(old: Value | None, new: Value | None, default: Any) -> str | None:
    """Not given, those are asked that the function has, and a missing one is no failure."""
    before, now = (_names(default if value is None else value.literal) for value in (old, new))
    if before is UNKNOWN or now is UNKNOWN:
        return CHANGED
    if now is None:
        return None if before is None else LOOSENED
    return None if now >= _MODES or (before is not None and before <= now) else LOOSENED


def _claimed(old: Value | None, new: Value | None, default: Any) -> str | None:
    """Not given, what stands in every claim is all that is asked."""
    del default
    if old is None or new is None:
        return None if old is None else LOOSENED
    before, now = _names(old.literal), _names(new.literal)
    if UNKNOWN in (before, now) or before is None or now is None:
        return CHANGED
    return None if before <= now else LOOSENED


def _wrt(old: Value | None, new: Value | None, default: Any) -> str | None:
    """Not given, every floating argument is differentiated."""
    del default
    if new is None:
        return None
    if old is None:
        return LOOSENED
    before, now = _names(old.literal), _names(new.literal)
    if before is UNKNOWN or now is UNKNOWN or before is None or now is None:
        return CHANGED
    return None if before <= now else LOOSENED if now < before else CHANGED


def _names(literal: Any) -> Any:
    """A set of names or numbers; ``None`` for none given, ``UNKNOWN`` for what is no literal."""
    if literal is None or literal is UNKNOWN:
        return literal
    if isinstance(literal, (str, int)):
        return frozenset({literal})
    is_plain = isinstance(literal, Collection) and all(isinstance(item, (str, int)) for item in literal)
    return frozenset(literal) if is_plain else UNKNOWN


_RULES: Mapping[str, Judge] = {
    "rtol": _tolerance, "atol": _tolerance, "order": _order, "modes": _modes, "wrt": _wrt, "kink": _kink,
    "eps": _licence, "stop_gradient": _licence, "ignore": _licence, "slow": _licence,
    "dtypes": _claimed, "shapes": _evidence,
    "depends_on": lambda old, new, default: None,
}  # fmt: skip
