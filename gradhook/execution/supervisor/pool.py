"""Run jobs in worker processes, so that every job is answered even when processes die.

A thread for each worker sends it one job after the other: a worker that finishes early takes more. When a worker dies
or hangs, its job is answered with an error, and a new worker does the rest.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from gradhook.execution.supervisor.conversation import converse
from gradhook.execution.supervisor.limits import MEGABYTE
from gradhook.execution.supervisor.process import Worker, running_worker, worker_environment
from gradhook.execution.supervisor.scheduling import (
    JobQueue,
    WorkUnit,
    jobs_by_number,
    jobs_to_answer,
    work_units,
    worker_count,
)
from gradhook.model.protocol import Message, Request
from gradhook.model.report import ProjectResult
from gradhook.model.results import Target, TargetReport, left_out_report

BOOT = Path(__file__).parents[1] / "worker" / "boot.py"
_POLL = 0.2
"""Seconds between interruptions of a wait: on some systems Ctrl-C is not delivered otherwise."""
Start = Callable[[Request], AbstractContextManager[Worker]]
"""Starts a worker with a request."""


def _ignore(message: Message) -> None:
    del message


def _out_of_time(target: Target) -> TargetReport:
    return left_out_report(
        target, "by the time budget", "give it more time with --max-seconds, or leave the option out"
    )


def launch(
    python: Path,
    request: Request,
    *,
    timeout: float,
    memory: float = 0.0,
    platform: str | None = None,
    workers: int | str = 1,
    times: Mapping[str, float] | None = None,
    first: Collection[int] = (),
    until: float | None = None,
    on_message: Callable[[Message], None] = _ignore,
    boot: Path = BOOT,
    environ: Mapping[str, str] = os.environ,
) -> ProjectResult:
    """Examine every job of ``request`` but those to skip, in workers running ``boot`` in ``python``.

    ``timeout`` is in seconds a target, ``memory`` in megabytes a worker (0: no limit). ``platform`` none: the one of
    the user's JAX_PLATFORMS, else the CPU. As many ``workers`` as that (``"auto"``: as pay) run at once; recorded
    ``times`` (seconds by target) balance them. The jobs ``first`` are begun before others, and none after ``until``
    (``time.monotonic``). ``on_message`` is called with each message of the workers and each answer given for them, one
    at a time. The reports are the same, and in the same order, for any number of workers.

    Raises:
        GradhookError: the interpreter cannot be run, or workers die outside of any target.
    """
    queue = JobQueue(request, timeout, memory, on_message, _out_of_time, until, jobs_by_number(request))
    environment = worker_environment(python, platform, environ)
    asked = jobs_to_answer(request)
    if until is not None:  # targets without a recorded time first, then the fastest
        asked = sorted(asked, key=lambda job: (times or {}).get(job.target.name, 0.0))
    asked = sorted(asked, key=lambda job: job.number not in first)
    count = worker_count(workers, len(asked), environment["JAX_PLATFORMS"])
    start = partial(running_worker, python, boot, environ=environment, memory=memory * MEGABYTE)
    units = work_units(asked, count, times or {}) if asked else []
    interrupted = _wait(queue, [_thread(queue, partial(_work, queue, unit, start)) for unit in units])
    return ProjectResult(queue.reports_in_order(), queue.environment, interrupted)


@contextmanager
def interactive_worker(
    python: Path,
    request: Request,
    *,
    timeout: float,
    memory: float = 0.0,
    platform: str | None = None,
    on_message: Callable[[Message], None] = _ignore,
    boot: Path = BOOT,
    environ: Mapping[str, str] = os.environ,
) -> Iterator[Callable[[int], TargetReport]]:
    """A function that examines a job of ``request`` on demand; its first call starts a worker.

    Raises:
        GradhookError: when a job is examined, as ``launch``.
    """
    queue = JobQueue(request, timeout, memory, on_message, _out_of_time, None, jobs_by_number(request))
    questions: list[int] = []
    environment = worker_environment(python, platform, environ)
    start = partial(running_worker, python, boot, environ=environment, memory=memory * MEGABYTE)
    everything = WorkUnit(frozenset(job.target.module_key for job in request.jobs))
    done = _thread(queue, partial(_serve, queue, questions, everything, start))
    try:
        yield partial(_asked, queue, questions)
    finally:
        queue.stop()
        done.wait()


def _asked(queue: JobQueue, questions: list[int], number: int) -> TargetReport:
    with queue.lock:
        if number not in queue.reports:
            questions.append(number)
            queue.lock.notify_all()
        while number not in queue.reports:
            if queue.error:
                raise queue.error
            queue.lock.wait(_POLL)
        return queue.reports[number]


def _serve(queue: JobQueue, questions: list[int], unit: WorkUnit, start: Start) -> None:
    """Examine jobs as they are requested."""

    def following(worker: Worker) -> int | None:
        number = _question(queue, questions)
        if number is not None:
            queue.assigned[number] = worker
        return number

    while _question(queue, questions) is not None:
        with start(queue.asked(unit)) as worker, queue.at_work(worker):
            converse(queue, unit, worker, following)


def _question(queue: JobQueue, questions: list[int]) -> int | None:
    """The next requested job, waiting for it; ``None`` when there will be none."""
    with queue.lock:
        while not queue.stopped:
            questions[:] = [number for number in questions if number not in queue.reports]
            if questions:
                return questions[0]
            queue.lock.wait(_POLL)
        return None


def _work(queue: JobQueue, unit: WorkUnit, start: Start) -> None:
    """Do a unit of work, then take over jobs that other workers have not begun."""
    following: WorkUnit | None = unit
    while following is not None:
        unit = following
        while not queue.stopped and queue.waiting(unit) and not queue.is_over():
            with start(queue.asked(unit)) as worker, queue.at_work(worker):
                converse(queue, unit, worker, partial(queue.next_job, unit))
        following = queue.spare_unit()


def _thread(queue: JobQueue, work: Callable[[], None]) -> threading.Event:
    """Run the work in a thread, whose error ends the run; the event is set when it is over.

    ``Thread.join`` would not do: a join that Ctrl-C interrupts takes the thread for ended (Python 3.11 and 3.12).
    """
    done = threading.Event()

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            queue.stop(error)
        finally:
            done.set()

    threading.Thread(target=guarded, daemon=True).start()
    return done


def _wait(queue: JobQueue, ends: list[threading.Event]) -> bool:
    """Wait for all threads; whether Ctrl-C interrupted the wait.

    Raises:
        GradhookError: one of the threads raised it.
    """
    interrupted = False
    try:
        for end in ends:
            while not end.wait(_POLL):
                pass
    except KeyboardInterrupt:
        interrupted = True
    finally:
        queue.stop()
    for end in ends:
        end.wait()
    if queue.error and not isinstance(queue.error, KeyboardInterrupt):
        raise queue.error
    return interrupted or queue.error is not None
