"""Expand the patterns of ``depends_on``."""

from __future__ import annotations

import glob
import os


def matches(base: str, pattern: str) -> list[str]:
    """The files that a path or glob matches from a folder, sorted; a folder means all files below it."""
    whole = os.path.join(base, os.path.expanduser(pattern))  # noqa: PTH111, PTH118
    found = [whole] if os.path.exists(whole) else glob.glob(whole, recursive=True)  # noqa: PTH110, PTH207
    files = [file for path in found for file in (_below(path) if os.path.isdir(path) else [path])]  # noqa: PTH112
    return sorted({os.path.normpath(file) for file in files})


def _below(folder: str) -> list[str]:
    return [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names]  # noqa: PTH118
