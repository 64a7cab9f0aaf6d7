"""Match the claims of two revisions, and find what became of those without a match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path

from gradhook.projects.baseline.claims import SourceClaim, names_in
from gradhook.projects.baseline.revision import Revision

MatchKey = Callable[[SourceClaim], object]


def matched_claims(
    before: Sequence[SourceClaim], now: Sequence[SourceClaim], past: Revision
) -> Iterator[tuple[SourceClaim, SourceClaim | None]]:
    """Each claim of the old revision with its claim in the new one.

    First the same function in the same file (or where git saw the file move), then the same name in the configuration
    or another file, then a function of that name that no claim of then was about.
    """
    left, open_ = list(now), list(before)
    pairs: list[tuple[SourceClaim, SourceClaim]] = []
    for old_key, new_key in _keys(past):
        for old in list(open_):
            new = next((new for new in left if new_key(new) == old_key(old)), None)
            if new:
                pairs.append((old, new))
                open_.remove(old)
                left.remove(new)
    yield from pairs
    yield from ((old, None) for old in open_)


def _keys(past: Revision) -> list[tuple[MatchKey, MatchKey]]:
    """The keys by which claims are matched, for an old and a new claim."""
    moved = past.renames

    def place(claim: SourceClaim) -> object:
        return moved.get(claim.path, claim.path), claim.qualname

    def place_and_kind(claim: SourceClaim) -> object:
        return place(claim), claim.kind

    def place_kind_and_options(claim: SourceClaim) -> object:
        return place(claim), claim.kind, _texts(claim)

    def touched_qualname(new: SourceClaim) -> object:
        return new.qualname if new.path in past.touched else None

    same = (place_kind_and_options, place_and_kind, place, attrgetter("name"))
    return [*((key, key) for key in same), (attrgetter("qualname"), touched_qualname)]


def _texts(claim: SourceClaim) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value.text) for name, value in claim.options.items()))


def remaining_file(old: SourceClaim, past: Revision) -> str | None:
    """The file that still has the function of a removed claim; ``None`` when both are gone.

    A function that the old file imported still exists elsewhere, so its file is the one with the claim.
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


def _new_homes(old: SourceClaim, past: Revision) -> Iterator[str]:
    """The touched Python files that did not define a function of this name before."""
    for file in sorted(past.touched):
        then = past.tree / Path(file)
        if file.endswith(".py") and old.qualname not in names_in(then):
            yield file
