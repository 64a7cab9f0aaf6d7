"""Match paths against the user's exclude globs.

The globs are those of ``.gitignore``: without a slash inside they match a name at any depth, otherwise a path from the
root; a slash at the end means folders; a match of a folder takes all below it; ``!`` takes files in again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.DOTALL)
_WILD = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "?": "[^/]"}


def excluder(globs: Sequence[str], prefix: str = "") -> Callable[[str], bool]:
    """A predicate on posix paths relative to the root; the last glob that matches decides.

    ``prefix`` leads from where the globs start to the root: ``packages/one/``.
    """
    return partial(_excluded, [(_pattern(glob.removeprefix("!")), not glob.startswith("!")) for glob in globs], prefix)


def _excluded(rules: list[tuple[re.Pattern[str], bool]], prefix: str, path: str) -> bool:
    return next((out for pattern, out in reversed(rules) if pattern.fullmatch(prefix + path)), False)


def _pattern(glob: str) -> re.Pattern[str]:
    stem = glob.rstrip("/")
    anywhere = "" if "/" in stem else "(?:.*/)?"
    below = "/.*" if glob.endswith("/") else "(?:/.*)?"
    return re.compile(anywhere + "".join(map(_piece, _TOKEN.findall(stem.removeprefix("/")))) + below, re.DOTALL)


def _piece(token: str) -> str:
    """A token of a glob as a regular expression."""
    if token in _WILD:
        return _WILD[token]
    if token.startswith("*"):
        return "[^/]*"
    if token.startswith("[") and len(token) > 2:
        inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[^{inside[1:]}]" if inside[0] in "!^" else f"(?!/)[{inside}]"
    return re.escape(token[1:] if token.startswith("\\") and len(token) > 1 else token)
