"""How is a jaxpr walked, and where in the user's code does an equation come from?

The one place that knows what jaxprs look like inside (equations, their parameters, their tracebacks). Read on JAX 0.8.0,
0.10.2, 0.11.2 and 0.12.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax

_OURS = str(Path(__file__).parent.parent)
_JAX = str(Path(jax.__file__).parent)


def equations(jaxpr: Any) -> Iterator[Any]:
    """Every equation of a (closed) jaxpr and of the jaxprs inside it, in order."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield equation
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
                if hasattr(getattr(inner, "jaxpr", inner), "eqns"):
                    yield from equations(inner)


def place(equation: Any) -> tuple[str, int]:
    """The file and line of the user's code that an equation comes from; ("", 0) where none is recorded."""
    traceback = getattr(equation.source_info, "traceback", None)
    for frame in traceback.frames if traceback is not None else ():
        if not frame.file_name.startswith((_OURS, _JAX, "<")):
            return frame.file_name, int(frame.line_num)
    return "", 0
