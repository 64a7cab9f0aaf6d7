"""Start a worker in an interpreter in which gradhook is not installed.

Run as a script, by path: ``python -u …/execution/worker/boot.py``. It reads a key and then messages, a line of JSON
each, the request first, from its standard input, and answers with a signed line per message on a private copy of its
standard output; all that user code prints goes to standard error. It makes only ``gradhook`` importable, not what lies
beside this file.
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
    """Read the request, answer it through ``main`` (``worker.requests.main``), and end the process."""
    channel = _redirect()
    _make_importable()
    orders = os.fdopen(spare_descriptor(0), "rb")  # sys.stdin would keep what was read in its buffer
    send = _sender(channel, orders.readline().decode().strip())
    receive = _receiver(orders)
    _empty_stdin()
    request = receive()
    _prepare_for_end()
    if main is None:
        from gradhook.execution.worker import requests

        main = requests.main
    main(request, send, receive)
    os._exit(0)  # not sys.exit: threads and exit handlers of user code must not delay the end


def _redirect() -> int:
    """Keep standard output for the protocol and redirect all other output to standard error."""
    channel = spare_descriptor(1)
    os.dup2(2, 1)
    return channel


def spare_descriptor(descriptor: int) -> int:
    """A copy that no child inherits, numbered above what code usually opens or closes."""
    try:
        import fcntl
        import random

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, random.randrange(150, 250))
    except (ImportError, OSError):
        return os.dup(descriptor)


def _make_importable() -> None:
    """Make gradhook importable from this file's location, but nothing that lies beside it."""
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


def _empty_stdin() -> None:
    """Give user code an empty standard input."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 -- it stays


def _prepare_for_end() -> None:
    """Dump the stack after a crash or on the parent's signal, and end with the parent."""
    import faulthandler
    import signal
    import threading

    faulthandler.enable(2)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, 2)
    parent = os.getppid()
    _die_with_parent()
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()


def _die_with_parent() -> None:
    """On Linux, end with the parent thread even in C code that never yields."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _end_with_parent(parent: int) -> None:
    """End when the parent has ended, even if it was killed."""
    import time

    if sys.platform == "win32":
        import ctypes

        await_end(parent, ctypes.windll.kernel32)
    else:
        while os.getppid() == parent:
            time.sleep(1)
    os._exit(1)


def await_end(pid: int, kernel32: Any) -> None:
    """Wait until a process of Windows has ended; a dead parent's number is not reused there."""
    handle = kernel32.OpenProcess(0x00100000, False, pid)  # SYNCHRONIZE; none if it has ended
    if handle:
        kernel32.WaitForSingleObject(handle, 0xFFFFFFFF)  # INFINITE


def _receiver(orders: IO[bytes]) -> Callable[[], Any]:
    """A function that reads the next message; ``None`` after the parent has closed the pipe."""
    from gradhook.model.protocol import decode

    owner = os.getpid()

    def receive() -> Any:
        if os.getpid() != owner:
            os._exit(0)  # a fork of user code must not read the messages
        line = orders.readline()
        return decode(line.decode()) if line else None

    return receive


def _sender(channel: int, key: str) -> Callable[[Any], None]:
    """A function that sends a message; the key is kept only in it."""
    from gradhook.execution.signing import signer
    from gradhook.model.protocol import encode

    owner, sign = os.getpid(), signer(key)

    def send(message: Any) -> None:
        if os.getpid() != owner:
            os._exit(0)  # a fork of user code must not send answers
        line = (sign(encode(message)) + "\n").encode()
        while line:
            line = line[os.write(channel, line) :]

    return send


if __name__ == "__main__":
    serve()
