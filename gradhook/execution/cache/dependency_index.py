"""Which targets does a change of some files concern, as far as earlier runs know?

What each target depended on when it was last examined is kept whatever came out, and outlives a change of the files.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gradhook.execution.cache.fingerprints import digest
from gradhook.execution.cache.store import Store
from gradhook.model.protocol import DependencyReport
from gradhook.model.results import Target

SEEN = "seen"
_KEYS = {"name", "used", "lacking"}


@dataclass(frozen=True)
class Known:
    """What is known of each target: the files that it depends on, and those that would be used if they were there."""

    files: Mapping[str, tuple[frozenset[str], frozenset[str]]]

    def concerns(self, target: Target, changed: Collection[str]) -> bool:
        """Whether a target that was examined depends on one of some files, by their real paths, or has lost one."""
        used, lacking = self.files[name_of(target)]
        return not used.union(lacking).isdisjoint(changed) or not all(map(os.path.exists, used))

    def has(self, target: Target) -> bool:
        """Whether a target was ever examined."""
        return name_of(target) in self.files


def known(store: Store) -> Known:
    """What earlier runs kept."""
    entries = [e for e in store.all(SEEN) if isinstance(e, dict) and e.keys() == _KEYS]
    return Known({e["name"]: (frozenset(e["used"]), frozenset(e["lacking"])) for e in entries})


def keep(store: Store, targets: Mapping[int, Target], depended: DependencyReport) -> None:
    """Keep what the targets depended on, by the numbers of their jobs.

    Raises:
        OSError: it cannot be written.
    """
    used: dict[str, set[str]] = defaultdict(set)
    lacking: dict[str, set[str]] = defaultdict(set)
    for number, target in targets.items():
        for row in depended.needs.get(str(number), ()):
            path, state, inside = depended.files[row]
            (used if inside and state else lacking)[name_of(target)].add(os.path.realpath(path))
    for name in used:
        entry = {"name": name, "used": sorted(used[name]), "lacking": sorted(lacking[name])}
        store.write(SEEN, digest(name), entry)


def name_of(target: Target) -> str:
    """By which a target is known again when lines have moved."""
    return json.dumps([target.root, target.module, target.qualname, target.path, target.claim, target.source])


def real(paths: Iterable[str]) -> Sequence[str]:
    """Where the files really are: what is recorded may have been reached through links."""
    return [os.path.realpath(path) for path in paths]
