"""Read a project's settings from another revision, and find those that are weaker than there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gradhook.config import Config, Settings, Source, load
from gradhook.config.settings import level_of
from gradhook.projects.baseline.claim_options import CHANGED, WEAKENED, Difference
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


def weaker(before: Settings, now: Settings) -> Iterator[Difference]:
    """Key, ``WEAKENED`` or ``CHANGED``, and the value before and now as text."""
    for key, is_weaker in _RULES.items():
        old, new = getattr(before, key, None), getattr(now, key, None)
        if old != new and is_weaker(old, new):
            kind = CHANGED if is_weaker is _differs else WEAKENED
            yield key, kind, _shown(old), _shown(new)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        joined = {key: codes if isinstance(codes, str) else " ".join(codes) for key, codes in value.items()}
        return ", ".join(f"{key}: {codes}" for key, codes in joined.items())
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value).lower()


def _rises(old: Any, new: Any) -> bool:
    return bool(new > old)


def _falls(old: Any, new: Any) -> bool:
    return bool(new < old)


def _grows(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether more is left out."""
    return any(not item.startswith(tuple(old)) for item in new)


def _adds(old: Any, new: Any) -> bool:
    return bool(set(new) - set(old)) or any(word.startswith("!") for word in set(old) - set(new))


def _shrinks(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether less is selected; an empty selection means everything."""
    return bool(new) and (not old or any(not code.startswith(tuple(new)) for code in old))


def _fewer_modes(old: Sequence[str] | None, new: Sequence[str] | None) -> bool:
    return not set(old or ()) <= set(new or ()) or (old is None and len(new or ()) == 1)


def _more_globs(old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> bool:
    return any(_grows(old.get(glob, ()), codes) for glob, codes in new.items())


def _milder(*ranks: str) -> Callable[[Any, Any], bool]:
    return lambda old, new: ranks.index(new) > ranks.index(old)


def _milder_somewhere(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether advice about some code has a lower level."""
    is_milder = _milder("error", "warn", "ignore")
    return any(is_milder(level_of(code, old), level_of(code, new)) for code in {*old, *new})


def _differs(old: Any, new: Any) -> bool:
    return bool(old != new)


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    "rtol": _rises, "atol": _rises, "order": _falls, "modes": _fewer_modes, "select": _shrinks, "ignore": _grows,
    "per_file_ignores": _more_globs, "exclude": _adds,
    "undecided": _milder("error", "warn"), "unclaimed": _milder("error", "warn", "ignore"),
    "advice": _milder_somewhere, "weakened": _milder("error", "warn", "ignore"),
    "self_test": _falls, "fail_on_empty": _falls, "exit_zero": _rises,
    "python": _differs, "platform": _differs, "seed": _differs,
}  # fmt: skip
"""The others are about speed and looks."""
