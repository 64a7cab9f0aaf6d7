"""How does one worker process start, speak and end, with nothing left of it afterwards?"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import IO

from gradhook.execution.signing import ForgedError, new_key, opener
from gradhook.execution.supervisor import cleanup, limits
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Message, Request, decode, encode

_POLL = 0.5
"""Seconds after which the process itself is looked at: a child of its own may hold the pipe of a dead worker open."""
_DUMP = 0.2
"""Seconds that a hanging worker has to write down where it is."""
_LONGEST = 2**26
"""Bytes of a line: whoever writes without end into the pipe must not fill our memory."""
_SECRETS = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GH_TOKEN", "GH_ENTERPRISE_TOKEN")
"""What a runner of GitHub gives to a step for itself; what else a step was given, it was given for this code."""
_ROOM = "point TMPDIR at a folder with room in which you may write"
_SURROUNDINGS = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


class End(Enum):
    """Why no message comes any more."""

    DIED = "died"
    TIMED_OUT = "timed out"
    TOO_LARGE = "too large"
    TOO_LOUD = "too loud"
    FORGED = "forged"


@dataclass(frozen=True)
class Worker:
    """A running process, the lines from it and to it (``None``: no more), the file with all that it prints, its mark.

    ``opened`` takes the seal off a line; ``memory`` is how many bytes it may have resident, 0 for as many as it likes.
    """

    process: subprocess.Popen[bytes]
    lines: queue.SimpleQueue[str | None]
    orders: queue.SimpleQueue[str | None]
    reader: threading.Thread
    output: IO[bytes]
    mark: str
    opened: Callable[[str], str | None]
    memory: float = 0.0


_alive: dict[str, Worker] = {}
"""The workers that are at work, by their marks."""


@contextmanager
def started(
    python: Path, boot: Path, request: Request, environ: Mapping[str, str], memory: float = 0.0
) -> Iterator[Worker]:
    """A worker that was sent ``request``; on leaving, it and everything that it started is ended.

    Raises:
        GradhookError: the interpreter cannot be run, or there is no room for temporary files.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="gradhook-", ignore_cleanup_errors=True)
    except OSError as error:
        raise GradhookError(f"no temporary folder can be made: {error}", _ROOM) from error
    with folder:
        worker = _start([str(python), "-u", str(boot)], request, environ, Path(folder.name), memory)
        if sys.platform != "win32":
            folder.cleanup()  # at once: whoever is killed leaves nothing there, and open files stay readable
        _alive[worker.mark] = worker
        try:
            yield worker
        finally:
            _end(worker)
            del _alive[worker.mark]


def next_message(worker: Worker, seconds: float) -> Message | End:
    """What the worker says next, if it says it within ``seconds`` and within its memory, and nobody else speaks.

    Raises:
        GradhookError: it said something that is no message.
    """
    deadline = time.monotonic() + seconds
    while True:
        left = max(deadline - time.monotonic(), 0.0)
        try:
            line = worker.lines.get(timeout=min(left, limits.LOOK if worker.memory else _POLL))
        except queue.Empty:
            if worker.process.poll() is not None:
                worker.reader.join(_POLL)
                worker.lines.put(None)
            elif (grown := _grown(worker)) or not left:
                return grown or End.TIMED_OUT
            continue
        if line is None:
            return End.DIED
        try:
            text = worker.opened(line)
        except ForgedError:
            return End.FORGED
        if text is not None:
            return decode(text)


def _grown(worker: Worker) -> End | None:
    if os.fstat(worker.output.fileno()).st_size > limits.LOUDEST:
        return End.TOO_LOUD
    return End.TOO_LARGE if worker.memory and limits.resident(worker.process.pid) > worker.memory else None


def tell(worker: Worker, message: Message) -> None:
    """Send a message; a worker that does not read it cannot hold us up."""
    worker.orders.put(encode(message))


def kill(worker: Worker) -> None:
    """End the process at once, and all in its group; ``started`` clears up after it."""
    cleanup.end_group(worker.process)


