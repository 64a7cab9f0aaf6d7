"""The workers seen from outside: how does every job get its answer, whatever becomes of a process?

Each worker has a thread of ours, which asks it for one job after the other: whoever is done early takes more. When a
worker dies or hangs, its job is answered with an error, and a new worker does the rest.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gradhook.execution.supervisor.conversation import listen
from gradhook.execution.supervisor.limits import MEGABYTE
from gradhook.execution.supervisor.process import Worker, started, surroundings
from gradhook.execution.supervisor.queue import Run, jobs_of, wanted
from gradhook.execution.supervisor.scheduling import Part, crew, divide, module_of
from gradhook.model.protocol import Message, Request
from gradhook.model.results import Target, TargetReport, left_out_report

BOOT = Path(__file__).parents[1] / "worker" / "boot.py"
_POLL = 0.2
"""Seconds after which a wait looks up: on some systems nothing else lets Ctrl-C through."""
Start = Callable[[Request], Any]


@dataclass(frozen=True)
class Launched:
    """A report for each job, those that the import discovered at the end, and what the worker ran on."""

    reports: tuple[TargetReport, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    """Whether Ctrl-C ended it: jobs without a report were not answered."""


def _ignore(message: Message) -> None:
    del message


def _no_time(target: Target) -> TargetReport:
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
) -> Launched:
    """Have every job of ``request`` but those to skip answered by workers running ``boot`` in ``python``.

    ``timeout`` is in seconds a target, ``memory`` in megabytes a worker (0: no limit). ``platform`` none: the one of
    the user's JAX_PLATFORMS, else the CPU. As many ``workers`` as that (``"auto"``: as pay) run at once; recorded
    ``times`` (seconds by target) balance them. The jobs ``first`` are begun before others, and none after ``until``
    (``time.monotonic``). ``on_message`` hears, one at a time, of all that workers say, and of the answers that were
    found for them. The reports are the same, and in the same order, for any number of workers.

    Raises:
        GradhookError: the interpreter cannot be run, or workers die of something that is no target's fault.
    """
    run = Run(request, timeout, memory, on_message, _no_time, until, jobs_of(request))
    environment = surroundings(python, platform, environ)
    asked = wanted(request)
    if until is not None:  # first what nobody has seen yet, then as many as fit in
        asked = sorted(asked, key=lambda job: (times or {}).get(job.target.name, 0.0))
    asked = sorted(asked, key=lambda job: job.number not in first)
    count = crew(workers, len(asked), environment["JAX_PLATFORMS"])
    start = partial(started, python, boot, environ=environment, memory=memory * MEGABYTE)
    parts = divide(asked, count, times or {}) if asked else []
    interrupted = _wait(run, [_thread(run, partial(_work, run, part, start)) for part in parts])
    return Launched(run.ordered(), run.environment, interrupted)


@contextmanager
def desk(
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
    """What answers the jobs of ``request`` one by one, when asked; a worker is started with the first question.

    Raises:
        GradhookError: when asked, as ``launch``.
    """
    run = Run(request, timeout, memory, on_message, _no_time, None, jobs_of(request))
    questions: list[int] = []
    environment = surroundings(python, platform, environ)
    start = partial(started, python, boot, environ=environment, memory=memory * MEGABYTE)
    everything = Part(frozenset(map(module_of, request.jobs)))
    done = _thread(run, partial(_serve, run, questions, everything, start))
    try:
        yield partial(_asked, run, questions)
    finally:
        run.stop()
        done.wait()


def _asked(run: Run, questions: list[int], number: int) -> TargetReport:
    with run.lock:
        if number not in run.reports:
            questions.append(number)
            run.lock.notify_all()
        while number not in run.reports:
            if run.error:
                raise run.error
            run.lock.wait(_POLL)
        return run.reports[number]


def _serve(run: Run, questions: list[int], part: Part, start: Start) -> None:
    """Have questions answered as they come."""

    def following(worker: Worker) -> int | None:
        number = _question(run, questions)
        if number is not None:
            run.given[number] = worker
        return number

    while _question(run, questions) is not None:
        with start(run.asked(part)) as worker, run.employed(worker):
            listen(run, part, worker, following)


def _question(run: Run, questions: list[int]) -> int | None:
    """The next question, waited for; none when there will be none."""
    with run.lock:
        while not run.stopped:
            questions[:] = [number for number in questions if number not in run.reports]
            if questions:
                return questions[0]
            run.lock.wait(_POLL)
        return None


def _work(run: Run, part: Part, start: Start) -> None:
    """Do a part, then help with what others have not begun."""
    following: Part | None = part
    while following is not None:
        part = following
        while not run.stopped and run.waiting(part) and not run.is_over():
            with start(run.asked(part)) as worker, run.employed(worker):
                listen(run, part, worker, partial(run.take, part))
        following = run.spare()


def _thread(run: Run, work: Callable[[], None]) -> threading.Event:
    """Do the work in a thread, whose error ends the run; what is set when it is over.

    ``Thread.join`` would not do: a join that Ctrl-C interrupts takes the thread for ended (Python 3.11 and 3.12).
    """
    done = threading.Event()

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            run.stop(error)
        finally:
            done.set()

    threading.Thread(target=guarded, daemon=True).start()
    return done


def _wait(run: Run, ends: list[threading.Event]) -> bool:
    """Wait until all is over; whether that was interrupted.

    Raises:
        GradhookError: what one of the threads ran into.
    """
    interrupted = False
    try:
        for end in ends:
            while not end.wait(_POLL):
                pass
    except KeyboardInterrupt:
        interrupted = True
    finally:
        run.stop()
    for end in ends:
        end.wait()
    if run.error and not isinstance(run.error, KeyboardInterrupt):
        raise run.error
    return interrupted or run.error is not None
