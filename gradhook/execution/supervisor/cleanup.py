"""End the processes that a worker leaves behind.

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
