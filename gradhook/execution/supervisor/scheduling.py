"""Choose the number of workers and divide the jobs among them.

Compiling a target takes about a second; starting a worker takes about a second as well, and 200 MB. A module is
imported by one worker unless that would leave others idle.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from gradhook.model.protocol import Job
from gradhook.model.results import ModuleKey

MIN_JOBS_PER_WORKER = 4
"""With fewer jobs than this for each worker, one worker less is started."""
_MOST = 8
_TOLERANCE = 1.2


@dataclass
class WorkUnit:
    """The work of one worker: the modules that it imports, and its first jobs in order.

    After these it takes what is left of its modules, from the end.
    """

    modules: frozenset[ModuleKey]
    first: list[int] = field(default_factory=list)


def worker_count(wanted: int | str, jobs: int, platform: str = "cpu") -> int:
    """The number of workers for so many jobs; ``"auto"``: by their cost, one on a shared device."""
    if wanted != "auto":
        return max(1, min(int(wanted), jobs))
    return max(1, min(_cores(), jobs // MIN_JOBS_PER_WORKER, _MOST)) if platform == "cpu" else 1


def work_units(jobs: Sequence[Job], workers: int, times: Mapping[str, float]) -> list[WorkUnit]:
    """At most ``workers`` units of about equal duration by recorded ``times`` (seconds by target).

    The longest module goes first to the worker with the least work; one longer than a fair share is split.
    """
    usual = sorted(times.values())[len(times) // 2] if times else 1.0
    cost = {job.number: times.get(job.target.name, usual) for job in jobs}
    groups: dict[ModuleKey, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.target.module_key, []).append(job)
    share = sum(cost.values()) / workers
    pieces = [piece for group in groups.values() for piece in _pieces(group, cost, share if workers > 1 else 0)]
    pieces.sort(key=lambda piece: -sum(cost[job.number] for job in piece))
    loads: list[list[Job]] = [[] for _ in range(workers)]
    for piece in pieces:
        min(loads, key=lambda load: sum(cost[job.number] for job in load)).extend(piece)
    place = {job.number: n for n, job in enumerate(jobs)}
    return [
        WorkUnit(
            frozenset(job.target.module_key for job in load),
            sorted((job.number for job in load), key=place.__getitem__),
        )
        for load in loads
        if load
    ]


def _pieces(group: list[Job], cost: Mapping[int, float], share: float) -> list[list[Job]]:
    """The jobs of a module in one piece, or in several of about a fair share."""
    whole = sum(cost[job.number] for job in group)
    count = ceil(whole / share) if share and whole > _TOLERANCE * share else 1
    pieces: list[list[Job]] = [[] for _ in range(count)]
    passed = 0.0
    for job in group:
        middle = passed + cost[job.number] / 2
        pieces[min(int(count * middle / whole) if whole else 0, count - 1)].append(job)
        passed += cost[job.number]
    return [piece for piece in pieces if piece]


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
