"""The usual causes of an infinity or a nan, by primitive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Values = Sequence[Any]
Names = Sequence[str]
"""The primitives that made the inputs; empty for inputs of the program."""
_UNSELECTED = " in an unselected branch of where()"


def cause(equation: Any, values: Values, makers: Names) -> str:
    """The cause in a few words, from the inputs ``values``; empty where none is known."""
    explain = _CAUSES.get(equation.primitive.name)
    return explain(values, makers) if explain is not None and values else ""


def _zero(value: Any) -> bool:
    return bool((value == 0).any())


def _infinite(value: Any) -> bool:
    return bool(np.isinf(value).any())


def _division(values: Values, makers: Names) -> str:
    above, below = np.broadcast_arrays(*values)
    if (np.isinf(above) & np.isinf(below)).any():
        return "inf / inf"
    if not _zero(below):
        return "overflow"
    if makers[1] in ("sqrt", "rsqrt"):
        return "sqrt or norm at 0"
    if not ((above == 0) & (below == 0)).any():
        return "division by 0"
    return "0 / 0" + (_UNSELECTED if makers[0] == "select_n" else "")


def _product(values: Values, makers: Names) -> str:
    if not any(_infinite(value) for value in values):
        return "overflow"
    of_where = any(maker == "select_n" and _zero(value) for maker, value in zip(makers, values, strict=True))
    return "0 * inf" + (_UNSELECTED if of_where else "")


def _logarithm(values: Values, makers: Names) -> str:
    return "log of a negative number" if (values[0] < 0).any() else "log(0)" if _zero(values[0]) else ""


def _power(values: Values, makers: Names) -> str:
    return "a negative power of 0" if _zero(values[0]) else "overflow"


def _root(values: Values, makers: Names) -> str:
    return "sqrt of a negative number" if (values[0] < 0).any() else "sqrt or norm at 0"


def _always(text: str) -> Callable[[Values, Names], str]:
    return lambda values, makers: text


_CAUSES: dict[str, Callable[[Values, Names], str]] = {
    "div": _division,
    "mul": _product,
    "dot_general": _product,
    "log": _logarithm,
    "log1p": _always("log1p at or below -1"),
    "pow": _power,
    "integer_pow": _power,
    "sqrt": _root,
    "rsqrt": _root,
    "exp": _always("overflow"),
    "exp2": _always("overflow"),
    "expm1": _always("overflow"),
    "cosh": _always("overflow"),
    "sinh": _always("overflow"),
    "sub": _always("inf - inf"),
    "add": _always("inf - inf"),
    "add_any": _always("inf - inf"),
    "reduce_sum": _always("inf - inf"),
    "acos": _always("acos outside [-1, 1]"),
    "asin": _always("asin outside [-1, 1]"),
    "atanh": _always("atanh at or beyond 1"),
}
