"""What comes of one worker, from its first word to its last?

A job's clock runs while the worker is at it, the import of its module included (the first job of a module pays for
it). When a worker dies or a clock runs out, the job that it was at is answered with an error and never tried again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gradhook.execution.supervisor import crashes
from gradhook.execution.supervisor.process import End, Worker, dump, next_message, status, tail, tell
from gradhook.execution.supervisor.queue import Run, nth
from gradhook.execution.supervisor.scheduling import Part
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
"""Seconds for loading JAX, and for whatever else is no target's."""
KEPT = 4000
"""Bytes of the output of a target that its report keeps, from the end."""
_PROMPT = 10.0
"""Seconds within which a worker begins with what it was asked for."""
_ENDS = {
    End.TIMED_OUT: "hung", End.DIED: "died", End.TOO_LARGE: "needed more than --max-memory",
    End.FORGED: "was interrupted by something that spoke for it",
}  # fmt: skip
_QUIET = frozenset({Verdict.PASS, Verdict.SKIP})

Next = Callable[[Worker], int | None]
"""The job that a worker is asked for next; none: it is not needed any more."""


@dataclass
class _Turn:
    """What one worker is at: its job and stage, since when, and from where in the output."""

    run: Run
    part: Part
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
    """Which jobs the claims are that this worker discovered and numbered itself."""
    seen: Counter[Target] = field(default_factory=Counter)

    def left(self) -> float:
        """Seconds until the clock that runs now runs out."""
        if self.at is None:
            return _PROMPT if self.answered and self.asked is not None else START
        return self.run.timeout - self.spent.get(self.at.number, 0.0) - (time.monotonic() - self.since)


def listen(run: Run, part: Part, worker: Worker, following: Next) -> None:
    """Ask a worker for one job ``following`` the other, and take its answers.

    Raises:
        GradhookError: it does not speak our language, or died twice without a target to blame.
    """
    turn = _Turn(run, part, worker)
    while True:
        message = next_message(worker, turn.left())
        if run.stopped:
            return
        if not isinstance(message, End):
            message = _numbered(turn, message)
        if isinstance(message, End) or not _is_due(turn, message):
            _conclude(turn, message if isinstance(message, End) else End.FORGED)
            return
        _take(turn, message)
        if isinstance(message, (Ready, Answered)):
            _ask(turn, following(worker))
        if isinstance(message, Bye):
            return


def _numbered(turn: _Turn, message: Message) -> Message:
    """The message with our numbers in place of those that the worker gave to what it discovered."""
    match message:
        case Began(number=number) | PartialAnswer(number=number) | Answered(number=number):
            return replace(message, number=turn.numbers.get(number, number))
        case DependencyReport(needs=needs, patterns=patterns):
            ours = {str(theirs): str(ours) for theirs, ours in turn.numbers.items()}
            return replace(
                message,
                needs={ours.get(number, number): rows for number, rows in needs.items()},
                patterns={ours.get(number, number): pattern for number, pattern in patterns.items()},
            )
    return message


def _is_due(turn: _Turn, message: Message) -> bool:
    """Whether a worker may say this now: an answer is about the job that it was asked for, and that it is at."""
    match message:
        case Began(number=number, stage=stage):
            return number in turn.run.jobs and (not turn.ready if stage == "import" else turn.asked == number)
        case Answered(number=number) | PartialAnswer(number=number):
            is_at = turn.at is not None and turn.at.number == number == turn.asked
            return is_at and (
                isinstance(message, PartialAnswer) or message.report.target == turn.run.jobs[number].target
            )
        case Discovered(job=found):
            return not turn.ready and found.number not in turn.run.jobs and found.number not in turn.numbers
        case Hello():
            return not turn.greeted
        case Ready():
            return turn.greeted and not turn.ready
    return not isinstance(message, (Request, Ask))


def _ask(turn: _Turn, number: int | None) -> None:
    """Ask for a job by the number under which this worker knows it."""
    own = {ours: theirs for theirs, ours in turn.numbers.items()}
    turn.asked = number
    tell(turn.worker, Ask(None if number is None else own.get(number, number)))


