"""Measure a worker's memory and output from outside, and end the processes that it leaves behind.

Memory is the resident memory of the process itself: ``/proc`` on Linux, ``ps`` on macOS and other Unix systems,
``GetProcessMemoryInfo`` on Windows. It is sampled, so a limit can be exceeded by what a process allocates
between two samples. ``RLIMIT_AS`` would be one, but JAX reserves far more addresses than it ever uses.

Those in its process group end with it. One that left the group (``setsid``, a daemon) still carries the worker's mark
in the environment that it was started with, which Linux shows; Windows has the tree of a process that still runs.
On macOS such a process is not found.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MEGABYTE = 1_000_000
MAX_OUTPUT = 1_000 * MEGABYTE
"""Bytes of output of one worker: beyond them, an endless loop that prints would fill the disk."""
MEMORY_POLL = 0.1
"""Seconds between two samples where memory is limited: large allocations take about as long."""


def resident(pid: int) -> int:
    """The resident memory of a process in bytes; 0 when the system does not show it."""
    try:
        if sys.platform == "linux":
            return _linux(pid)
        return _windows(pid) if sys.platform == "win32" else _unix(pid)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0  # it has just ended, or the system has no such means


def _linux(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:")), 0)


def _unix(pid: int) -> int:
    """``ps`` prints kibibytes on every system."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return int(said.stdout.strip() or 0) * 1024


def _windows(pid: int) -> int:
    """The working set, from the counters of ``psapi.h``: two DWORDs, then SIZE_Ts; the second counts."""
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = (
            ("cb", ctypes.c_uint32), ("faults", ctypes.c_uint32), ("peak", ctypes.c_size_t),
            ("working_set", ctypes.c_size_t), ("more", ctypes.c_size_t * 6),
        )  # fmt: skip

    library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
    library.OpenProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.OpenProcess(0x1000, False, pid))  # PROCESS_QUERY_LIMITED_INFORMATION
    counters = Counters(cb=ctypes.sizeof(Counters))
    try:
        library.K32GetProcessMemoryInfo(handle, ctypes.byref(counters), counters.cb)
    finally:
        library.CloseHandle(handle)
    return int(counters.working_set)


MARK_VARIABLE = "GRADHOOK_WORKER_MARK"
_PASSES = 5
"""Repetitions: a process that was found may have started another one just before."""
_PROC = Path("/proc")


def mark() -> dict[str, str]:
    """A variable for the environment of one worker."""
    return {MARK_VARIABLE: secrets.token_hex(16)}


def own_group() -> dict[str, Any]:
    """Arguments of ``Popen`` for a process group of its own: Ctrl-C then reaches only the parent."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the worker's process group; on Windows, which has none, its process tree."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


def end_marked(marked: str, proc: Path = _PROC) -> None:
    """Kill every process with the mark of a worker, where the system shows environments."""
    if sys.platform != "linux":
        return
    for _ in range(_PASSES):
        found = [pid for pid in _carrying(f"{MARK_VARIABLE}={marked}".encode(), proc) if pid != os.getpid()]
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it has just ended
        if not found:
            return


def _carrying(entry: bytes, proc: Path) -> Iterator[int]:
    for folder in proc.iterdir():
        if folder.name.isdecimal():
            try:
                environ = (folder / "environ").read_bytes()
            except OSError:
                continue  # not ours, or gone
            if entry in environ.split(b"\0"):
                yield int(folder.name)
