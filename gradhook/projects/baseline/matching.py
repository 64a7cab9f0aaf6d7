"""Which claim of then is which claim of now, and what became of those that have none?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from gradhook.projects.baseline.claims import Claim, names_in
from gradhook.projects.baseline.revision import Revision

Key = Callable[[Claim], object]


def matched(before: Sequence[Claim], now: Sequence[Claim], past: Revision) -> Iterator[tuple[Claim, Claim | None]]:
    """Each claim of then with that of now.

    First the same function in the same file (or where git saw the file move), then the same name in the configuration
    or another file, then a function of that name that no claim of then was about.
    """
    left, open_ = list(now), list(before)
    pairs: list[tuple[Claim, Claim]] = []
    for old_key, new_key in _keys(past):
        for old in list(open_):
            new = next((new for new in left if new_key(new) == old_key(old)), None)
            if new:
                pairs.append((old, new))
                open_.remove(old)
                left.remove(new)
    yield from pairs
    yield from ((old, None) for old in open_)


def _keys(past: Revision) -> list[tuple[Key, Key]]:
    """How to know a claim again, for one of then and one of now."""
    moved = past.renames

    def place(claim: Claim) -> object:
        return moved.get(claim.path, claim.path), claim.qualname

    return [
        (lambda old: (place(old), old.kind, _texts(old)), lambda new: (place(new), new.kind, _texts(new))),
        (lambda old: (place(old), old.kind), lambda new: (place(new), new.kind)),
        (place, place),
        (lambda old: old.name, lambda new: new.name),
        (lambda old: old.qualname, lambda new: new.qualname if new.path in past.touched else None),
    ]


def _texts(claim: Claim) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value.text) for name, value in claim.options.items()))


def place_of(old: Claim, past: Revision) -> str | None:
    """The file in which the function of a removed claim still stands; ``None`` when it is gone with the claim.

    What the file of then did not define itself is somebody else's function, which is always still there.
    """
    names = cache(names_in)
    home = old.home or old.path
    here = past.renames.get(home, home)
    if old.qualname not in names(past.tree / home):
        is_local = "<" in old.qualname and not (past.top / here).is_file()
        return None if is_local else past.renames.get(old.path, old.path)
    if old.qualname in names(past.top / here):
        return here
    return next((file for file in _new_homes(old, past) if old.qualname in names(past.top / file)), None)


def _new_homes(old: Claim, past: Revision) -> Iterator[str]:
    """The touched Python files that did not define a function of this name before."""
    for file in sorted(past.touched):
        then = past.tree / Path(file)
        if file.endswith(".py") and old.qualname not in names_in(then):
            yield file
