"""Read the dtypes and shapes in which a custom rule is claimed to work."""

from __future__ import annotations

from typing import Any

from gradhook.model.errors import GradhookError

DTYPES = ("float16", "bfloat16", "float32", "float64")
SHAPES = ("any",)


def dtypes(given: Any) -> tuple[str, ...]:
    """The names of dtypes, which may be given as such or as ``jnp.bfloat16``.

    Raises:
        GradhookError: something else is given.
    """
    items = given.split(",") if isinstance(given, str) else given if isinstance(given, (list, tuple)) else [given]
    names = [item.strip() if isinstance(item, str) else getattr(item, "__name__", str(item)) for item in items]
    if given is not None and (not names or not set(names) <= set(DTYPES)):
        text = f'dtypes names some of {", ".join(DTYPES)}, for example dtypes=("float32", "bfloat16")'
        raise GradhookError(f"dtypes={given!r}", text)
    return () if given is None else tuple(names)
