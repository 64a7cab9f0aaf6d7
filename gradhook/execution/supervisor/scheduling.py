"""How many workers are worth their start, and which jobs does each of them begin with?

Compiling is what a target costs, about a second; a worker costs about a second as well, and 200 MB. A module is
imported by one worker where that does not leave others idle.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from gradhook.model.protocol import Job

Module = tuple[str, str]
WORTH = 4
"""With fewer jobs than this for each worker, one worker less is started."""
_MOST = 8
_TOLERANCE = 1.2


@dataclass
class Part:
    """What one worker is to do: the modules that it imports, and the jobs that it takes first, in order.

    After these it takes what is left of its modules, from the end.
    """

    modules: frozenset[Module]
    first: list[int] = field(default_factory=list)


def module_of(job: Job) -> Module:
    """What is imported for a job."""
    return job.target.module, job.target.path


def crew(wanted: int | str, jobs: int, platform: str = "cpu") -> int:
    """How many workers to start for so many jobs; ``"auto"``: as they pay, and one where they would share a device."""
    if wanted != "auto":
        return max(1, min(int(wanted), jobs))
    return max(1, min(_cores(), jobs // WORTH, _MOST)) if platform == "cpu" else 1


def divide(jobs: Sequence[Job], workers: int, times: Mapping[str, float]) -> list[Part]:
    """Parts that take about equally long by the recorded ``times`` (seconds by target), at most ``workers``.

    The longest module goes first to whom has least; one that is longer than a fair share is cut before.
    """
    usual = sorted(times.values())[len(times) // 2] if times else 1.0
    cost = {job.number: times.get(job.target.name, usual) for job in jobs}
    groups: dict[Module, list[Job]] = {}
    for job in jobs:
        groups.setdefault(module_of(job), []).append(job)
    share = sum(cost.values()) / workers
    pieces = [piece for group in groups.values() for piece in _pieces(group, cost, share if workers > 1 else 0)]
    pieces.sort(key=lambda piece: -sum(cost[job.number] for job in piece))
    hands: list[list[Job]] = [[] for _ in range(workers)]
    for piece in pieces:
        min(hands, key=lambda hand: sum(cost[job.number] for job in hand)).extend(piece)
    place = {job.number: n for n, job in enumerate(jobs)}
    return [
        Part(frozenset(map(module_of, hand)), sorted((job.number for job in hand), key=place.__getitem__))
        for hand in hands
        if hand
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
