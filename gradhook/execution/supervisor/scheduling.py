"""Divide the jobs of a run among workers, and keep their reports.

Compiling a target takes about a second; starting a worker takes about a second as well, and 200 MB. A module is
imported by one worker unless that would leave others idle.

Every method may be called from any thread.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from gradhook.execution.supervisor.process import Worker, kill
from gradhook.model.protocol import Answered, Discovered, Job, Message, Request
from gradhook.model.results import ModuleKey, Target, TargetReport

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


_APART = 1_000_000


@dataclass
class JobQueue:
    """The jobs, the workers that they are assigned to, and the reports about them."""

    request: Request
    timeout: float
    memory: float
    """Megabytes that a worker may have; 0: no limit."""
    on_message: Callable[[Message], None]
    out_of_time: Callable[[Target], TargetReport]
    """Makes the report about a target for which no time is left."""
    until: float | None = None
    """The ``time.monotonic`` after which no job is begun."""
    jobs: dict[int, Job] = field(default_factory=dict)
    reports: dict[int, TargetReport] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    """The jobs of modules that must not be imported again."""
    assigned: dict[int, Worker] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    environment: Mapping[str, Any] = field(default_factory=dict)
    failures: int = 0
    stopped: bool = False
    error: BaseException | None = None
    lock: threading.Condition = field(default_factory=threading.Condition)
    _requests: int = 0
    _found: dict[tuple[Target, int], int] = field(default_factory=dict)

    @property
    def open(self) -> list[int]:
        """The jobs without an answer, including those in work."""
        return [n for n in self.jobs if n not in self.reports and n not in self.request.skip]

    def waiting(self, unit: WorkUnit | None = None) -> list[int]:
        """The open jobs (of the modules of ``unit``) that no worker has."""
        with self.lock:
            mine = [n for n in self.open if n not in self.assigned]
            return mine if unit is None else [n for n in mine if self.jobs[n].target.module_key in unit.modules]

    def asked(self, unit: WorkUnit) -> Request:
        """The request for a worker of this unit, with every job of the modules that it imports.

        Its discovered jobs get numbers that no other worker uses, until they are known to be new.
        """
        with self.lock:
            known = [job for number, job in self.jobs.items() if number not in self.dropped]
            self._requests += 1
            jobs = tuple(job for job in known if job.target.module_key in unit.modules)
            return replace(self.request, jobs=jobs, taken=_APART * self._requests)

    def next_job(self, unit: WorkUnit, worker: Worker) -> int | None:
        """The next job for a worker of this unit; ``None`` when there is none or the time is up."""
        with self.lock:
            if self.stopped or self.is_over():
                return None
            begun = {*self.reports, *self.assigned, *self.dropped}
            first = [n for n in unit.first if n not in begun]
            left = first[:1] or self.waiting(unit)
            if not left:
                return None
            number = left[0] if len(self.workers) == 1 else left[-1]
            self.assigned[number] = worker
            return number

    def is_over(self) -> bool:
        """Whether the time is up; the waiting jobs are then answered."""
        if self.until is None or time.monotonic() < self.until:
            return False
        for number in self.waiting():
            self.answer(number, self.out_of_time(self.jobs[number].target))
        return True

    def spare_unit(self) -> WorkUnit | None:
        """The later half of the waiting jobs, for a worker that is done, if it is worth a start."""
        with self.lock:
            waiting = [] if self.stopped or self.is_over() else self.waiting()
        later = waiting[len(waiting) // 2 :]
        if len(later) < MIN_JOBS_PER_WORKER:
            return None
        return WorkUnit(frozenset(self.jobs[n].target.module_key for n in later), later[::-1])

    def answer(self, number: int, report: TargetReport) -> None:
        """Store the report about a job, unless there is one."""
        with self.lock:
            self.assigned.pop(number, None)
            if number not in self.reports:
                self.reports[number] = report
                self.on_message(Answered(number, report))
            self.lock.notify_all()

    def register_discovered(self, job: Job, nth: int) -> int:
        """The number of the ``nth`` of equal discovered claims, which other workers may find too."""
        with self.lock:
            key = (job.target, nth)
            if key not in self._found:
                self._found[key] = max(*self.jobs, self.request.taken - 1, -1) + 1
                registered = replace(job, number=self._found[key])
                self.jobs[registered.number] = registered
                self.on_message(Discovered(registered))
            return self._found[key]

    def forward(self, message: Message) -> None:
        """Pass a worker's message to the caller."""
        with self.lock:
            if not self.stopped:
                self.on_message(message)

    @contextmanager
    def at_work(self, worker: Worker) -> Iterator[None]:
        """Register a worker while it runs, so that ``stop`` kills it; unfinished jobs then wait again."""
        with self.lock:
            self.workers.append(worker)
            if self.stopped:
                kill(worker)
        try:
            yield
        finally:
            with self.lock:
                self.workers.remove(worker)
                self.assigned = {n: other for n, other in self.assigned.items() if other is not worker}

    def stop(self, error: BaseException | None = None) -> None:
        """Kill all workers; the first ``error`` is the reason."""
        with self.lock:
            self.error = error if not self.stopped else self.error
            self.stopped = True
            for worker in self.workers:
                kill(worker)
            self.lock.notify_all()

    def reports_in_order(self) -> tuple[TargetReport, ...]:
        """Reports in the order of the request, then those on discovered claims, by module and place."""
        first: dict[ModuleKey, int] = {}
        for job in self.request.jobs:
            first.setdefault(job.target.module_key, job.number)
        asked = {job.number for job in self.request.jobs}
        numbers = [n for n in self.jobs if n in asked]
        numbers += sorted(
            (n for n in self.jobs if n not in asked), key=lambda n: (first[self.jobs[n].target.module_key], n)
        )
        return tuple(self.reports[n] for n in numbers if n in self.reports)


def nth(seen: Counter[Target], target: Target) -> int:
    """The number of equal targets counted before this one."""
    seen[target] += 1
    return seen[target] - 1


def jobs_by_number(request: Request) -> dict[int, Job]:
    """The jobs of a request by number."""
    return {job.number: job for job in request.jobs}


def jobs_to_answer(request: Request) -> Sequence[Job]:
    """The jobs of a request that are to be answered."""
    skip = frozenset(request.skip)
    return [job for job in request.jobs if job.number not in skip]
