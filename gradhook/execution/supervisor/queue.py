"""What is known so far over all workers of a run, and who does what is left?

Every method may be called from any thread.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gradhook.execution.supervisor.process import Worker, kill
from gradhook.execution.supervisor.scheduling import WORTH, Part, module_of
from gradhook.model.protocol import Answered, Discovered, Job, Message, Request
from gradhook.model.results import Target, TargetReport

_APART = 1_000_000


@dataclass
class Run:
    """The jobs, who is at which of them, and the reports about them."""

    request: Request
    timeout: float
    memory: float
    """Megabytes that a worker may have; 0: no limit."""
    hear: Callable[[Message], None]
    late: Callable[[Target], TargetReport]
    """The report about a target that nobody begins any more."""
    until: float | None = None
    """When no job is begun any more, by ``time.monotonic``."""
    jobs: dict[int, Job] = field(default_factory=dict)
    reports: dict[int, TargetReport] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    """The jobs of modules that must not be imported again."""
    given: dict[int, Worker] = field(default_factory=dict)
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
        """The jobs that have no answer yet, those that a worker is at included."""
        return [n for n in self.jobs if n not in self.reports and n not in self.request.skip]

    def waiting(self, part: Part | None = None) -> list[int]:
        """The open jobs (of the modules of ``part``) that no worker is at."""
        with self.lock:
            mine = [n for n in self.open if n not in self.given]
            return mine if part is None else [n for n in mine if module_of(self.jobs[n]) in part.modules]

    def asked(self, part: Part) -> Request:
        """The request for a worker that does this part: it must know every job of the modules that it imports.

        What it discovers has numbers that nobody else uses, until they are known to be new.
        """
        with self.lock:
            known = [job for number, job in self.jobs.items() if number not in self.dropped]
            self._requests += 1
            jobs = tuple(job for job in known if module_of(job) in part.modules)
            return replace(self.request, jobs=jobs, taken=_APART * self._requests)

    def take(self, part: Part, worker: Worker) -> int | None:
        """The next job for a worker that does this part; none when there is no more, or no more time."""
        with self.lock:
            if self.stopped or self.is_over():
                return None
            first = [n for n in part.first if n not in self.reports and n not in self.given and n not in self.dropped]
            left = first[:1] or self.waiting(part)
            if not left:
                return None
            number = left[0] if len(self.workers) == 1 else left[-1]
            self.given[number] = worker
            return number

    def is_over(self) -> bool:
        """Whether the time is up; what is waiting then is answered."""
        if self.until is None or time.monotonic() < self.until:
            return False
        for number in self.waiting():
            self.answer(number, self.late(self.jobs[number].target))
        return True

    def spare(self) -> Part | None:
        """The later half of what is waiting, for a worker that is done with its part, if that is worth a start."""
        with self.lock:
            waiting = [] if self.stopped or self.is_over() else self.waiting()
        later = waiting[len(waiting) // 2 :]
        return Part(frozenset(module_of(self.jobs[n]) for n in later), later[::-1]) if len(later) >= WORTH else None

    def answer(self, number: int, report: TargetReport) -> None:
        """Take the report about a job, unless there is one."""
        with self.lock:
            self.given.pop(number, None)
            if number not in self.reports:
                self.reports[number] = report
                self.hear(Answered(number, report))
            self.lock.notify_all()

    def adopt(self, job: Job, nth: int) -> int:
        """The number of the ``nth`` of equal claims that a worker discovered: others may have discovered it too."""
        with self.lock:
            key = (job.target, nth)
            if key not in self._found:
                self._found[key] = max(*self.jobs, self.request.taken - 1, -1) + 1
                adopted = replace(job, number=self._found[key])
                self.jobs[adopted.number] = adopted
                self.hear(Discovered(adopted))
            return self._found[key]

    def tell(self, message: Message) -> None:
        """Let the caller hear what a worker said."""
        with self.lock:
            if not self.stopped:
                self.hear(message)

    @contextmanager
    def employed(self, worker: Worker) -> Iterator[None]:
        """While a worker is at work, a stop ends it; what it did not come to is waiting again afterwards."""
        with self.lock:
            self.workers.append(worker)
            if self.stopped:
                kill(worker)
        try:
            yield
        finally:
            with self.lock:
                self.workers.remove(worker)
                self.given = {n: other for n, other in self.given.items() if other is not worker}

    def stop(self, error: BaseException | None = None) -> None:
        """End all workers; the first ``error`` is the reason."""
        with self.lock:
            self.error = error if not self.stopped else self.error
            self.stopped = True
            for worker in self.workers:
                kill(worker)
            self.lock.notify_all()

    def ordered(self) -> tuple[TargetReport, ...]:
        """The reports in the order of the request, then those on discovered claims by the module and their place."""
        first: dict[Any, int] = {}
        for job in self.request.jobs:
            first.setdefault(module_of(job), job.number)
        asked = {job.number for job in self.request.jobs}
        numbers = [n for n in self.jobs if n in asked]
        numbers += sorted((n for n in self.jobs if n not in asked), key=lambda n: (first[module_of(self.jobs[n])], n))
        return tuple(self.reports[n] for n in numbers if n in self.reports)


def nth(seen: Counter[Target], target: Target) -> int:
    """How many equal targets were seen before."""
    seen[target] += 1
    return seen[target] - 1


def jobs_of(request: Request) -> dict[int, Job]:
    """The jobs of a request by number."""
    return {job.number: job for job in request.jobs}


def wanted(request: Request) -> Sequence[Job]:
    """The jobs of a request that are to be answered."""
    skip = frozenset(request.skip)
    return [job for job in request.jobs if job.number not in skip]
