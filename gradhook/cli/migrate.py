"""The command ``gradhook migrate``, which translates ``check_grads`` calls into claims."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradhook.cli import options
from gradhook.cli.display import path_from
from gradhook.cli.exit_codes import CLEAN
from gradhook.cli.output import deliver
from gradhook.model.errors import GradhookError
from gradhook.reporters.formatting import clean

if TYPE_CHECKING:
    from gradhook.projects.migration import Migrated, Migration
    from gradhook.projects.migration.fragments import Translation

_LEFT_OUT = (
    "atol, rtol and eps were left out: the differences of gradhook know their own error. Where a derivative is\n"
    "approximate on purpose, say rtol= (for each element, never multiplied by a size), or use --keep-tolerances."
)
_DIFFERS = "differs from what would be written now, and stays as it is"


@click.command()
@options.paths
@click.option("--write", is_flag=True, help="Write the claims to new files: claims_NAME.py beside test_NAME.py.")
@click.option("--keep-tolerances", is_flag=True, help="Keep the atol, rtol and eps of the calls.")
def migrate(paths: tuple[Path, ...], write: bool, keep_tolerances: bool) -> int:
    """Translate gradient tests in PATHS: check_grads, check_jvp, check_vjp, chex.assert_numerical_grads.

    Shows the claims that say the same. Nothing is imported, no file is ever changed: --write makes new files and
    leaves alone what is there already.
    """
    from gradhook.projects.migration import migrate as translated

    migration = translated(paths or (Path.cwd(),), tolerances=keep_tolerances)
    done = [_written(file) for file in migration.files if file.has_claims] if write else []
    shown = [*done, *([""] if done else []), *_summary(migration)]
    if write:
        deliver("".join(f"{line}\n" for line in shown), None)
    else:
        texts = [f"# {_path(file.target)}\n{_safe(file.text)}\n\n" for file in migration.files if file.text]
        deliver("".join([*texts, *(f"# {line}".rstrip() + "\n" for line in shown)]), None)
    if stuck := [line for line in done if line.endswith(_DIFFERS)]:
        raise GradhookError("\n".join(stuck), "move it away to have it written again")
    return CLEAN


def _written(file: Migrated) -> str:
    """Write the claims of a file, unless there is something already; what became of it."""
    name = _path(file.target)
    try:
        if file.target.exists():
            same = file.target.read_bytes() == file.text.encode()
            return f"{name} is there already" if same else f"{name} {_DIFFERS}"
        with file.target.open("x", encoding="utf-8", newline="") as target:
            target.write(file.text)
    except OSError as error:
        raise GradhookError(f"{name} cannot be written: {error.strerror}", "check its permissions") from error
    return f"wrote {name}"


def _summary(migration: Migration) -> Iterator[str]:
    """What became of each call, and the counts."""
    for file in migration.files:
        yield _path(file.source)
        yield from (_line(translation) for translation in file.translations)
        yield ""
    translations = [translation for file in migration.files for translation in file.translations]
    if any(note.startswith("left out") for translation in translations for note in translation.notes):
        yield from (*_LEFT_OUT.split("\n"), "")
    yield _counted([translation.status for translation in translations], migration)


def _line(translation: Translation) -> str:
    why = f": {translation.reason}" if translation.reason else ""
    notes = "".join(f" ({note})" for note in translation.notes)
    return clean(f"  {translation.line:>4}  {translation.title}  {translation.status}{why}{notes}")


def _counted(statuses: list[str], migration: Migration) -> str:
    files = f"in {migration.searched} file{'s' * (migration.searched != 1)}"
    if not statuses:
        return f"no gradient tests {files}"
    parts = [f"{statuses.count(s)} {s}" for s in ("translated", "by hand", "left alone")]
    return f"{len(statuses)} call{'s' * (len(statuses) != 1)} {files}: {', '.join(parts)}"


def _path(path: Path) -> str:
    return clean(path_from(Path.cwd(), str(path), "/"))


def _safe(text: str) -> str:
    """Code as it is, but for what a terminal would take for a command."""
    return "\n".join(line if line.replace("\t", "").isprintable() else clean(line) for line in text.split("\n"))
