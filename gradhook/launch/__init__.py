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
from gradhook.launch.process import End, Worker, ask, next_message, started, status, surroundings, tail
from gradhook.model import Finding, TargetReport, Verdict
from gradhook.wire import Answered, Began, Bye, Discovered, Hello, Job, Message, Request

BOOT = Path(__file__).parents[1] / "worker" / "boot.py"
START = 120.0
"""Seconds for loading JAX, and for whatever else is no target's."""
KEPT = 4000
"""Bytes of the output of a target that its report keeps, from the end."""
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
    platform: str | None = None,
    on_message: Callable[[Message], None] = _ignore,
    boot: Path = BOOT,
    environ: Mapping[str, str] = os.environ,
) -> Launched:
    """Have every job of ``request`` but those to skip answered by workers running ``boot`` in ``python``.

    ``timeout`` is in seconds a target. ``platform`` none: the one of the user's JAX_PLATFORMS, else the CPU.
    ``on_message`` hears of all that workers say, and of the answers that were found for them.

    Raises:
        GradhookError: the interpreter cannot be run, or workers die of something that is no target's fault.
    """
    run = _Run({job.number: job for job in request.jobs}, timeout, on_message, frozenset(request.skip))
    environment = surroundings(python, platform, environ)
    while run.open:
        jobs = tuple(job for number, job in run.jobs.items() if number not in run.dropped)
        asked = replace(request, jobs=jobs, skip=(*request.skip, *run.reports))
        with started(python, boot, asked, environment) as worker:
            _listen(run, worker)
    return Launched(tuple(run.reports[number] for number in run.jobs if number in run.reports), run.environment)


def _listen(run: _Run, worker: Worker) -> None:
    """One worker from its first word to its last."""
    turn = _Turn()
    while True:
        message = next_message(worker, turn.left(run.timeout))
        if isinstance(message, End):
            _conclude(run, turn, worker, message)
            return
        _take(run, turn, worker, message)
        if isinstance(message, Bye):
            return


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
        case Bye():
            for number in run.open:
                _answer(run, turn, number, blame.unanswered(run.jobs[number].target))
        case Request():
            return
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
    if at is None:
        _excuse(run, turn, worker, end)
        return
    if end is End.TIMED_OUT:
        ask(worker)
    _close(turn, worker, None)
    target, output = run.jobs[at.number].target, _text(turn.printed[at.number])
    if end is End.TIMED_OUT:
        finding = blame.timed_out(target, at.stage, run.timeout, output)
    else:
        finding = blame.died(target, at.stage, status(worker), output)
    for number in _struck(run, at):
        _answer(run, turn, number, finding)


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
    what = "hung" if end is End.TIMED_OUT else "died"
    output = _text(tail(worker, 0, None, KEPT)).strip()
    said = f"; the end of its output:\n{output}" if output else ""
    raise GradhookError(
        f"the worker {what} {when}{said}", "does `import jax` work in that interpreter? See `gradhook env`"
    )


def _answer(run: _Run, turn: _Turn, number: int, finding: Finding) -> None:
    report = TargetReport(run.jobs[number].target, Verdict.ERROR, findings=(finding,))
    run.reports[number] = _with_output(turn, number, report)
    run.tell(Answered(number, run.reports[number]))


def _with_output(turn: _Turn, number: int, report: TargetReport) -> TargetReport:
    """Output of targets that pass is nobody's business."""
    return report if report.verdict in _QUIET else replace(report, output=_text(turn.printed.get(number, b"")))


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", errors="replace")
