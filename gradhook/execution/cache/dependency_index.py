"""Index the files that each target depended on when it was last examined.

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
class DependencyIndex:
    """Each target's files, and the missing files that would be used if they existed."""

    files: Mapping[str, tuple[frozenset[str], frozenset[str]]]

    def is_affected(self, target: Target, changed: Collection[str]) -> bool:
        """Whether an examined target depends on one of the changed files (real paths), or lost one."""
        used, lacking = self.files[name_of(target)]
        return not used.union(lacking).isdisjoint(changed) or not all(map(os.path.exists, used))

    def has(self, target: Target) -> bool:
        """Whether a target was ever examined."""
        return name_of(target) in self.files


def load_index(store: Store) -> DependencyIndex:
    """The index that earlier runs kept."""
    entries = [e for e in store.all(SEEN) if isinstance(e, dict) and e.keys() == _KEYS]
    return DependencyIndex({e["name"]: (frozenset(e["used"]), frozenset(e["lacking"])) for e in entries})


def keep(store: Store, targets: Mapping[int, Target], depended: DependencyReport) -> None:
    """Keep the dependencies of targets, by the numbers of their jobs.

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
    """The key of a target, which does not change when lines move."""
    return json.dumps([target.root, target.module, target.qualname, target.path, target.claim, target.source])


def real_paths(paths: Iterable[str]) -> Sequence[str]:
    """The paths with links resolved: a recorded file may have been opened through a link."""
    return [os.path.realpath(path) for path in paths]
