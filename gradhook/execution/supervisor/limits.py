"""Measure a worker's memory and output, end what it leaves behind, and describe a crash.

Memory is the resident memory of the process itself: ``/proc`` on Linux, ``ps`` on macOS and other Unix systems,
``GetProcessMemoryInfo`` on Windows. It is sampled, so a limit can be exceeded by what a process allocates
between two samples. ``RLIMIT_AS`` would be one, but JAX reserves far more addresses than it ever uses.

Those in its process group end with it. One that left the group (``setsid``, a daemon) still carries the worker's mark
in the environment that it was started with, which Linux shows; Windows has the tree of a process that still runs.
On macOS such a process is not found.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradhook.model.errors import INSTALLED
from gradhook.model.results import Finding, Outcome, OutcomeUpdate, Target, TargetReport, Verdict, gravest_first

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


_FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)
_STACK = "(most recent call first)"
_PACKAGE = Path(__file__).resolve().parents[2]


def timed_out(target: Target, stage: str, seconds: float, output: str) -> Finding:
    """GRD905: the time limit of a target ran out."""
    message = f"timed out after {seconds:g} s, {_doing(target, stage)}"
    help = "give it more time with --timeout or GRADHOOK_TIMEOUT, or make its arguments smaller"
    return _finding("GRD905", target, stage, message, output, help)


def died(target: Target, stage: str, status: int | None, output: str) -> Finding:
    """GRD906: the process ended, or closed its pipe, in the middle of a target."""
    message = f"the process died {_doing(target, stage)}: {_cause(status)}"
    killed = status is not None and status == -getattr(signal, "SIGKILL", 9)
    help = "the system may have run out of memory: make the arguments smaller" if killed else ""
    return _finding("GRD906", target, stage, message, output, help)


def too_large(target: Target, stage: str, megabytes: float, output: str) -> Finding:
    """GRD906: the process was ended because it held more memory than it may."""
    message = f"the process was ended {_doing(target, stage)}: it held more than {megabytes:g} MB of memory"
    help = "make its arguments smaller, or allow more with --max-memory or GRADHOOK_MAX_MEMORY"
    return _finding("GRD906", target, stage, message, output, help)


def too_much_output(target: Target, stage: str, output: str) -> Finding:
    """GRD906: the process was ended before its output could fill the disk."""
    message = f"the process was ended {_doing(target, stage)}: it had printed more than {MAX_OUTPUT // MEGABYTE} MB"
    return _finding("GRD906", target, stage, message, output, "print less")


def forged(target: Target, stage: str, output: str) -> Finding:
    """GRD911: something other than the worker's loop wrote to the protocol's descriptor."""
    message = f"something wrote into gradhook's own channel {_doing(target, stage)}: no answer of that process counts"
    help = "write to files and descriptors that your code has opened itself"
    return _finding("GRD911", target, stage, message, output, help)


def unanswered(target: Target) -> Finding:
    """GRD908: the worker ended without an answer about the target."""
    help = "this is a mistake in gradhook: please report it, with the output of `gradhook env`"
    message = "gradhook itself failed: the worker gave no answer about this target"
    return Finding("GRD908", Verdict.ERROR, message, path=target.path, line=target.line, help=help)


def with_partial_outcomes(report: TargetReport, known: Sequence[OutcomeUpdate]) -> TargetReport:
    """The report of an interrupted target with its finished outcomes and the missing checks."""
    if not known:
        return report
    (finding,) = report.findings
    outcome, missing = known[-1].outcome, ", ".join(known[-1].open)
    if missing and outcome.case == finding.case:
        finding = replace(finding, message=f"{finding.message}; not answered there: {missing}")
    outcomes = (*(part.outcome for part in known), Outcome(finding.code, Verdict.ERROR, finding.case, (finding,)))
    findings = gravest_first([f for outcome in outcomes for f in outcome.findings])
    return replace(report, outcomes=outcomes, findings=findings)


def _doing(target: Target, stage: str) -> str:
    if stage == "import":
        return f"while importing {target.module}"
    return f"in case {stage!r}" if stage != "start" else "before the first case"


def _cause(status: int | None) -> str:
    if status is None:
        return "it closed its pipe"
    if status >= 0:
        return f"exit status {status}" if status < 0x80000000 else f"exit status {status:#x}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def _finding(code: str, target: Target, stage: str, message: str, output: str, help: str) -> Finding:
    path, line = _place(target, output)
    case = None if stage in ("import", "start") else stage
    return Finding(code, Verdict.ERROR, message, case=case, path=path, line=line, help=help)


def _place(target: Target, output: str) -> tuple[str, int]:
    """The user's innermost frame of the last faulthandler stack, else the target's line."""
    root = Path(target.root).resolve()
    _, found, stack = output.rpartition(_STACK)
    for file, line in _FRAME.findall(stack if found else ""):
        path = Path(file).resolve()
        if path.is_relative_to(root) and INSTALLED.isdisjoint(path.parts) and not path.is_relative_to(_PACKAGE):
            return path.relative_to(root).as_posix(), int(line)
    return target.path, target.line
