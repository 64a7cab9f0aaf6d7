"""How does a worker come to life in an interpreter in which gradhook is not installed?

Run as a script, by path: ``python -u …/execution/worker/boot.py``. It reads a key and then messages, a line of JSON
each, the request first, from its standard input, and answers with a sealed line per message on a private copy of its
standard output; all that user code prints goes to standard error. Of the surroundings of this file it makes
``gradhook`` importable and nothing else.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

    Main = Callable[[Any, Callable[[Any], None], Callable[[], Any]], Any]


def serve(main: Main | None = None) -> None:
    """Read the request, answer it through ``main`` (``gradhook.execution.worker.main.main``), and end the process."""
    channel = _redirect()
    _adopt()
    orders = os.fdopen(apart(0), "rb")  # sys.stdin would keep what was read in its buffer
    send = _sender(channel, orders.readline().decode().strip())
    receive = _receiver(orders)
    _silence()
    request = receive()
    _watch()
    if main is None:
        from gradhook.execution.worker import main as own

        main = own.main
    main(request, send, receive)
    os._exit(0)  # threads and exit handlers of user code must not hold the answers up


def _redirect() -> int:
    """Keep standard output for the protocol, let everybody else's go to standard error; the protocol's descriptor."""
    channel = apart(1)
    os.dup2(2, 1)
    return channel


def apart(descriptor: int) -> int:
    """A copy that no child inherits, at a place where code that counts descriptors up or closes a few does not look."""
    try:
        import fcntl
        import random

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, random.randrange(150, 250))
    except (ImportError, OSError):
        return os.dup(descriptor)


def _adopt() -> None:
    """Make gradhook importable from where this file lies, but nothing that lies beside it."""
    if "gradhook" in sys.modules:
        return
    import importlib.util

    here = Path(__file__).absolute().parent
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry) != here]
    package = here.parents[1]
    spec = importlib.util.spec_from_file_location(
        "gradhook", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no gradhook in {package}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gradhook"] = module
    spec.loader.exec_module(module)


def _silence() -> None:
    """User code that reads standard input finds it empty."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 -- it stays


def _watch() -> None:
    """After a crash, and when the parent is about to end a worker that hangs, leave word of where we are."""
    import faulthandler
    import signal
    import threading

    faulthandler.enable(2)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, 2)
    parent = os.getppid()
    _die_with_parent()
    threading.Thread(target=_outlive, args=(parent,), daemon=True).start()


def _die_with_parent() -> None:
    """Linux ends us at once with the thread that started us, even in C code that never lets another thread run."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _outlive(parent: int) -> None:
    """End with the parent, even if it was killed and could not end us."""
    import time

    if sys.platform == "win32":
        import ctypes

        await_end(parent, ctypes.windll.kernel32)
    else:
        while os.getppid() == parent:
            time.sleep(1)
    os._exit(1)


def await_end(pid: int, kernel32: Any) -> None:
    """Return when a process of Windows has ended; there, a dead parent's number stays what it was."""
    handle = kernel32.OpenProcess(0x00100000, False, pid)  # SYNCHRONIZE; none if it has ended
    if handle:
        kernel32.WaitForSingleObject(handle, 0xFFFFFFFF)  # INFINITE


def _receiver(orders: IO[bytes]) -> Callable[[], Any]:
    """What reads the next message; none when the parent has hung up."""
    from gradhook.model.protocol import decode

    owner = os.getpid()

    def receive() -> Any:
        if os.getpid() != owner:
            os._exit(0)  # a fork of user code must not take our messages away
        line = orders.readline()
        return decode(line.decode()) if line else None

    return receive


def _sender(channel: int, key: str) -> Callable[[Any], None]:
    """What sends a message; the key is kept nowhere else."""
    from gradhook.execution.signing import sealer
    from gradhook.model.protocol import encode

    owner, sealed = os.getpid(), sealer(key)

    def send(message: Any) -> None:
        if os.getpid() != owner:
            os._exit(0)  # a fork of user code that ran on into our loop has no say
        line = (sealed(encode(message)) + "\n").encode()
        while line:
            line = line[os.write(channel, line) :]

    return send


if __name__ == "__main__":
    serve()