def _take(turn: _Turn, message: Message) -> None:
    match message:
        case Hello():
            turn.greeted = True
            turn.run.environment = message.environment
        case Began():
            if turn.at is None or turn.at.number != message.number:
                _close(turn, message.printed)
                turn.since, turn.known = time.monotonic(), []
            turn.at = message
        case PartialAnswer():
            turn.known.append(message.progress)
            return
        case Discovered():
            target = message.job.target
            turn.numbers[message.job.number] = turn.run.adopt(message.job, nth(turn.seen, target))
            return
        case Answered():
            _close(turn, message.printed)
            _answer(turn, message.number, message.report)
            turn.answered += 1
            turn.asked = None
            return
        case Ready():
            turn.ready = True
        case Bye():
            _dismiss(turn, message)
    turn.run.tell(message)


def _dismiss(turn: _Turn, bye: Bye) -> None:
    """Nothing may be left open by a worker that ends, but what it leaves to a new one, having done at least one."""
    if (bye.rest and turn.answered) or (turn.ready and turn.asked is None):
        return
    for number in [*turn.run.waiting(turn.part), *([] if turn.asked is None else [turn.asked])]:
        _answer(turn, number, _error(turn.run, number, crashes.unanswered(turn.run.jobs[number].target)))


def _close(turn: _Turn, printed: int | None) -> None:
    """The worker leaves its job, having printed so much: stop the job's clock and put its output aside."""
    if turn.at is not None:
        number = turn.at.number
        turn.spent[number] = turn.spent.get(number, 0.0) + time.monotonic() - turn.since
        text = turn.printed.get(number, b"") + tail(turn.worker, turn.opened, printed, KEPT)
        turn.printed[number] = text[-KEPT:]
    turn.opened = turn.opened if printed is None else printed
    turn.at = None


def _conclude(turn: _Turn, end: End) -> None:
    """Answer for a worker that cannot any more."""
    at, run = turn.at, turn.run
    if turn.answered and (end is End.TOO_LARGE or (end is End.TIMED_OUT and at is None)):
        return  # others before it may have taken the room, or the question: a new worker begins with this one
    if at is None:
        _excuse(turn, end)
        return
    if end is not End.DIED:
        dump(turn.worker)
    _close(turn, None)
    finding = _blamed(turn, at, end, _text(turn.printed[at.number]))
    known = [] if end is End.FORGED or at.stage == "import" else turn.known
    for number in _struck(run, at):
        _answer(turn, number, crashes.with_known(_error(run, number, finding), known))


def _blamed(turn: _Turn, at: Began, end: End, output: str) -> Finding:
    target = turn.run.jobs[at.number].target
    match end:
        case End.TIMED_OUT:
            return crashes.timed_out(target, at.stage, turn.run.timeout, output)
        case End.TOO_LARGE:
            return crashes.too_large(target, at.stage, turn.run.memory, output)
        case End.TOO_LOUD:
            return crashes.too_loud(target, at.stage, output)
        case End.FORGED:
            return crashes.forged(target, at.stage, output)
        case End.DIED:
            return crashes.died(target, at.stage, status(turn.worker), output)


def _struck(run: Run, at: Began) -> list[int]:
    """The jobs that end with this one: all those of the module if it died of the import, which is not tried again."""
    if at.stage != "import":
        return [at.number]
    target = run.jobs[at.number].target
    with run.lock:
        jobs = run.jobs.items()
        module = [n for n, job in jobs if (job.target.module, job.target.path) == (target.module, target.path)]
        run.dropped.update(module)
        return [number for number in module if number in run.open]


def _excuse(turn: _Turn, end: End) -> None:
    """No target is to blame: that may happen once."""
    run = turn.run
    with run.lock:
        run.failures += 1
        if not run.open or (run.failures < 2 and end is End.DIED):
            return
    when = "while it worked" if turn.greeted else "before it could start"
    what = _ENDS.get(end, "failed")
    output = _text(tail(turn.worker, 0, None, KEPT)).strip()
    said = f"; the end of its output:\n{output}" if output else ""
    help = "does `import jax` work in that interpreter? See `gradhook env`"
    if end is End.TOO_LARGE:
        help = "JAX alone takes a few hundred: allow more with --max-memory or GRADHOOK_MAX_MEMORY"
    raise GradhookError(f"the worker {what} {when}{said}", help)


def _error(run: Run, number: int, finding: Finding) -> TargetReport:
    return TargetReport(run.jobs[number].target, Verdict.ERROR, findings=(finding,))


def _answer(turn: _Turn, number: int, report: TargetReport) -> None:
    """Output of targets that pass is nobody's business."""
    if report.verdict not in _QUIET:
        report = replace(report, output=_text(turn.printed.get(number, b"")))
    turn.run.answer(number, report)


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", errors="replace")
