"""Time a command as a whole process, with the most memory that it and its children hold."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Cost:
    """Wall time in seconds; the largest sum of resident memory of the process and all its children, in bytes."""

    seconds: float
    memory: int


def run(
    command: Sequence[str], cwd: Path, *, codes: Sequence[int] = (0,), environ: Mapping[str, str] | None = None
) -> Cost:
    """Run a command to its end, silently.

    Raises:
        RuntimeError: it ended with another exit code than expected.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=dict(environ or os.environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    peak = [0]
    watcher = threading.Thread(target=_watch, args=(process, peak), daemon=True)
    watcher.start()
    output = process.communicate()[0]
    seconds = time.perf_counter() - started
    watcher.join()
    if process.returncode not in codes:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{output[-2000:]}")
    return Cost(seconds, peak[0])


def _watch(process: subprocess.Popen[str], peak: list[int]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], _tree_memory(process.pid))
        time.sleep(0.05)


def _tree_memory(root: int) -> int:
    """Resident bytes of a process and all below it, as /proc tells."""
    parents, sizes = {}, {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)], sizes[int(folder.name)] = int(fields[1]), int(fields[21]) * _PAGE
    return sum(size for pid, size in sizes.items() if _is_below(pid, root, parents))


def _is_below(pid: int, root: int, parents: Mapping[int, int]) -> bool:
    while pid and pid != root:
        pid = parents.get(pid, 0)
    return pid == root
