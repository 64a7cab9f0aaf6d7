"""How does a person see that a run is alive?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from gradhook.cli.printing import shows_progress, width
from gradhook.model import Target
from gradhook.reporters.wording import clean

if TYPE_CHECKING:
    from gradhook.session import Progress

_ERASE = "\r\x1b[K"


@contextmanager
def progress(quiet: bool) -> Iterator[Progress | None]:
    """A line on standard error that changes, gone at the end; nothing where nobody would see it."""
    if quiet or not shows_progress(os.environ, sys.stderr):
        yield None
        return
    try:
        yield _say
    finally:
        click.echo(_ERASE, nl=False, err=True)


def _say(target: Target, stage: str) -> None:
    line = clean(f"{target.name} · {stage}")[: width() - 1]
    click.echo(f"{_ERASE}{line}", nl=False, err=True)
