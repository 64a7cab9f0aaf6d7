"""Start, supervise and end one worker process; nothing of it is left behind."""

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

from gradhook.execution.signing import ForgedError, new_key, verifier
from gradhook.execution.supervisor import limits
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Message, Request, decode, encode

_POLL = 0.5
"""Seconds between checks of the process itself: its child may hold the pipe of a dead worker open."""
_DUMP = 0.2
"""Seconds that a hanging worker has to dump its stack."""
_LONGEST = 2**26
"""Bytes of a line; a longer one is cut, so that endless output cannot fill the memory."""
_SECRETS = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GH_TOKEN", "GH_ENTERPRISE_TOKEN")
"""Variables that GitHub's runner sets for a step itself; others were set for the code under test."""
_ROOM = "point TMPDIR at a folder with room in which you may write"
_OWN_VARIABLES = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


class WorkerEnd(Enum):
    """The reasons why a worker sends no more messages."""

    DIED = "died"
    TIMED_OUT = "timed out"
    TOO_LARGE = "too large"
    TOO_MUCH_OUTPUT = "too loud"
    FORGED = "forged"


@dataclass(frozen=True)
class Worker:
    """A running process with its line queues (``None``: end), its output file and its mark.

    ``verify`` takes the signature off a line; ``memory`` is its limit in resident bytes, 0 for none.
    """

    process: subprocess.Popen[bytes]
    lines: queue.SimpleQueue[str | None]
    orders: queue.SimpleQueue[str | None]
    reader: threading.Thread
    output: IO[bytes]
    mark: str
    verify: Callable[[str], str | None]
    memory: float = 0.0


_alive: dict[str, Worker] = {}
"""The running workers, by their marks."""


@contextmanager
def running_worker(
    python: Path, boot: Path, request: Request, environ: Mapping[str, str], memory: float = 0.0
) -> Iterator[Worker]:
    """A worker that was sent ``request``; on leaving, it and all its children are ended.

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
            folder.cleanup()  # at once: a killed process leaves nothing there, and open files stay readable
        _alive[worker.mark] = worker
        try:
            yield worker
        finally:
            _end(worker)
            del _alive[worker.mark]


def next_message(worker: Worker, seconds: float) -> Message | WorkerEnd:
    """The worker's next message within ``seconds``, or the reason why there is none.

    Raises:
        GradhookError: it sent something that is no message.
    """
    deadline = time.monotonic() + seconds
    while True:
        left = max(deadline - time.monotonic(), 0.0)
        try:
            line = worker.lines.get(timeout=min(left, limits.MEMORY_POLL if worker.memory else _POLL))
        except queue.Empty:
            if worker.process.poll() is not None:
                worker.reader.join(_POLL)
                worker.lines.put(None)
            elif (grown := _limit_exceeded(worker)) or not left:
                return grown or WorkerEnd.TIMED_OUT
            continue
        if line is None:
            return WorkerEnd.DIED
        try:
            text = worker.verify(line)
        except ForgedError:
            return WorkerEnd.FORGED
        if text is not None:
            return decode(text)


def _limit_exceeded(worker: Worker) -> WorkerEnd | None:
    if os.fstat(worker.output.fileno()).st_size > limits.MAX_OUTPUT:
        return WorkerEnd.TOO_MUCH_OUTPUT
    return WorkerEnd.TOO_LARGE if worker.memory and limits.resident(worker.process.pid) > worker.memory else None


def send(worker: Worker, message: Message) -> None:
    """Send a message without waiting for the worker to read it."""
    worker.orders.put(encode(message))


def kill(worker: Worker) -> None:
    """Kill the process and its group; ``running_worker`` cleans up afterwards."""
    limits.end_group(worker.process)


def kill_all() -> None:
    """Kill every worker, for a command that ends at once."""
    for worker in list(_alive.values()):
        kill(worker)


def dump_stack(worker: Worker) -> None:
    """Let a hanging worker write its stack to its output, where the system allows it."""
    if sys.platform != "win32" and worker.process.poll() is None:
        worker.process.send_signal(signal.SIGUSR1)
        time.sleep(_DUMP)


def exit_status(worker: Worker) -> int | None:
    """The exit status of a silent worker; ``None`` if it still runs without its pipe."""
    try:
        return worker.process.wait(_POLL)
    except subprocess.TimeoutExpired:
        return None


def printed_between(worker: Worker, start: int, end: int | None, most: int) -> bytes:
    """The last ``most`` bytes of the output from ``start`` to ``end`` (``None``: up to now)."""
    size = worker.output.seek(0, os.SEEK_END)
    stop = size if end is None else min(end, size)
    worker.output.seek(min(max(start, stop - most), stop))
    return worker.output.read(stop - worker.output.tell())


def worker_environment(python: Path, platform: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker: no secrets of CI, and no variables of another Python.

    ``platform`` none: the one in the user's JAX_PLATFORMS, else the CPU.
    """
    found = {name: value for name, value in environ.items() if not name.startswith(_SECRETS)}
    if not _is_own(python):
        found = {name: value for name, value in found.items() if name not in _OWN_VARIABLES}
    found["JAX_PLATFORMS"] = platform or environ.get("JAX_PLATFORMS") or "cpu"
    found["PATH"] = os.pathsep.join(filter(None, (str(python.parent.absolute()), environ.get("PATH", ""))))
    found["PYTHONUTF8"] = "1"
    return found


def _is_own(python: Path) -> bool:
    """Whether ``python`` is the interpreter of this environment; environments may share a binary."""
    own = Path(sys.executable)
    return python.parent.absolute() == own.parent.absolute() and python.resolve() == own.resolve()


def _start(command: list[str], request: Request, environ: Mapping[str, str], folder: Path, memory: float) -> Worker:
    """Start the process; the key is sent first, as user code can read environment variables."""
    output, mark, key = folder / "output", limits.mark(), new_key()
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
    return Worker(process, lines, orders, reader, seen, mark[limits.MARK_VARIABLE], verifier(key), memory)


def _popen(command: list[str], root: str, environ: Mapping[str, str], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        own = limits.own_group()
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, cwd=root, env=environ, **own)
    except OSError as error:
        raise GradhookError(f"{command[0]} cannot be run: {error}", "name a Python with --python") from error


def _read(stream: IO[bytes], lines: queue.SimpleQueue[str | None]) -> None:
    for line in iter(partial(stream.readline, _LONGEST), b""):
        if line.endswith(b"\n") or len(line) == _LONGEST:
            lines.put(line.decode("utf-8", errors="replace").removesuffix("\n"))
    lines.put(None)


def _write(stream: IO[bytes], orders: queue.SimpleQueue[str | None]) -> None:
    """Write the orders to the pipe until none follows or the worker is gone."""
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
    limits.end_group(process)
    process.wait()
    limits.end_marked(worker.mark)
    worker.reader.join(_POLL)
    if process.stdout is not None and not worker.reader.is_alive():
        process.stdout.close()
    worker.output.close()