def kill_all() -> None:
    """End every worker at once, for a command that has no time to clear up."""
    for worker in list(_alive.values()):
        kill(worker)


def dump(worker: Worker) -> None:
    """Let a worker that hangs write its stack into its output, where the system has the means."""
    if sys.platform != "win32" and worker.process.poll() is None:
        worker.process.send_signal(signal.SIGUSR1)
        time.sleep(_DUMP)


def status(worker: Worker) -> int | None:
    """The exit status of a worker that stopped talking; none if it lives on without its pipe."""
    try:
        return worker.process.wait(_POLL)
    except subprocess.TimeoutExpired:
        return None


def tail(worker: Worker, start: int, end: int | None, most: int) -> bytes:
    """The last ``most`` bytes of what was printed from ``start`` to ``end`` (none: up to now)."""
    size = worker.output.seek(0, os.SEEK_END)
    stop = size if end is None else min(end, size)
    worker.output.seek(min(max(start, stop - most), stop))
    return worker.output.read(stop - worker.output.tell())


def surroundings(python: Path, platform: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker: no secrets of the runner, and nothing of ours if ``python`` is not ours.

    ``platform`` none: the one that the user's JAX_PLATFORMS names, else the CPU.
    """
    found = {name: value for name, value in environ.items() if not name.startswith(_SECRETS)}
    if not _is_own(python):
        found = {name: value for name, value in found.items() if name not in _SURROUNDINGS}
    found["JAX_PLATFORMS"] = platform or environ.get("JAX_PLATFORMS") or "cpu"
    found["PATH"] = os.pathsep.join(filter(None, (str(python.parent.absolute()), environ.get("PATH", ""))))
    found["PYTHONUTF8"] = "1"
    return found


def _is_own(python: Path) -> bool:
    """Whether ``python`` is this very environment's: two environments may share one binary, but not its folder."""
    own = Path(sys.executable)
    return python.parent.absolute() == own.parent.absolute() and python.resolve() == own.resolve()


def _start(command: list[str], request: Request, environ: Mapping[str, str], folder: Path, memory: float) -> Worker:
    """The key goes before the request, and not by the environment, which user code sees."""
    output, mark, key = folder / "output", cleanup.mark(), new_key()
    try:
        with output.open("ab", buffering=0) as stderr:
            seen = output.open("rb", buffering=0)
            process = _popen(command, request.root, {**environ, **mark}, stderr)
    except OSError as error:
        raise GradhookError(f"no temporary file can be written: {error}", _ROOM) from error
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    orders: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    for line in (key, encode(request)):
        orders.put(line)
    assert process.stdin is not None and process.stdout is not None
    reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
    reader.start()
    threading.Thread(target=_write, args=(process.stdin, orders), daemon=True).start()
    return Worker(process, lines, orders, reader, seen, mark[cleanup.VARIABLE], opener(key), memory)


def _popen(command: list[str], root: str, environ: Mapping[str, str], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        own = cleanup.group()
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, cwd=root, env=environ, **own)
    except OSError as error:
        raise GradhookError(f"{command[0]} cannot be run: {error}", "name a Python with --python") from error


def _read(stream: IO[bytes], lines: queue.SimpleQueue[str | None]) -> None:
    for line in iter(partial(stream.readline, _LONGEST), b""):
        if line.endswith(b"\n") or len(line) == _LONGEST:
            lines.put(line.decode("utf-8", errors="replace").removesuffix("\n"))
    lines.put(None)


def _write(stream: IO[bytes], orders: queue.SimpleQueue[str | None]) -> None:
    """Hand on what is put into ``orders``; a worker that is gone needs none of it."""
    try:
        with stream:
            while (line := orders.get()) is not None:
                stream.write(f"{line}\n".encode())
                stream.flush()
    except OSError:
        return


def _end(worker: Worker) -> None:
    process = worker.process
    worker.orders.put(None)
    cleanup.end_group(process)
    process.wait()
    cleanup.end_marked(worker.mark)
    worker.reader.join(_POLL)
    if process.stdout is not None and not worker.reader.is_alive():
        process.stdout.close()
    worker.output.close()
