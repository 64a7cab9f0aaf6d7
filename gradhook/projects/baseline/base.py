"""Read a project's settings from another revision than its code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gradhook.config import Config, Source, load
from gradhook.projects.baseline.revision import Revision, revision

ConfigReader = Callable[[Path, Mapping[str, Any], Mapping[str, str], Source], Config]


@contextmanager
def settings_from(ref: str, here: Path) -> Iterator[ConfigReader]:
    """A ``load`` that takes the settings of the files from ``ref`` and everything else from now.

    The targets that the configuration names are those of now: they are claims, and those that a function has lost
    are reported by ``compare``.

    Raises:
        GradhookError: git does not know ``ref``, or the configuration there is wrong.
    """
    with revision(ref, here, fork=False) as past:
        yield partial(_read, past, ref)


def _read(
    past: Revision, ref: str, start: Path, overrides: Mapping[str, Any], environ: Mapping[str, str], source: Source
) -> Config:
    now = load(start, overrides, environ, source)
    root = Path(os.path.realpath(now.root))
    if source.path or source.isolated or not root.is_relative_to(past.top):
        return now  # the file is given or disabled explicitly, or belongs to another repository
    then = past.tree / root.relative_to(past.top)
    then.mkdir(parents=True, exist_ok=True)
    base = load(then, overrides, environ)
    python = base.settings.python
    settings = replace(base.settings, python=python.replace(str(past.tree), str(past.top), 1) if python else None)
    origins = {key: f"{who} at {ref}" if key in base.lines else who for key, who in base.origins.items()}
    file = past.top / base.file.relative_to(past.tree) if base.file else now.file
    return replace(now, settings=settings, origins=origins, lines=base.lines, file=file if base.lines else now.file)
