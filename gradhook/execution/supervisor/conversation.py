"""Exchange messages with one worker, from its start to its end.

A job's clock runs while the worker examines it, and includes the import of its module for the module's first job. When
a worker dies or a clock runs out, its current job is answered with an error and never tried again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gradhook.execution.supervisor import limits
from gradhook.execution.supervisor.process import (
    Worker,
    WorkerEnd,
    dump_stack,
    exit_status,
    next_message,
    printed_between,
    send,
)
from gradhook.execution.supervisor.scheduling import JobQueue, WorkUnit, nth
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import (
    Answered,
    Ask,
    Began,
    Bye,
    DependencyReport,
    Discovered,
    Hello,
    Message,
    PartialAnswer,
    Ready,
    Request,
)
from gradhook.model.results import Finding, OutcomeUpdate, Target, TargetReport, Verdict

START = 120.0
"""Seconds for loading JAX, and for everything else outside of targets."""
KEPT_OUTPUT = 4000
"""Bytes of the output of a target that its report keeps, from the end."""
_PROMPT = 10.0
"""Seconds within which a worker begins with a job that it was sent."""
_END_WORDS = {
    WorkerEnd.TIMED_OUT: "hung", WorkerEnd.DIED: "died", WorkerEnd.TOO_LARGE: "needed more than --max-memory",
    WorkerEnd.FORGED: "was interrupted by something that spoke for it",
}  # fmt: skip
_QUIET = frozenset({Verdict.PASS, Verdict.SKIP})

Next = Callable[[Worker], int | None]
"""The next job for a worker; ``None`` when it is not needed any more."""


@dataclass
class WorkerSession:
    """The state of one worker: its job and stage, since when, and its place in the output."""

    queue: JobQueue
    unit: WorkUnit
    worker: Worker
    greeted: bool = False
    ready: bool = False
    asked: int | None = None
    answered: int = 0
    at: Began | None = None
    since: float = 0.0
    opened: int = 0
    spent: dict[int, float] = field(default_factory=dict)
    printed: dict[int, bytes] = field(default_factory=dict)
    known: list[OutcomeUpdate] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """The queue's number of each job that this worker discovered, by the worker's own number."""
    seen: Counter[Target] = field(default_factory=Counter)

    def left(self) -> float:
        """Seconds until the clock that runs now runs out."""
        if self.at is None:
            return _PROMPT if self.answered and self.asked is not None else START
        return self.queue.timeout - self.spent.get(self.at.number, 0.0) - (time.monotonic() - self.since)


def converse(queue: JobQueue, unit: WorkUnit, worker: Worker, following: Next) -> None:
    """Send a worker one job ``following`` the other, and collect its answers.

    Raises:
        GradhookError: it sent something else than the protocol, or died twice outside of any target.
    """
    session = WorkerSession(queue, unit, worker)
    while True:
        message = next_message(worker, session.left())
        if queue.stopped:
            return
        if not isinstance(message, WorkerEnd):
            message = _numbered(session, message)
        if isinstance(message, WorkerEnd) or not _is_expected(session, message):
            _handle_end(session, message if isinstance(message, WorkerEnd) else WorkerEnd.FORGED)
            return
        _handle(session, message)
        if isinstance(message, (Ready, Answered)):
            _ask(session, following(worker))
        if isinstance(message, Bye):
            return


def _numbered(session: WorkerSession, message: Message) -> Message:
    """The message with the queue's job numbers in place of those that the worker gave."""
    match message:
        case Began(number=number) | PartialAnswer(number=number) | Answered(number=number):
            return replace(message, number=session.numbers.get(number, number))
        case DependencyReport(needs=needs, patterns=patterns):
            ours = {str(theirs): str(ours) for theirs, ours in session.numbers.items()}
            return replace(
                message,
                needs={ours.get(number, number): rows for number, rows in needs.items()},
                patterns={ours.get(number, number): pattern for number, pattern in patterns.items()},
            )
    return message


def _is_expected(session: WorkerSession, message: Message) -> bool:
    """Whether a worker may send this now: an answer must be about the job that it was sent."""
    match message:
        case Began(number=number, stage=stage):
            is_in_time = not session.ready if stage == "import" else session.asked == number
            return is_in_time and number in session.queue.jobs
        case Answered(number=number) | PartialAnswer(number=number):
            is_at = session.at is not None and session.at.number == number == session.asked
            return is_at and (
                isinstance(message, PartialAnswer) or message.report.target == session.queue.jobs[number].target
            )
        case Discovered(job=found):
            return not session.ready and found.number not in session.queue.jobs and found.number not in session.numbers
        case Hello():
            return not session.greeted
        case Ready():
            return session.greeted and not session.ready
    return not isinstance(message, (Request, Ask))


def _ask(session: WorkerSession, number: int | None) -> None:
    """Send the worker a job, by the number that the worker gave to it."""
    own = {ours: theirs for theirs, ours in session.numbers.items()}
    session.asked = number
    send(session.worker, Ask(None if number is None else own.get(number, number)))


