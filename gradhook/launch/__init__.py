"""The worker seen from outside: how does every job get its answer, whatever becomes of the process?

A job's clock runs while the worker is at it, the import of its module included (the first job of a module pays for
it). When a worker dies or a clock runs out, the job that it was at is answered with an error and never tried again,
and a new worker does the rest.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gradhook.errors import GradhookError
from gradhook.launch import blame
from gradhook.launch.excess import MEGABYTE
from gradhook.launch.process import End, Worker, ask, next_message, started, status, surroundings, tail
from gradhook.model import Finding, TargetReport, Verdict
from gradhook.wire import Answered, Began, Bye, Discovered, Hello, Job, Message, Request

BOOT = Path(__file__).parents[1] / "worker" / "boot.py"
START = 120.0
"""Seconds for loading JAX, and for whatever else is no target's."""
KEPT = 4000
"""Bytes of the output of a target that its report keeps, from the end."""
_ENDS = {
    End.TIMED_OUT: "hung", End.DIED: "died", End.TOO_LARGE: "needed more than --max-memory",
    End.FORGED: "was interrupted by something that spoke for it",
}  # fmt: skip
_QUIET = frozenset({Verdict.PASS, Verdict.SKIP})


@dataclass(frozen=True)
class Launched:
    """A report for each job, those that the import discovered at the end, and what the worker ran on."""

    reports: tuple[TargetReport, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class _Run:
    """What is known so far, over all workers."""

    jobs: dict[int, Job]
    timeout: float
    memory: float
    tell: Callable[[Message], None]
    unasked: frozenset[int] = frozenset()
    reports: dict[int, TargetReport] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    environment: Mapping[str, Any] = field(default_factory=dict)
    failures: int = 0

    @property
    def open(self) -> list[int]:
        return [number for number in self.jobs if number not in self.reports and number not in self.unasked]


@dataclass
class _Turn:
    """What one worker is at: its job and stage, since when, and from where in the output."""

    greeted: bool = False
    answered: int = 0
    at: Began | None = None
    since: float = 0.0
    opened: int = 0
    spent: dict[int, float] = field(default_factory=dict)
    printed: dict[int, bytes] = field(default_factory=dict)

    def left(self, timeout: float) -> float:
        """Seconds until the clock that runs now runs out."""
        return timeout - self.spent.get(self.at.number, 0.0) - (time.monotonic() - self.since) if self.at else START


def _ignore(message: Message) -> None:
    del message


def launch(
    python: Path,
    request: Request,
    *,
    timeout: float,
    memory: float = 0.0,
    platform: str | None = None,
    on_message: Callable[[Message], None] = _ignore,
    boot: Path = BOOT,
    environ: Mapping[str, str] = os.environ,
) -> Launched:
    """Have every job of ``request`` but those to skip answered by workers running ``boot`` in ``python``.

    ``timeout`` is in seconds a target, ``memory`` in megabytes a worker (0: no limit). ``platform`` none: the one of
    the user's JAX_PLATFORMS, else the CPU.
    ``on_message`` hears of all that workers say, and of the answers that were found for them.

    Raises:
        GradhookError: the interpreter cannot be run, or workers die of something that is no target's fault.
    """
    run = _Run({job.number: job for job in request.jobs}, timeout, memory, on_message, frozenset(request.skip))
    environment = surroundings(python, platform, environ)
    while run.open:
        jobs = tuple(job for number, job in run.jobs.items() if number not in run.dropped)
        asked = replace(request, jobs=jobs, skip=(*request.skip, *run.reports), taken=max(run.jobs) + 1)
        with started(python, boot, asked, environment, memory * MEGABYTE) as worker:
            _listen(run, worker)
    return Launched(tuple(run.reports[number] for number in run.jobs if number in run.reports), run.environment)


def _listen(run: _Run, worker: Worker) -> None:
    """One worker from its first word to its last."""
    turn = _Turn()
    while True:
        message = next_message(worker, turn.left(run.timeout))
        if not isinstance(message, End) and not _is_due(run, turn, message):
            message = End.FORGED
        if isinstance(message, End):
            _conclude(run, turn, worker, message)
            return
        _take(run, turn, worker, message)
        if isinstance(message, Bye):
            return


def _is_due(run: _Run, turn: _Turn, message: Message) -> bool:
    """Whether a worker may say this now: an answer is about the job that it is at, which nobody has answered yet."""
    match message:
        case Began(number=number):
            return number in run.jobs
        case Answered(number=number, report=report):
            is_at = turn.at is not None and turn.at.number == number and number in run.open
            return is_at and report.target == run.jobs[number].target
        case Discovered(job=job):
            return job.number not in run.jobs
        case Hello():
            return not turn.greeted
    return not isinstance(message, Request)


def _take(run: _Run, turn: _Turn, worker: Worker, message: Message) -> None:
    match message:
        case Hello():
            turn.greeted = True
            run.environment = message.environment
        case Began():
            if turn.at is None or turn.at.number != message.number:
                _close(turn, worker, message.printed)
                turn.since = time.monotonic()
            turn.at = message
        case Discovered():
            run.jobs[message.job.number] = message.job
        case Answered():
            _close(turn, worker, message.printed)
            message = replace(message, report=_with_output(turn, message.number, message.report))
            run.reports[message.number] = message.report
            turn.answered += 1
        case Bye() if message.rest and turn.answered:
            pass  # the jobs left open go to a new worker; each has done at least one, so that comes to an end
        case Bye():
            for number in run.open:
                _answer(run, turn, number, blame.unanswered(run.jobs[number].target))
    run.tell(message)


def _close(turn: _Turn, worker: Worker, printed: int | None) -> None:
    """The worker leaves its job, having printed so much: stop the job's clock and put its output aside."""
    if turn.at is not None:
        number = turn.at.number
        turn.spent[number] = turn.spent.get(number, 0.0) + time.monotonic() - turn.since
        text = turn.printed.get(number, b"") + tail(worker, turn.opened, printed, KEPT)
        turn.printed[number] = text[-KEPT:]
    turn.opened = turn.opened if printed is None else printed
    turn.at = None


def _conclude(run: _Run, turn: _Turn, worker: Worker, end: End) -> None:
    """Answer for a worker that cannot any more."""
    at = turn.at
    if end is End.TOO_LARGE and turn.answered:
        return  # others before it may have taken the room: a new worker begins with this one
    if at is None:
        _excuse(run, turn, worker, end)
        return
    if end is not End.DIED:
        ask(worker)
    _close(turn, worker, None)
    finding = _blamed(run, at, worker, end, _text(turn.printed[at.number]))
    for number in _struck(run, at):
        _answer(run, turn, number, finding)


def _blamed(run: _Run, at: Began, worker: Worker, end: End, output: str) -> Finding:
    target = run.jobs[at.number].target
    match end:
        case End.TIMED_OUT:
            return blame.timed_out(target, at.stage, run.timeout, output)
        case End.TOO_LARGE:
            return blame.too_large(target, at.stage, run.memory, output)
        case End.TOO_LOUD:
            return blame.too_loud(target, at.stage, output)
        case End.FORGED:
            return blame.forged(target, at.stage, output)
        case End.DIED:
            return blame.died(target, at.stage, status(worker), output)


def _struck(run: _Run, at: Began) -> list[int]:
    """The jobs that end with this one: all those of the module if it died of the import, which is not tried again."""
    if at.stage != "import":
        return [at.number]
    target = run.jobs[at.number].target
    module = [n for n, job in run.jobs.items() if (job.target.module, job.target.path) == (target.module, target.path)]
    run.dropped.update(module)
    return [number for number in module if number in run.open]


def _excuse(run: _Run, turn: _Turn, worker: Worker, end: End) -> None:
    """No target is to blame: that may happen once."""
    run.failures += 1
    if not run.open or (run.failures < 2 and end is End.DIED):
        return
    when = "while it worked" if turn.greeted else "before it could start"
    what = _ENDS.get(end, "failed")
    output = _text(tail(worker, 0, None, KEPT)).strip()
    said = f"; the end of its output:\n{output}" if output else ""
    help = "does `import jax` work in that interpreter? See `gradhook env`"
    if end is End.TOO_LARGE:
        help = "JAX alone takes a few hundred: allow more with --max-memory or GRADHOOK_MAX_MEMORY"
    raise GradhookError(f"the worker {what} {when}{said}", help)


def _answer(run: _Run, turn: _Turn, number: int, finding: Finding) -> None:
    report = TargetReport(run.jobs[number].target, Verdict.ERROR, findings=(finding,))
    run.reports[number] = _with_output(turn, number, report)
    run.tell(Answered(number, run.reports[number]))


def _with_output(turn: _Turn, number: int, report: TargetReport) -> TargetReport:
    """Output of targets that pass is nobody's business."""
    return report if report.verdict in _QUIET else replace(report, output=_text(turn.printed.get(number, b"")))


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", errors="replace")