def _handle(session: WorkerSession, message: Message) -> None:
    match message:
        case Hello():
            session.greeted = True
            session.queue.environment = message.environment
        case Began():
            if session.at is None or session.at.number != message.number:
                _leave_job(session, message.printed)
                session.since, session.known = time.monotonic(), []
            session.at = message
        case PartialAnswer():
            session.known.append(message.progress)
            return
        case Discovered():
            place = nth(session.seen, message.job.target)
            session.numbers[message.job.number] = session.queue.register_discovered(message.job, place)
            return
        case Answered():
            _leave_job(session, message.printed)
            _answer(session, message.number, message.report)
            session.answered += 1
            session.asked = None
            return
        case Ready():
            session.ready = True
        case Bye():
            _handle_bye(session, message)
    session.queue.forward(message)


def _handle_bye(session: WorkerSession, bye: Bye) -> None:
    """Answer the jobs that an ending worker leaves open, unless a new worker continues."""
    if (bye.rest and session.answered) or (session.ready and session.asked is None):
        return
    for number in [*session.queue.waiting(session.unit), *([] if session.asked is None else [session.asked])]:
        _answer(session, number, _error(session.queue, number, limits.unanswered(session.queue.jobs[number].target)))


def _leave_job(session: WorkerSession, printed: int | None) -> None:
    """Stop the clock of the current job and store its output up to ``printed``."""
    if session.at is not None:
        number = session.at.number
        session.spent[number] = session.spent.get(number, 0.0) + time.monotonic() - session.since
        text = session.printed.get(number, b"") + printed_between(session.worker, session.opened, printed, KEPT_OUTPUT)
        session.printed[number] = text[-KEPT_OUTPUT:]
    session.opened = session.opened if printed is None else printed
    session.at = None


def _handle_end(session: WorkerSession, end: WorkerEnd) -> None:
    """Answer for a worker that has died, hung or exceeded a limit."""
    at, queue = session.at, session.queue
    if session.answered and (end is WorkerEnd.TOO_LARGE or (end is WorkerEnd.TIMED_OUT and at is None)):
        return  # earlier jobs may have used the memory or lost the message: a new worker begins with this one
    if at is None:
        _end_without_job(session, end)
        return
    if end is not WorkerEnd.DIED:
        dump_stack(session.worker)
    _leave_job(session, None)
    finding = _finding_for(session, at, end, _text(session.printed[at.number]))
    known = [] if end is WorkerEnd.FORGED or at.stage == "import" else session.known
    for number in _jobs_ended_with(queue, at):
        _answer(session, number, limits.with_partial_outcomes(_error(queue, number, finding), known))


def _finding_for(session: WorkerSession, at: Began, end: WorkerEnd, output: str) -> Finding:
    target = session.queue.jobs[at.number].target
    match end:
        case WorkerEnd.TIMED_OUT:
            return limits.timed_out(target, at.stage, session.queue.timeout, output)
        case WorkerEnd.TOO_LARGE:
            return limits.too_large(target, at.stage, session.queue.memory, output)
        case WorkerEnd.TOO_MUCH_OUTPUT:
            return limits.too_much_output(target, at.stage, output)
        case WorkerEnd.FORGED:
            return limits.forged(target, at.stage, output)
        case WorkerEnd.DIED:
            return limits.died(target, at.stage, exit_status(session.worker), output)


def _jobs_ended_with(queue: JobQueue, at: Began) -> list[int]:
    """The jobs that end with this one: after a crash at import, all those of the module."""
    if at.stage != "import":
        return [at.number]
    target = queue.jobs[at.number].target
    with queue.lock:
        jobs = queue.jobs.items()
        module = [n for n, job in jobs if job.target.module_key == target.module_key]
        queue.dropped.update(module)
        return [number for number in module if number in queue.open]


def _end_without_job(session: WorkerSession, end: WorkerEnd) -> None:
    """Handle an end without a current job: one crash is allowed, then it is an error."""
    queue = session.queue
    with queue.lock:
        queue.failures += 1
        if not queue.open or (queue.failures < 2 and end is WorkerEnd.DIED):
            return
    when = "while it worked" if session.greeted else "before it could start"
    what = _END_WORDS.get(end, "failed")
    output = _text(printed_between(session.worker, 0, None, KEPT_OUTPUT)).strip()
    said = f"; the end of its output:\n{output}" if output else ""
    help = "does `import jax` work in that interpreter? See `gradhook env`"
    if end is WorkerEnd.TOO_LARGE:
        help = "JAX alone takes a few hundred: allow more with --max-memory or GRADHOOK_MAX_MEMORY"
    raise GradhookError(f"the worker {what} {when}{said}", help)


def _error(queue: JobQueue, number: int, finding: Finding) -> TargetReport:
    return TargetReport(queue.jobs[number].target, Verdict.ERROR, findings=(finding,))


def _answer(session: WorkerSession, number: int, report: TargetReport) -> None:
    """Answer a job; captured output is kept only for targets that did not pass."""
    if report.verdict not in _QUIET:
        report = replace(report, output=_text(session.printed.get(number, b"")))
    session.queue.answer(number, report)


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", errors="replace")
